import MoultData
import MoultModel
import TestSupport
import Testing

/// An app that migrates its store call by call before it makes its container.
@Suite struct BudgetTests {
    @Test func `a store is migrated before the container is made, within a budget`() throws {
        let store = try VersionedStore()
        try store.open(CrateV1.self) { context in
            for number in 0..<30 { context.insert(CrateV1.Crate(name: "crate \(number)")) }
        }
        let schema = Schema(versionedSchema: CrateV2.self)
        func call(_ budget: TimeInterval) throws -> BudgetedMigration {
            try ModelContainer.migrate(
                for: schema, migrationPlan: CratePlan.self, configurations: ModelConfiguration(url: store.url),
                budget: budget)
        }
        #expect(throws: SwiftDataError.self) { try call(0) }
        #expect(try store.sql("SELECT count(*) FROM pragma_table_info('ZCRATE') WHERE name = 'ZWEIGHT'") == "0\n")
        var calls = 0
        while try call(10) != .finished, calls < 20 { calls += 1 }
        #expect(try store.sql("SELECT count(*), min(ZWEIGHT) FROM ZCRATE") == "30|7\n")
        #expect(try call(10) == .finished)
        let crates = try store.open(CrateV2.self, CratePlan.self) { context in
            try context.fetch(FetchDescriptor<CrateV2.Crate>()).count
        }
        #expect(crates == 30)
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
