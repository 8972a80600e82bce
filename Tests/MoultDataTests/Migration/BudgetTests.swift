import MoultData
import MoultModel
import TestSupport
import Testing

/// An app that migrates its store call by call before it makes its container.
@Suite struct BudgetTests {  // tier: long
    @Test func `a store is migrated before the container is made, within a budget`() throws {
        let store = try VersionedStore()
        try store.open(CrateV1.self) { context in
            for number in 1...30 { context.insert(CrateV1.Crate(name: "crate \(number)")) }
        }
        // So many that no call with the shortest budget does all.
        let count = 150_000
        _ = try store.sql(
            """
            INSERT INTO ZCRATE (Z_PK, Z_ENT, Z_OPT, ZNAME)
                SELECT value, (SELECT Z_ENT FROM ZCRATE LIMIT 1), 1, 'crate ' || value FROM generate_series(31, \(count));
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Crate'
            """)
        let added = "SELECT count(*) FROM pragma_table_info('ZCRATE') WHERE name = 'ZWEIGHT'"
        let schema = Schema(versionedSchema: CrateV2.self)
        func call(_ budget: TimeInterval) throws -> BudgetedMigration {
            try ModelContainer.migrate(
                for: schema, migrationPlan: CratePlan.self, configurations: ModelConfiguration(url: store.url),
                budget: budget)
        }
        #expect(throws: SwiftDataError.self) { try call(0) }
        #expect(try store.sql(added) == "0\n")
        let paused = try budgetedCalls { seconds in
            do {
                guard case .unfinished(_, nil) = try call(seconds) else { return true }
            } catch is SwiftDataError {
                return nil
            }
            // The store is the old one until the last call.
            #expect(try store.sql(added) == "0\n")
            return false
        }
        #expect(paused > 0)
        #expect(try store.sql("SELECT count(*), min(ZWEIGHT), max(ZWEIGHT) FROM ZCRATE") == "\(count)|7|7\n")
        #expect(try call(10) == .finished)
        let crates = try store.open(CrateV2.self, CratePlan.self) { context in
            try context.fetchCount(FetchDescriptor<CrateV2.Crate>())
        }
        #expect(crates == count)
    }
}

private enum CrateV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Crate.self] }

    @Model final class Crate {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum CrateV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Crate.self] }

    @Model final class Crate {
        var name: String
        var weight: Int = 7
        init(name: String) { self.name = name }
    }
}

private enum CratePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [CrateV1.self, CrateV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: CrateV1.self, toVersion: CrateV2.self)] }
}
