import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import MoultTesting
import TestSupport

/// A backup where no sound store is.
extension FaultCases {
    private static func restored(
        _ name: String, damage: @escaping @Sendable (_ store: String, POSIXSystem) throws -> Void
    ) -> FaultCase {
        var trial = FaultCase(name) { store in
            try makeItems(at: store, isWAL: false)
            _ = try Migrator().backUp(store, version: "1")
            try damage(store, POSIXSystem())
        } run: { store, system in
            let migrator = Migrator(options: .sequential, system: system)
            _ = try migrator.rollback(store, to: try backup(of: store, version: "1", migrator))
        }
        trial.recover = recoverDamaged
        return trial
    }

    /// There may be no run to recover from, and no store that could be opened; but a run that is known must be healed.
    @Sendable static func recoverDamaged(_ store: String, _ system: any System) throws {
        let migrator = Migrator(system: system)
        do {
            _ = try migrator.recover(store)
        } catch let error as MigrationError where [.notAStore, .storeCorrupted, .fileNotFound].contains(error.code) {
            if try migrator.isUnfinished(store) { throw error }
        }
    }

    /// The store cannot be read any more: its first page is gone.
    static var restored: FaultCase {
        var trial = restored("backup restored over a damaged store") { store, system in
            let bytes = try system.read(store)
            try system.write([UInt8](repeating: 0xEE, count: 4_096) + bytes.dropFirst(4_096), to: store)
        }
        trial.prepare = { store in
            try FlightVersions.makeStore(at: store, count: 6, external: 1)
            _ = try Migrator().backUp(store, version: "1")
            let system = POSIXSystem()
            let bytes = try system.read(store)
            try system.write([UInt8](repeating: 0xEE, count: 4_096) + bytes.dropFirst(4_096), to: store)
        }
        return trial
    }

    /// The last rows of the damaged store are in its log, which is not the restored store's.
    static var restoredOverPage: FaultCase {
        restored("backup restored over damaged pages and a log") { store, system in
            let last = try SQLiteProcess(store)
            _ = try last.run(
                """
                PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                UPDATE ZITEM SET ZNAME = 'of the damaged store' WHERE Z_PK % 3 = 0
                """)
            last.kill()
            var bytes = try system.read(store)
            for place in 4_096 * 3..<4_096 * 5 { bytes[place] = 0xEE }
            try system.write(bytes, to: store)
        }
    }

    /// The file was cut off in the middle of a page, and beside it is a journal that SQLite plays back.
    static var restoredOverCut: FaultCase {
        restored("backup restored over a cut-off store and a hot journal") { store, system in
            let other = store + ".other"
            try system.copy(store, to: other)
            let writer = try SQLiteProcess(other)
            _ = try writer.run(
                """
                PRAGMA journal_mode = DELETE; CREATE TABLE more AS SELECT value, hex(randomblob(900)) AS text
                    FROM generate_series(1, 200);
                PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE more SET text = replace(text, 'A', 'B')
                """)
            writer.kill()
            try system.rename(other + "-journal", to: store + "-journal")
            try system.remove(other)
            try system.write(
                [UInt8](repeating: 0xEE, count: 4_096) + system.read(store).dropFirst(4_096).dropLast(1_000), to: store)
        }
    }

    /// The store is gone, and its log is still there.
    static var restoredWhereGone: FaultCase {
        var trial = restored("backup restored where only a log is left") { store, system in
            let last = try SQLiteProcess(store)
            _ = try last.run(
                """
                PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                UPDATE ZITEM SET ZNAME = 'of the lost store' WHERE Z_PK % 3 = 0
                """)
            last.kill()
            try system.remove(store + "-shm")
            try system.remove(store)
        }
        trial.opened = { _ in nil }
        return trial
    }
}
