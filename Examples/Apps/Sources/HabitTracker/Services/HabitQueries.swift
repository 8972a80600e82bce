import Foundation
import SwiftData

public enum HabitSort: String, CaseIterable, Sendable {
    case name, startDate

    var descriptors: [SortDescriptor<Habit>] {
        switch self {
        case .name: [SortDescriptor(\Habit.name)]
        case .startDate: [SortDescriptor(\Habit.startDate, order: .reverse), SortDescriptor(\Habit.name)]
        }
    }
}

extension Habit {
    static func active(search: String = "") -> Predicate<Habit> {
        #Predicate<Habit> { habit in
            habit.archivedAt == nil && (search.isEmpty || habit.name.localizedStandardContains(search))
        }
    }

    static func inCategory(_ title: String) -> Predicate<Habit> {
        #Predicate<Habit> { habit in
            habit.category?.title == title
        }
    }

    static func completed(since date: Date) -> Predicate<Habit> {
        #Predicate<Habit> { habit in
            habit.completions.contains { $0.date >= date }
        }
    }
}
