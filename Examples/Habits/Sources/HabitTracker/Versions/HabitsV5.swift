import MoultData

/// Each habit has its longest streak, and no two categories have one name.
public enum HabitsV5: VersionedSchema {
    public static let versionIdentifier = Schema.Version(5, 0, 0)
    public static var models: [any PersistentModel.Type] {
        [
            Habit.self, HabitLog.self, Category.self, Streak.self, HabitsV3.Profile.self, HabitsV1.Onboarding.self,
            HabitsV1.Analysis.self,
        ]
    }

    @Model public final class Habit {
        public var name: String
        public var tint: String
        public var target: Int
        public var isPinned = false
        public var category: Category?
        @Relationship(deleteRule: .cascade, inverse: \HabitLog.habit) public var logs: [HabitLog] = []
        @Relationship(deleteRule: .cascade, inverse: \Streak.habit) public var streak: Streak?

        public init(name: String, tint: String, target: Int) {
            self.name = name
            self.tint = tint
            self.target = target
        }
    }

    @Model public final class Streak {
        /// The most days in a row.
        public var days: Int
        public var lastDay: Date
        public var habit: Habit?

        public init(days: Int, lastDay: Date) {
            self.days = days
            self.lastDay = lastDay
        }
    }

    @Model public final class HabitLog {
        public var day: Date
        public var amount: Int
        public var habit: Habit?

        public init(day: Date, amount: Int) {
            self.day = day
            self.amount = amount
        }
    }

    @Model public final class Category {
        @Attribute(.unique) public var name: String
        @Relationship(inverse: \Habit.category) public var habits: [Habit] = []

        public init(name: String) { self.name = name }
    }
}
