import MoultData

/// A habit can be pinned. What did not change is the first version's.
public enum HabitsV2: VersionedSchema {
    public static let versionIdentifier = Schema.Version(2, 0, 0)
    public static var models: [any PersistentModel.Type] {
        [
            Habit.self, HabitLog.self, Category.self, HabitsV1.Profile.self, HabitsV1.Onboarding.self,
            HabitsV1.Analysis.self,
        ]
    }

    @Model public final class Habit {
        public var name: String
        public var colour: String
        public var target: String
        public var isPinned = false
        public var category: Category?
        @Relationship(deleteRule: .cascade, inverse: \HabitLog.habit) public var logs: [HabitLog] = []

        public init(name: String, colour: String, target: String) {
            self.name = name
            self.colour = colour
            self.target = target
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
        public var name: String
        @Relationship(inverse: \Habit.category) public var habits: [Habit] = []

        public init(name: String) { self.name = name }
    }
}
