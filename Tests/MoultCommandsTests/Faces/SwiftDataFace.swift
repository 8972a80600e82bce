import MoultData

/// An app with two versions of SwiftData models; in a file of its own, because the names of the faces collide.
enum SwiftDataFace {
    enum First: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Crate.self] }

        @Model final class Crate {
            var name: String
            var price: Decimal?
            init(name: String, price: Decimal?) { (self.name, self.price) = (name, price) }
        }
    }

    enum Second: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Crate.self] }

        @Model final class Crate {
            var name: String
            var price: Decimal?
            var weight: Int = 7
            init(name: String) { self.name = name }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
    }

    /// Makes a store of the first version with three crates.
    static func make(_ path: String) throws {
        let context = ModelContext(try container(First.self, nil, path))
        for number in 1...3 {
            context.insert(First.Crate(name: "crate \(number)", price: number == 2 ? nil : Decimal(number)))
        }
        try context.save()
    }

    /// Makes an empty store of the second version, whose model the other faces take.
    static func makeNewer(_ path: String) throws { try ModelContext(container(Second.self, nil, path)).save() }

    /// Opens a store with the second version and the plan; the weights of the crates.
    static func open(_ path: String) throws -> [Int] {
        let context = ModelContext(try container(Second.self, Plan.self, path))
        return try context.fetch(FetchDescriptor<Second.Crate>()).map(\.weight)
    }

    private static func container(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, _ path: String
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan,
            configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
    }
}
