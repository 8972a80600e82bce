import Foundation
import SwiftData

public enum SchemaV1: VersionedSchema {
    public static let versionIdentifier = Schema.Version(1, 0, 0)
    public static var models: [any PersistentModel.Type] { [Habit.self, Completion.self] }

    @Model
    public final class Habit {
        public var name: String
        public var color: String
        public var startDate: Date
        @Relationship(deleteRule: .cascade, inverse: \Completion.habit)
        public var completions: [Completion] = []

        public init(name: String, color: String = "#007AFF", startDate: Date = .now) {
            self.name = name
            self.color = color
            self.startDate = startDate
        }
    }

    @Model
    public final class Completion {
        public var date: Date
        public var habit: Habit?

        public init(date: Date) { self.date = date }
    }
}
