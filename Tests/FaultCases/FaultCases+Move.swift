import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import MoultTesting
import TestSupport

/// A store that is moved: its own file on one volume, a compared copy to another.
extension FaultCases {
    private static func new(_ store: String) -> String { Path.join(Path.folder(of: store), "there/new.sqlite") }
    private static func old(_ store: String) -> String {
        Path.join(Path.folder(of: Path.folder(of: store)), "store.sqlite")
    }

    /// The files next to the store, besides a file of external data and a backup.
    package enum Moved: String, CaseIterable, Sendable {
        case plain = ""
        case log = ", rows in the WAL"
        case journal = ", a hot journal"
        case history = ", a history"

        var version: String { self == .history ? "V2" : "V1" }
    }

    private static func make(_ kind: Moved, at store: String) throws {
        try FlightVersions.makeStore(at: store, count: 6, external: 1)
        if kind == .history {
            // A run, with the backup of another version.
            try migrate(store, FlightVersions.make(), to: "V2", POSIXSystem())
        }
        _ = try Migrator().backUp(store, version: kind.version)
        guard kind == .log || kind == .journal else { return }
        let last = try SQLiteProcess(store)
        _ = try last.run(
            kind == .log
                ? "PRAGMA wal_autocheckpoint = 0; UPDATE ZAIRCRAFT SET ZNAME = 'in the log' WHERE Z_PK % 2 = 0"
                : """
                PRAGMA journal_mode = DELETE;
                CREATE TABLE more AS SELECT value, hex(zeroblob(900)) AS text FROM generate_series(1, 40);
                PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE more SET text = replace(text, '0', '1')
                """)
        last.kill()
        if kind == .log { try POSIXSystem().remove(store + "-shm") }
    }

    /// The rows with the bytes of the external data, at the one place or the other.
    private static func contents(_ old: String, _ new: String) throws -> [String] {
        try FlightVersions.witness(FileManager.default.fileExists(atPath: old) ? old : new)
    }

    private static func move(_ kind: Moved, _ old: String, to new: String, _ system: any System) throws {
        _ = try Migrator(options: .sequential, system: system).move(old, to: new, version: { kind.version })
    }

    /// Returns the fault of the backup at the old place, from which a rollback undoes a move that has ended; nil if
    /// there is none.
    private static func complaint(_ old: String, _ new: String) throws -> String? {
        let (files, migrator) = (FileManager.default, Migrator())
        guard files.fileExists(atPath: new), try !migrator.isUnfinished(old) else { return nil }
        let backups = try migrator.backups(of: old)
        guard let backup = try backups.list().last(where: { $0.reason == "move" }) else {
            return "the old place has no backup"
        }
        try backups.verify(backup)
        return backup.externalFiles == 1 ? nil : "the backup at the old place has no external data"
    }

    /// At every moment the sqlite3 shell reads the whole store at exactly one of the two paths.
    static func moved(_ kind: Moved) -> FaultCase {
        var trial = FaultCase("moved" + kind.rawValue) { store in
            try POSIXSystem().makeFolder(Path.folder(of: new(store)))
            try make(kind, at: store)
        } run: { store, system in
            try move(kind, store, to: new(store), system)
        }
        trial.recover = { store, system in try Migrator(system: system).recoverIfNeeded(store) }
        trial.contents = { try contents($0, new($0)) }
        trial.witness = { store in
            let (here, there) = (try ShellWitness.look(store), try ShellWitness.look(new(store)))
            if there == "nothing" { return here }
            return here == "nothing" ? "\(there) at the new path" : "two stores: \(here), \(there)"
        }
        trial.outside = { store, _, _ in try complaint(store, new(store)) }
        return trial
    }

    /// Between two volumes the old store stays until the new one has its path. They are the same then, and the next run
    /// at the new path removes the old one.
    static func movedToOtherVolume(_ kind: Moved) -> FaultCase {
        var trial = FaultCase("moved to another volume" + kind.rawValue, storeName: "there/new.sqlite") { store in
            try POSIXSystem().makeFolder(Path.folder(of: store))
            try make(kind, at: old(store))
        } run: { store, system in
            try move(kind, old(store), to: store, TwoVolumes(system, at: Path.folder(of: store)))
        }
        trial.recover = { store, system in try Migrator(system: system).recoverIfNeeded(store) }
        trial.contents = { try contents(old($0), $0) }
        trial.opened = { old($0) }
        trial.witness = { store in
            let (there, here) = (try ShellWitness.look(store), try ShellWitness.look(old(store)))
            if there == "nothing" { return "\(here) at the old path" }
            return here == "nothing" || here == there ? there : "two stores: \(here), \(there)"
        }
        trial.outside = { store, _, _ in try complaint(old(store), store) }
        return trial
    }
}
