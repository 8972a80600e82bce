import Foundation
import SwiftData

/// Adds categories, reminders and a schedule; renames the color.
public enum SchemaV2: VersionedSchema {
    public static let versionIdentifier = Schema.Version(2, 0, 0)
    public static var models: [any PersistentModel.Type] { [Habit.self, Completion.self, Category.self] }

    @Model
    public final class Habit {
        public var name: String
        @Attribute(originalName: "color") public var colorHex: String
        public var startDate: Date
        public var archivedAt: Date?
        public var schedule: Schedule = Schedule.daily
        public var customDays: Set<Int> = []
        public var reminders: [Reminder] = []
        @Relationship(deleteRule: .cascade, inverse: \Completion.habit)
        public var completions: [Completion] = []
        public var category: Category?

        public init(name: String, colorHex: String = "#007AFF", startDate: Date = .now) {
            self.name = name
            self.colorHex = colorHex
            self.startDate = startDate
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
        public var title: String
        @Relationship(inverse: \Habit.category) public var habits: [Habit]? = []

        public init(title: String) { self.title = title }
    }
}
