import MoultData

/// A store of the first version, as its users have it.
public enum HabitSample {
    public static func make(at url: URL) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: HabitsV1.self), configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let health = HabitsV1.Category(name: "Health")
        // Nothing kept two categories from having one name.
        let healthAgain = HabitsV1.Category(name: "Health")
        let mind = HabitsV1.Category(name: "Mind")
        add("Water", "blue", "8", health, days: [0, 1, 2, 5, 6], to: context)
        add("Run", "red", "1 x", healthAgain, days: [0, 2, 3, 4, 5, 9], to: context)
        add("Read", "green", "often", mind, days: [], to: context)
        context.insert(HabitsV1.Profile(userName: "Ada"))
        context.insert(HabitsV1.Onboarding(step: 3))
        context.insert(HabitsV1.Analysis(title: "First week", score: 0.75))
        try context.save()
    }

    private static func add(
        _ name: String, _ colour: String, _ target: String, _ category: HabitsV1.Category, days: [Int],
        to context: ModelContext
    ) {
        let habit = HabitsV1.Habit(name: name, colour: colour, target: target, category: category)
        context.insert(habit)
        for day in days { habit.logs.append(HabitsV1.HabitLog(day: date(day), amount: day + 1)) }
    }

    /// A day of 2025, from 0.
    public static func date(_ day: Int) -> Date { Date(timeIntervalSince1970: 1_735_689_600 + Double(day) * 86_400) }
}
