import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import MoultTesting
import TestSupport

/// What makes new files and leaves the store as it is: backups made, carried out and taken in, a salvage, the start of a
/// mirror; and a repair of rows.
extension FaultCases {
    private static func exportPath(_ store: String, _ name: String) -> String {
        Path.join(Path.folder(of: store), name)
    }

    private static func only(_ store: String, _ migrator: Migrator) throws -> StoreBackup? {
        try migrator.backups(of: store).list().first
    }

    static var backedUp: FaultCase {
        FaultCase("backup made") { store in
            try makeItems(at: store, isWAL: false)
            // The log is only ever added to, where that succeeds.
            let sidecar = StoreRecords(store: try POSIXSystem().resolve(store))
            try sidecar.make(POSIXSystem())
            MigrationLog(sidecar).append("A store.")
        } run: { store, system in
            let migrator = Migrator(options: .sequential, system: system)
            guard try only(store, migrator) == nil else {
                // The same verb again, where there is nothing to do.
                try migrator.recoverIfNeeded(store)
                return
            }
            _ = try migrator.backUp(store, version: "1")
        }
    }

    private static func exported(_ name: String, _ target: String) -> FaultCase {
        var trial = FaultCase(name) { store in
            try FlightVersions.makeStore(at: store, count: 6, external: 1)
            _ = try Migrator().backUp(store, version: "V1")
        } run: { store, system in
            let migrator = Migrator(options: .sequential, system: system)
            let path = exportPath(store, target)
            guard let backup = try only(store, migrator) else { return }
            do {
                try migrator.backups(of: store).export(backup, to: path)
            } catch let error as MigrationError where error.code == .usage {
                // It is made already.
                guard try system.exists(path) else { throw error }
            }
        }
        // What has its name is whole: tar and the shell say so.
        trial.outside = { store, _, _ in
            let path = exportPath(store, target)
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            let folder = try ScratchFolder()
            if target.hasSuffix(".tar") {
                let said = try ChildProcess.run("tar", ["-xf", path, "-C", folder.path])
                guard said.exit == 0 else { return "tar does not read the archive: \(said.output)" }
            }
            let copy = target.hasSuffix(".tar") ? folder.path : path
            guard FileManager.default.fileExists(atPath: copy + "/manifest.json") else { return "no manifest" }
            let name = Path.name(of: store)
            let sound = try SQLiteShell.run(copy + "/" + name, "PRAGMA integrity_check", immutable: true)
            return sound == "ok\n" ? nil : "what was exported is not sound: \(sound)"
        }
        return trial
    }

    static var exported: FaultCase { exported("backup exported into an archive", "carried.tar") }
    static var exportedFolder: FaultCase { exported("backup exported into a folder", "carried") }

    static var imported: FaultCase {
        FaultCase("backup imported") { store in
            try FlightVersions.makeStore(at: store, count: 6, external: 1)
            let folder = try Migrator().backups(of: store)
            let backup = try Migrator().backUp(store, version: "V1")
            try folder.export(backup, to: exportPath(store, "carried.tar"))
            try POSIXSystem().removeTree(backup.folder)
        } run: { store, system in
            let migrator = Migrator(options: .sequential, system: system)
            guard try only(store, migrator) == nil else {
                try migrator.recoverIfNeeded(store)
                return
            }
            _ = try migrator.importBackup(exportPath(store, "carried.tar"), for: store)
        }
    }

    static var salvaged: FaultCase {
        get throws {
            let version = try FlightVersions.make().versions[0]
            var trial = FaultCase("salvaged", storeName: "saved.sqlite") { store in
                let damaged = exportPath(store, "damaged.sqlite")
                try FlightVersions.makeStore(at: damaged, count: 6, external: 1)
                let system = POSIXSystem()
                // Of an index: no row is lost.
                var bytes = try system.read(damaged)
                for place in (bytes.count - 100)..<bytes.count { bytes[place] = 0xEE }
                try system.write(bytes, to: damaged)
            } run: { store, system in
                do {
                    let damaged = exportPath(store, "damaged.sqlite")
                    let report = try StoreSalvage(version, system: system).run(damaged, into: store)
                    guard !report.isWhole else { return }
                    // What could not be read was the disk's fault: it is done again.
                    let name = StoreRecords.supportName(ofStore: Path.name(of: store))
                    do {
                        for made in [store, exportPath(store, name), StoreRecords.aside(of: store)] {
                            try system.removeTree(made)
                        }
                    } catch {
                        throw MigrationError(
                            .inputOutput, "Not whole, and could not be removed: \(error)", place: store,
                            remedy: "Remove it, and salvage again.")
                    }
                    throw MigrationError(.inputOutput, "Not whole.", place: store, remedy: "Salvage it again.")
                } catch let error as MigrationError where error.code == .usage {
                    // It is made already.
                    guard try system.exists(store) else { throw error }
                }
            }
            // Where the damaged store's own UUID cannot be read it gets another one, and says so.
            trial.ignoredTable = "Z_METADATA"
            trial.namesWhatIsLeft = true
            trial.recover = { _, _ in }
            trial.opened = { exportPath($0, "damaged.sqlite") }
            return trial
        }
    }

