import Foundation
import SwiftData

enum SampleData {
    static func insert(into context: ModelContext) throws {
        let health = Category(title: "Health")
        let mind = Category(title: "Mind")
        context.insert(health)
        context.insert(mind)
        let run = Habit(name: "Run", schedule: .weekdays, category: health)
        let read = Habit(name: "Read", category: mind)
        let water = Habit(name: "Drink water", colorHex: "#00AACC", category: health)
        for habit in [run, read, water] { context.insert(habit) }
        read.reminders = [Reminder(hour: 21, minute: 30)]
        read.completions.append(Completion(date: .now, note: "Chapter 1"))
        if context.hasChanges { try context.save() }
    }
}
