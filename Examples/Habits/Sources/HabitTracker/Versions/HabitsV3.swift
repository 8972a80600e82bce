import MoultData

/// Two properties have other names: a habit's says so with `originalName`, the profile's does not, and the plan does.
public enum HabitsV3: VersionedSchema {
    public static let versionIdentifier = Schema.Version(3, 0, 0)
    public static var models: [any PersistentModel.Type] {
        [
            Habit.self, HabitLog.self, Category.self, Profile.self, HabitsV1.Onboarding.self, HabitsV1.Analysis.self,
        ]
    }

    @Model public final class Habit {
        public var name: String
        @Attribute(originalName: "colour") public var tint: String
        public var target: String
        public var isPinned = false
        public var category: Category?
        @Relationship(deleteRule: .cascade, inverse: \HabitLog.habit) public var logs: [HabitLog] = []

        public init(name: String, tint: String, target: String) {
            self.name = name
            self.tint = tint
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

    @Model public final class Profile {
        public var displayName: String

        public init(displayName: String) { self.displayName = displayName }
    }
}
