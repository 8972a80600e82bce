import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import MoultTesting
import TestSupport

/// The ways back: rollback, the quarantine in both directions.
extension FaultCases {
    static func backup(of store: String, version: String, _ migrator: Migrator) throws -> StoreBackup {
        try migrator.backups(of: store).newest(ofVersion: version)
    }

    static var rolledBack: FaultCase {
        get throws {
            let versions = try FlightVersions.make()
            let options = PreparedMigration.Options(registry: FlightVersions.registry())
            var trial = FaultCase("rolled back") { store in
                try FlightVersions.makeStore(at: store, count: 6, external: 1)
                try migrate(store, versions, POSIXSystem(), options)
            } run: { store, system in
                let migrator = Migrator(options: .sequential, system: system)
                let backup = try backup(of: store, version: "V1", migrator)
                _ = try migrator.rollback(store, to: backup, currentVersion: "V3")
            }
            trial.contents = FlightVersions.witness
            return trial
        }
    }

    // MARK: - The quarantine

    private static let homeless = ValidationRule(
        "homeless", of: "Topic", .orphan(relationship: "forum"), fix: .quarantine)

    private static func makeForum(at store: String) throws {
        let forum = try BrokenForum(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'one');
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
                SELECT value, 4, 1, 't' || value, iif(value % 4 = 0, NULL, 1) FROM generate_series(1, 12)
            """)
        forum.store.close()
        _ = try SQLiteShell.run(forum.path, "PRAGMA journal_mode = DELETE")
        let system = POSIXSystem()
        try system.write(try system.read(forum.path), to: store)
    }

    private static func mend(_ store: String, _ system: any System) throws {
        try Migrator(system: system).recoverIfNeeded(store)
        let version = try BrokenForum.versions().versions[0]
        let audit = try RuleAudit(store, [homeless], version: version, system: system)
        guard let migration = try audit.mending() else { return }
        _ = try Migrator(options: .sequential, system: system).run(migration, on: store)
    }

    static var mended: FaultCase {
        get throws { FaultCase("objects sent to the quarantine", prepare: makeForum, run: mend) }
    }

    static var putBack: FaultCase {
        get throws {
            FaultCase("quarantine restored") { store in
                try makeForum(at: store)
                try mend(store, POSIXSystem())
            } run: { store, system in
                try Migrator(system: system).recoverIfNeeded(store)
                let version = try BrokenForum.versions().versions[0]
                var isEmpty = true
                try Quarantine(StoreRecords(store: store), system).forEachEntry { _ in isEmpty = false }
                if isEmpty { return }
                let restoration = try Restoration(into: store, at: version, system: system)
                _ = try Migrator(options: .sequential, system: system).run(restoration.migration, on: store)
            }
        }
    }

    /// What had been put back into the store is in the quarantine alone again.
    static var takenOutAgain: FaultCase {
        get throws {
            FaultCase("rolled back to before the quarantine was restored") { store in
                try makeForum(at: store)
                try mend(store, POSIXSystem())
                try putBack.run(store, POSIXSystem())
            } run: { store, system in
                let migrator = Migrator(options: .sequential, system: system)
                let backup = try backup(of: store, version: "1", migrator)
                _ = try migrator.rollback(store, to: backup, currentVersion: "later")
            }
        }
    }
}
