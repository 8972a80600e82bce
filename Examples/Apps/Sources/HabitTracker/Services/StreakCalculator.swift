import Foundation

public struct StreakCalculator {
    public var calendar: Calendar

    public init(calendar: Calendar = .current) { self.calendar = calendar }

    public func currentStreak(of habit: Habit, today: Date = .now) -> Int {
        let days = Set(habit.completions.map { calendar.startOfDay(for: $0.date) })
        var day = calendar.startOfDay(for: today)
        var streak = 0
        while days.contains(day) {
            streak += 1
            guard let previous = calendar.date(byAdding: .day, value: -1, to: day) else { break }
            day = previous
        }
        return streak
    }
}
