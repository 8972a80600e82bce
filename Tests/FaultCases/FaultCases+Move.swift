import Foundation
import MoultBasics
import MoultEngine
import MoultStore
import MoultTesting
import TestSupport

/// A store that is moved: its own file on one volume, a compared copy to another.
extension FaultCases {
    private static func new(_ store: String) -> String { Path.join(Path.folder(of: store), "there/new.sqlite") }
    private static func old(_ store: String) -> String {
        Path.join(Path.folder(of: Path.folder(of: store)), "store.sqlite")
    }

    private static func make(at store: String) throws {
        try FlightVersions.makeStore(at: store, count: 6, external: 1)
        _ = try Migrator().backUp(store, version: "V1")
    }

    /// The rows with the bytes of the external data, at the one place or the other.
    private static func contents(_ old: String, _ new: String) throws -> [String] {
        try FlightVersions.witness(FileManager.default.fileExists(atPath: old) ? old : new)
    }

    private static func move(_ old: String, to new: String, _ system: any System) throws {
        _ = try Migrator(options: .sequential, system: system).move(old, to: new, version: { "V1" })
    }

    /// At every moment the sqlite3 shell reads the whole store at exactly one of the two paths.
    static var moved: FaultCase {
        var trial = FaultCase("moved") { store in
            try POSIXSystem().makeFolder(Path.folder(of: new(store)))
            try make(at: store)
        } run: { store, system in
            try move(store, to: new(store), system)
        }
        trial.recover = { store, system in try Migrator(system: system).recoverIfNeeded(store) }
        trial.contents = { try contents($0, new($0)) }
        trial.witness = { store in
            let (here, there) = (try ShellWitness.look(store), try ShellWitness.look(new(store)))
            if there == "nothing" { return here }
            return here == "nothing" ? "\(there) at the new path" : "two stores: \(here), \(there)"
        }
        return trial
    }

    /// Between two volumes the old store stays until the new one has its path. They are the same then, and the next run
    /// at the new path removes the old one.
    static var movedToOtherVolume: FaultCase {
        var trial = FaultCase("moved to another volume", storeName: "there/new.sqlite") { store in
            try POSIXSystem().makeFolder(Path.folder(of: store))
            try make(at: old(store))
        } run: { store, system in
            try move(old(store), to: store, TwoVolumes(system, at: Path.folder(of: store)))
        }
        trial.recover = { store, system in try Migrator(system: system).recoverIfNeeded(store) }
        trial.contents = { try contents(old($0), $0) }
        trial.opened = { old($0) }
        trial.witness = { store in
            let (there, here) = (try ShellWitness.look(store), try ShellWitness.look(old(store)))
            if there == "nothing" { return "\(here) at the old path" }
            return here == "nothing" || here == there ? there : "two stores: \(here), \(there)"
        }
        return trial
    }
}
