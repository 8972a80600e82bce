import MoultData
import Testing

/// Versions that differ by what can be inferred.
@Suite struct LightweightMigrationsTests {
    enum HabitsV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self, Log.self] }

        @Model final class Habit {
            var name: String
            var goal: Int
            @Relationship(deleteRule: .cascade, inverse: \Log.habit) var logs: [Log] = []
            init(name: String, goal: Int) {
                self.name = name
                self.goal = goal
            }
        }

        @Model final class Log {
            var date: Date
            var habit: Habit?
            init(date: Date) { self.date = date }
        }
    }

    /// Adds an optional property and one with a default, renames one, removes one, adds a model.
    enum HabitsV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self, Log.self, Category.self] }

        @Model final class Habit {
            @Attribute(originalName: "name") var title: String
            var isPinned: Bool = false
            var comment: String?
            var category: Category?
            @Relationship(deleteRule: .cascade, inverse: \Log.habit) var logs: [Log] = []
            init(title: String) { self.title = title }
        }

        @Model final class Log {
            var date: Date
            var habit: Habit?
            init(date: Date) { self.date = date }
        }

        @Model final class Category {
            var name: String
            @Relationship(inverse: \Habit.category) var habits: [Habit] = []
            init(name: String) { self.name = name }
        }
    }

    enum HabitsPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [HabitsV1.self, HabitsV2.self] }
        static var stages: [MigrationStage] { [v1ToV2] }
        static let v1ToV2 = MigrationStage.lightweight(fromVersion: HabitsV1.self, toVersion: HabitsV2.self)
    }

    let store: SampleStore

    init() throws {
        store = try SampleStore()
        let context = ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: HabitsV1.self), configurations: ModelConfiguration(url: store.url)))
        for name in ["run", "read"] {
            let habit = HabitsV1.Habit(name: name, goal: 10)
            context.insert(habit)
            habit.logs = [HabitsV1.Log(date: .now), HabitsV1.Log(date: .now)]
        }
        try context.save()
    }

    private func migrated() throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: HabitsV2.self), migrationPlan: HabitsPlan.self,
                configurations: ModelConfiguration(url: store.url)))
    }

    @Test func `an optional property is added`() throws {
        #expect(try migrated().fetch(FetchDescriptor<HabitsV2.Habit>()).map(\.comment) == [nil, nil])
    }

    @Test func `a property with a default is added`() throws {
        let pinned = FetchDescriptor<HabitsV2.Habit>(predicate: #Predicate { $0.isPinned == false })
        #expect(try migrated().fetchCount(pinned) == 2)
    }

    @Test func `a property is renamed by its original name`() throws {
        let habits = try migrated().fetch(FetchDescriptor<HabitsV2.Habit>(sortBy: [SortDescriptor(\.title)]))
        #expect(habits.map(\.title) == ["read", "run"])
    }

    @Test func `a property is removed, and a model added`() throws {
        let context = try migrated()
        let category = HabitsV2.Category(name: "body")
        context.insert(category)
        category.habits = try context.fetch(FetchDescriptor<HabitsV2.Habit>())
        try context.save()
        let columns = try store.sql("SELECT name FROM pragma_table_info('ZHABIT')")
        #expect(!columns.contains("ZGOAL") && columns.contains("ZTITLE"))
        #expect(try store.sql("SELECT count(*) FROM ZHABIT WHERE ZCATEGORY = 1") == ["2"])
    }

    @Test func `objects and their relationships are preserved`() throws {
        let habits = try migrated().fetch(FetchDescriptor<HabitsV2.Habit>())
        #expect(habits.count == 2 && habits.allSatisfy { $0.logs.count == 2 && $0.logs.allSatisfy { $0.habit != nil } })
    }

    @Test func `a launch prepares the store, with this import alone`() async throws {
        let launch = try StoreLaunch(
            for: Schema(versionedSchema: HabitsV2.self), migrationPlan: HabitsPlan.self,
            configurations: ModelConfiguration(url: store.url))
        let outcome = try await launch.prepare()
        guard case .ready(let reports) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reports.map(\.to) == ["2.0.0"] && type(of: launch.progress) == LaunchProgress.self)
        #expect(try store.sql("SELECT ZTITLE FROM ZHABIT ORDER BY 1") == ["read", "run"])
    }

    @Test func `a store that is there already opens without migrating`() throws {
        _ = try migrated()
        let before = try store.sql("SELECT hex(Z_PLIST) FROM Z_METADATA")
        #expect(try migrated().fetchCount(FetchDescriptor<HabitsV2.Habit>()) == 2)
        #expect(try store.sql("SELECT hex(Z_PLIST) FROM Z_METADATA") == before)
    }

    @Test func `a store of a later version is refused`() throws {
        _ = try migrated()
        #expect(throws: SwiftDataError.self) {
            try ModelContainer(
                for: Schema(versionedSchema: HabitsV1.self), migrationPlan: HabitsPlan.self,
                configurations: ModelConfiguration(url: store.url))
        }
    }

    enum PlanWithAHole: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [HabitsV1.self, HabitsV2.self] }
        static var stages: [MigrationStage] { [] }
    }

    @Test func `a plan without the stage that is needed is refused before the store is touched`() throws {
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(
                for: Schema(versionedSchema: HabitsV2.self), migrationPlan: PlanWithAHole.self,
                configurations: ModelConfiguration(url: store.url))
        }
        #expect(try store.sql("SELECT ZNAME FROM ZHABIT ORDER BY 1") == ["read", "run"])
    }
}
