import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// How often a store's own account of itself is read: a few times, however many entities it has. Otherwise the time
/// would grow with their square.
@Suite("A catalogue is not read anew for each entity")
struct CatalogueReadTests {  // tier: long
    private let small = 5
    private let large = 20

    /// The steps of SQLite's virtual machine in which `sqlite_master` is read as a whole.
    private func steps(
        _ entities: Int, of beginning: String = "SELECT type, name, tbl_name, sql",
        _ work: (String, ModelVersions) throws -> Void
    ) throws -> Int {
        let folder = try ScratchFolder()
        let path = folder.path + "/Things.sqlite"
        let versions = try Self.versions(entities)
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: path)
        let rows = maker.layout.tables.map { table in
            let number = maker.layout.entityNumbers[table.rootEntityName] ?? 0
            return "INSERT INTO \(table.name) (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(number), 1);"
        }
        _ = try SQLiteShell.run(path, rows.joined() + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
        return try StatementSteps.counting(below: folder.path) { try work(path, versions) }
            .filter { $0.key.hasPrefix(beginning) }.values.reduce(0, +)
    }

    private func compare(_ work: (String, ModelVersions) throws -> Void) throws {
        let (few, many) = (try steps(small, work), try steps(large, work))
        #expect(few > 0)
        #expect(many <= 4 * few, "\(few) steps become \(many)")
    }

    /// The second version has a number more, which every object gets.
    private static func versions(_ count: Int) throws -> ModelVersions {
        let added = AttributeDescription(
            name: "added", type: .integer32, isOptional: false, defaultValue: .integer(7))
        func model(_ more: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: (0..<count).map {
                    EntityDescription(name: "E\($0)", attributes: [.init(name: "title", type: .string)] + more)
                })
        }
        return ModelVersions(versions: [
            ModelVersion(names: ["first"], model: try model([])),
            ModelVersion(names: ["second"], model: try model([added])),
        ])
    }

    private func finish(_ path: String, _ versions: ModelVersions) throws {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let prepared = try PreparedMigration(path, versions: versions, options: options)
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
        let outcome = try Migrator().finishDeferred(path, versions: versions)
        #expect(outcome.isFinished && outcome.done.count == versions.versions[0].model.entities.count)
    }

    @Test func `what a deferred migration has left to do`() throws { try compare(finish) }

    @Test func `what the tables hold is asked once, and small ones are not renamed`() throws {
        let counts = try [small, large].map { try steps($0, of: "SELECT max(rowid)", finish) }
        #expect(counts[0] > 0 && counts[1] <= 4 * counts[0], "\(counts)")
        #expect(try steps(large, of: "CREATE TABLE main.\"Z_DEFERRED_", finish) > 0)
        #expect(try steps(large, of: "ALTER TABLE main.\"ZE1\" RENAME TO", finish) == 0)
    }

    @Test func `changes that SQLite needs more time for than the whole migration takes do not wait`() throws {
        let folder = try ScratchFolder()
        func deferral(_ entities: Int) throws -> Deferral? {
            let path = "\(folder.path)/\(entities).sqlite"
            let versions = try Self.versions(entities)
            let maker = try StoreCreator(versions.versions[0])
            try maker.make(at: path)
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.defersWork = true
            return try PreparedMigration(path, versions: versions, options: options).deferral
        }
        #expect(try deferral(20)?.reasons == [])
        let reasons = try deferral(320)?.reasons ?? []
        #expect(reasons.count == 1 && reasons[0].contains("for each of 320 changes"), "\(reasons)")
    }

    @Test func `the way back, on which the values that were filled in go`() throws {
        try compare { path, versions in
            let prepared = try PreparedMigration(path, versions: versions)
            _ = try Migrator().run(#require(try prepared.migration()), on: path)
            let downgrade = try StoreDowngrade(path, versions: versions, to: "first")
            guard case .mapping = downgrade.way else {
                Issue.record("\(downgrade.way)")
                return
            }
        }
    }
}
