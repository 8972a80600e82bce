import MoultData

/// From the first release to the newest.
public enum HabitsPlan: SchemaMigrationPlan {
    public static var schemas: [any VersionedSchema.Type] {
        [HabitsV1.self, HabitsV2.self, HabitsV3.self, HabitsV4.self, HabitsV5.self]
    }

    public static var stages: [MigrationStage] { [pin, rename, countTargets, findStreaks] }

    /// Without it the plan is refused: is `displayName` the former `userName`, or a new property?
    public static var answers: [MigrationAnswer] {
        [.renamed("Profile.displayName", from: "userName", in: HabitsV3.self)]
    }

    static let pin = MigrationStage.lightweight(fromVersion: HabitsV1.self, toVersion: HabitsV2.self)

    static let rename = MigrationStage.lightweight(fromVersion: HabitsV2.self, toVersion: HabitsV3.self)

    /// Old and new value side by side; in a custom stage, willMigrate would have to keep the old one for didMigrate.
    static let countTargets = MigrationStage.transform(from: HabitsV3.Habit.self, to: HabitsV4.Habit.self) { old, new in
        new.target = Int(old.target.prefix { $0.isNumber }) ?? 1
    }

    static let findStreaks = MigrationStage.custom(
        fromVersion: HabitsV4.self, toVersion: HabitsV5.self,
        willMigrate: { context in
            try mergeCategories(in: context)
            try context.save()
        },
        didMigrate: { context in
            for habit in try context.fetch(FetchDescriptor<HabitsV5.Habit>()) {
                habit.streak = longestStreak(of: habit.logs.map(\.day))
            }
            try context.save()
        })

    /// The first category of a name takes the habits of the others.
    private static func mergeCategories(in context: ModelContext) throws {
        var known: [String: HabitsV4.Category] = [:]
        for category in try context.fetch(FetchDescriptor<HabitsV4.Category>(sortBy: [SortDescriptor(\.name)])) {
            guard let first = known[category.name] else {
                known[category.name] = category
                continue
            }
            for habit in category.habits { habit.category = first }
            context.delete(category)
        }
    }

    /// The longest row of days that follow each other, the last one where two are as long; nil without days.
    static func longestStreak(of days: [Date]) -> HabitsV5.Streak? {
        var best: HabitsV5.Streak?
        var length = 0
        var previous: Date?
        for day in Set(days).sorted() {
            length = previous.map { day.timeIntervalSince($0) == 86_400 } == true ? length + 1 : 1
            previous = day
            if length >= best?.days ?? 0 { best = HabitsV5.Streak(days: length, lastDay: day) }
        }
        return best
    }
}