    /// The old store, next to the new one, is the same byte for byte at every moment.
    static var migratedInto: FaultCase {
        get throws {
            let versions = try FlightVersions.make()
            var trial = FaultCase("migrated into another file", storeName: "new.sqlite") { store in
                let old = exportPath(store, "old.sqlite")
                try FlightVersions.makeStore(at: old, count: 6, external: 1)
                try FileManager.default.copyItem(atPath: old, toPath: exportPath(store, "kept"))
            } run: { store, system in
                let old = exportPath(store, "old.sqlite")
                let prepared = try PreparedMigration(old, versions: versions, to: "V2", system: system)
                do {
                    _ = try Migrator(options: .sequential, system: system).run(prepared, into: store)
                } catch let error as MigrationError where error.code == .usage {
                    // It is made already.
                    guard try system.exists(store) else { throw error }
                }
            }
            trial.recover = { _, _ in }
            trial.opened = { exportPath($0, "old.sqlite") }
            trial.outside = { store, _, _ in
                let names = ["old.sqlite", "kept"].map { exportPath(store, $0) }
                let isSame = FileManager.default.contentsEqual(atPath: names[0], andPath: names[1])
                return isSame ? nil : "the old store has changed"
            }
            return trial
        }
    }

    /// The identifier of a mirror, which the second store carries, is another one each time.
    static var mirrorBegun: FaultCase {
        get throws {
            let versions = try MirroredVersions.make(to: "back")
            var trial = FaultCase("mirror begun", storeName: "second.sqlite") { second in
                let store = exportPath(second, "first.sqlite")
                try StoreCreator(versions.versions[0], framework: 419, history: false).make(at: store)
                let writer = try RandomWriter(store, model: versions.versions[0].model, seed: 1)
                defer { writer.close() }
                for _ in 0..<3 { try writer.save(writes: 8) }
            } run: { second, system in
                let first = exportPath(second, "first.sqlite")
                let known = try MirrorRecord.read(StoreRecords(store: system.resolve(first)), system)
                guard known?.state != .mirroring else {
                    var mirror = try MirroredStore(of: first, .init(versions), on: system)
                    _ = try mirror.synchronise()
                    return
                }
                _ = try MirroredStore.start(
                    .init(first, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()), on: system)
            }
            trial.recover = { _, _ in }
            trial.opened = { exportPath($0, "first.sqlite") }
            trial.ignoredTable = "Z_METADATA"
            trial.namesWhatIsLeft = true
            return trial
        }
    }

    /// Topics without a forum, of which the model says that each has one.
    static var repaired: FaultCase {
        get throws {
            let version = try BrokenForum.versions().versions[0]
            return FaultCase("rows repaired") { store in
                let forum = try BrokenForum(
                    """
                    INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'one');
                    INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
                        SELECT value, 4, 1, 't' || value, iif(value % 4 = 0, 99, 1) FROM generate_series(1, 12)
                    """)
                forum.store.close()
                _ = try SQLiteShell.run(forum.path, "PRAGMA journal_mode = DELETE")
                let system = POSIXSystem()
                try system.write(try system.read(forum.path), to: store)
            } run: { store, system in
                let migrator = Migrator(options: .sequential, system: system)
                try migrator.recoverIfNeeded(store)
                guard let migration = try StoreRepair(store, at: version, system: system).migration else { return }
                _ = try migrator.run(migration, on: store)
            }
        }
    }
}
