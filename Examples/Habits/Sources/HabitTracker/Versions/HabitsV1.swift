import MoultData

/// The first release: habits with what was done of them, in categories, and three models that stand alone.
public enum HabitsV1: VersionedSchema {
    public static let versionIdentifier = Schema.Version(1, 0, 0)
    public static var models: [any PersistentModel.Type] {
        [Habit.self, HabitLog.self, Category.self, Profile.self, Onboarding.self, Analysis.self]
    }

    @Model public final class Habit {
        public var name: String
        public var colour: String
        /// How often a day, as it was typed.
        public var target: String
        public var category: Category?
        @Relationship(deleteRule: .cascade, inverse: \HabitLog.habit) public var logs: [HabitLog] = []

        public init(name: String, colour: String, target: String, category: Category? = nil) {
            self.name = name
            self.colour = colour
            self.target = target
            self.category = category
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
        public var userName: String

        public init(userName: String) { self.userName = userName }
    }

    @Model public final class Onboarding {
        public var step: Int
        public var isFinished = false

        public init(step: Int) { self.step = step }
    }

    @Model public final class Analysis {
        public var title: String
        public var score: Double

        public init(title: String, score: Double) {
            self.title = title
            self.score = score
        }
    }
}
