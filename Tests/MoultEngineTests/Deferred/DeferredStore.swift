import Foundation
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// A store of the first of some versions in a folder of its own, and what the sqlite3 shell says of it.
struct DeferredStore {
    let folder: ScratchFolder
    let path: String

    init(_ version: ModelVersion, rows: Int = 40, seed: UInt64 = 1, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Forum.sqlite"
        let maker = try StoreCreator(version, history: history)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
        try SampleData(seed: seed, count: rows, isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private init(copying path: String) throws {
        folder = try ScratchFolder()
        self.path = folder.path + "/Forum.sqlite"
        try FileManager.default.copyItem(atPath: path, toPath: self.path)
    }

    /// The store alone, without what lies beside it.
    func copy() throws -> DeferredStore { try DeferredStore(copying: path) }

    /// - Parameter normalises: as a migration must be that finishing is compared with.
    func prepared(
        _ versions: ModelVersions, to target: String? = nil, defers: Bool = true, normalises: Bool = true,
        comparesUnwritten: Bool = false
    ) throws -> PreparedMigration {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.comparesUnwritten = comparesUnwritten
        options.defersWork = defers
        options.choice = normalises ? .normalised : .cheapest
        return try PreparedMigration(path, versions: versions, to: target, options: options)
    }

    @discardableResult
    func migrate(
        _ versions: ModelVersions, to target: String? = nil, defers: Bool = true, normalises: Bool = true
    ) throws -> PreparedMigration {
        let prepared = try prepared(versions, to: target, defers: defers, normalises: normalises)
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
        return prepared
    }

    func tasks(_ versions: ModelVersions? = nil) throws -> [DeferredTask] {
        try Migrator().deferredTasks(of: path, versions: versions)
    }

    @discardableResult
    func finish(_ limit: CallLimit = .all, isFrugal: Bool = true) throws -> DeferredOutcome {
        try Migrator(options: MigrationOptions(isFrugal: isFrugal)).finishDeferred(path, limit)
    }

    func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    /// Every row and every text of the catalogue, whatever the order in which they lie in the file.
    func contents() throws -> [String] {
        #expect(try shell("PRAGMA integrity_check") == "ok\n")
        return try shell(".dump").split(separator: "\n").map(String.init).sorted()
    }

    /// The same but for the texts of the tables: every row by the names of its columns.
    func values() throws -> [String] {
        #expect(try shell("PRAGMA integrity_check") == "ok\n")
        let tables = try shell(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' ORDER BY 1")
        let rows = try tables.split(separator: "\n").flatMap { table -> [String] in
            let columns = try shell("SELECT name FROM pragma_table_info('\(table)') ORDER BY 1").split(separator: "\n")
            let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
            let rows = try shell("SELECT '\(table) \(columns.joined(separator: " "))', \(values) FROM \"\(table)\"")
            return rows.split(separator: "\n").map(String.init)
        }
        let objects = try shell("SELECT sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL")
        return (rows + objects.split(separator: "\n").map(String.init)).sorted()
    }

    var isPending: Bool {
        get throws {
            try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection).metadata.hasDeferredWork }
        }
    }
}
