import Foundation
import SwiftData

/// Makes titles of categories unique, and counts completions.
public enum SchemaV3: VersionedSchema {
    public static let versionIdentifier = Schema.Version(3, 0, 0)
    public static var models: [any PersistentModel.Type] { [Habit.self, Completion.self, Category.self] }

    @Model
    public final class Habit {
        #Index<Habit>([\.name], [\.startDate, \.name])

        @Attribute(.spotlight) public var name: String
        public var colorHex: String
        public var startDate: Date
        public var archivedAt: Date?
        public var schedule: Schedule = Schedule.daily
        public var customDays: Set<Int> = []
        public var reminders: [Reminder] = []
        public var completionCount: Int = 0
        @Attribute(.externalStorage) public var icon: Data?
        @Relationship(deleteRule: .cascade, inverse: \Completion.habit)
        public var completions: [Completion] = []
        public var category: Category?
        @Transient public var isSelected = false

        public init(
            name: String, colorHex: String = "#007AFF", startDate: Date = .now, schedule: Schedule = .daily,
            category: Category? = nil
        ) {
            self.name = name
            self.colorHex = colorHex
            self.startDate = startDate
            self.schedule = schedule
            self.category = category
        }
    }

    @Model
    public final class Completion {
        public var date: Date
        public var note: String = ""
        public var habit: Habit?

        public init(date: Date, note: String = "") {
            self.date = date
            self.note = note
        }
    }

    @Model
    public final class Category {
        @Attribute(.unique) public var title: String
        @Relationship(inverse: \Habit.category) public var habits: [Habit]? = []

        public init(title: String) { self.title = title }
    }
}
