import Moult
import MoultEngine
import MoultModel
import MoultStore
import MoultTesting
import TestSupport

/// A store that calls itself current and lacks a table, a column and an index.
extension FaultCases {
    private static func makeIncomplete(at store: String) throws {
        try StoreCreator(try BrokenForum.versions().versions[1]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            PRAGMA journal_mode = DELETE;
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT value, 4, 1, 't' || value FROM generate_series(1, 6);
            INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZBODY, ZTOPIC, Z_FOK_TOPIC)
                SELECT value, 3, 1, 'b', value, 2048 FROM generate_series(1, 6);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_ENT IN (3, 4);
            DROP TABLE ZFORUM; DROP INDEX ZPOST_ZTOPIC_INDEX; ALTER TABLE ZPOST DROP COLUMN ZLIKES
            """)
    }

    static var completed: FaultCase {
        get throws {
            let version = try BrokenForum.versions().versions[1]
            var trial = FaultCase("missing tables, columns and indexes made", prepare: makeIncomplete) {
                store, system in
                try Migrator(system: system).recoverIfNeeded(store)
                guard let migration = try StoreRepair(store, at: version, system: system).migration else { return }
                _ = try Migrator(options: .sequential, system: system).run(migration, on: store)
            }
            trial.contents = { store in
                try lines(
                    store,
                    """
                    SELECT Z_PK, Z_OPT, ZTITLE FROM ZTOPIC ORDER BY 1;
                    SELECT Z_PK, Z_OPT, ZBODY, ZTOPIC, Z_FOK_TOPIC FROM ZPOST ORDER BY 1
                    """)
            }
            return trial
        }
    }
}
