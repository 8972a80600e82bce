import MoultData
import TestSupport
import Testing

/// Changes for which the models alone do not say what becomes of the values, and no plan does.
@Suite struct UnplannedChangeTests {
    enum Numbers: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
            var count: Int
            var price: Decimal
            init(count: Int, price: Decimal = 1) { (self.count, self.price) = (count, price) }
        }
    }

    enum Texts: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self] }
        @Model final class Item {
            var count: String
            var price: Decimal = Decimal(1)
            init(count: String) { self.count = count }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Numbers.self, Texts.self] }
        static var stages: [MigrationStage] {
            [.transform(from: Numbers.Item.self, to: Texts.Item.self) { old, new in new.count = "\(old.count)" }]
        }
    }

    enum Strangers: VersionedSchema {
        static let versionIdentifier = Schema.Version(3, 0, 0)
        static var models: [any PersistentModel.Type] { [Stranger.self] }
        @Model final class Stranger {
            var name = ""
            init() {}
        }
    }

    enum StrangePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Strangers.self] }
        static var stages: [MigrationStage] { [] }
    }

    private func store() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(Numbers.self) { for count in [7, -1] { $0.insert(Numbers.Item(count: count)) } }
        return store
    }

    @Test func `a type that changes without a plan is refused, and the plan that the error advises keeps the values`()
        throws
    {
        let store = try store()
        let error = try #require(throws: SwiftDataError.self) { try store.open(Texts.self) { _ in } }
        #expect("\(error)".contains("SchemaMigrationPlan"), "\(error)")
        #expect(!"\(error)".contains("moult answer"), "an app has no command line: \(error)")
        #expect(!error.message.contains("{"), "a container reads no answers as JSON: \(error)")
        #expect(try store.sql("SELECT ZCOUNT FROM ZITEM ORDER BY Z_PK") == "7\n-1\n")
        let found = try store.open(Texts.self, Plan.self) { try $0.fetch(FetchDescriptor<Texts.Item>()).map(\.count) }
        #expect(Set(found) == ["7", "-1"])
    }

    @Test func `with a plan, the store of another app is named as what it may be`() throws {
        let store = try store()
        let error = try #require(throws: SwiftDataError.self) {
            try store.open(Strangers.self, StrangePlan.self) { _ in }
        }
        #expect(error == .unknownSchema && "\(error)".contains("If the store is another app's"), "\(error)")
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == "2\n")
    }

    @Test func `a Decimal that is no number is refused where it is saved, and what is corrected is saved`() throws {
        let store = try store()
        try store.open(Numbers.self) { context in
            let item = Numbers.Item(count: 3, price: .nan)
            context.insert(item)
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect("\(error.map { "\($0)" } ?? "")".contains("not a number"), "\(String(describing: error))")
            item.price = Decimal(100) / 3
            try context.save()
        }
        #expect(try store.sql("SELECT count(*), count(DISTINCT typeof(ZPRICE)) FROM ZITEM WHERE ZPRICE > 0") == "3|2\n")
    }
}

/// Models with structs in arrays.
@Suite struct StructuredPlanTests {
    struct Step: Codable, Equatable { var title = "", counts: [String: Int] = [:] }

    enum Recipes: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Recipe.self] }
        @Model final class Recipe {
            var steps: [Step] = []
            var first: Step?
            var named: [String: Step] = [:]
            init(steps: [Step]) { self.steps = steps }
        }
    }

    enum Rated: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Recipe.self] }
        @Model final class Recipe {
            var steps: [Step] = []
            var first: Step?
            var named: [String: Step] = [:]
            var rating = 3
            init() {}
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Recipes.self, Rated.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Recipes.self, toVersion: Rated.self)] }
    }

    @Test func `a plan is validated against a store with structs in arrays, before and after`() throws {
        let store = try VersionedStore()
        let steps = [Step(title: "cook", counts: ["eggs": 2])]
        try store.open(Recipes.self) { $0.insert(Recipes.Recipe(steps: steps)) }
        try Plan.validate(storeAt: store.url)
        let found = try store.open(Rated.self, Plan.self) { try $0.fetch(FetchDescriptor<Rated.Recipe>()).map(\.steps) }
        #expect(found == [steps])
        try Plan.validate(storeAt: store.url)
    }
}
