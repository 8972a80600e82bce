import MoultData

/// What the app shows, from a store of any version.
public enum HabitList {
    public static func lines(ofStoreAt url: URL) throws -> [String] {
        let container = try ModelContainer(
            for: Schema(versionedSchema: HabitsV5.self), migrationPlan: HabitsPlan.self,
            configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let habits = FetchDescriptor<HabitsV5.Habit>(sortBy: [SortDescriptor(\.name)])
        return try context.fetch(habits).map { habit in
            let streak = habit.streak.map { "\($0.days) days in a row" } ?? "not begun"
            return "\(habit.name) (\(habit.category?.name ?? "")), \(habit.target) a day: \(streak)"
        }
    }
}
