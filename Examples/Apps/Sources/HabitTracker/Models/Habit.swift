import Foundation
import SwiftData

public typealias Habit = SchemaV3.Habit
public typealias Completion = SchemaV3.Completion
public typealias Category = SchemaV3.Category

extension Habit {
    public var isArchived: Bool { archivedAt != nil }

    public var sortedCompletions: [Completion] {
        completions.sorted { $0.date < $1.date }
    }

    public func isDue(on date: Date, calendar: Calendar = .current) -> Bool {
        guard !isArchived, date >= calendar.startOfDay(for: startDate) else { return false }
        switch schedule {
        case .daily:
            return true
        case .weekdays:
            return !calendar.isDateInWeekend(date)
        case .custom:
            return customDays.contains(calendar.component(.weekday, from: date))
        }
    }

    public func toggleCompletion(on date: Date, calendar: Calendar = .current) {
        if let existing = completions.first(where: { calendar.isDate($0.date, inSameDayAs: date) }) {
            completions.removeAll { $0 === existing }
            modelContext?.delete(existing)
        } else {
            completions.append(Completion(date: date))
        }
    }
}
