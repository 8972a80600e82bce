import Foundation
import Observation
import SwiftData

/// What a list of habits shows.
@MainActor
@Observable
public final class HabitStore {
    public private(set) var habits: [Habit] = []
    public var searchText = "" { didSet { reload() } }
    public var sort = HabitSort.name { didSet { reload() } }
    public private(set) var errorMessage: String?
    private let modelContext: ModelContext

    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        reload()
    }

    public func reload() {
        do {
            let descriptor = FetchDescriptor<Habit>(
                predicate: Habit.active(search: searchText), sortBy: sort.descriptors)
            habits = try modelContext.fetch(descriptor)
        } catch {
            errorMessage = error.localizedDescription
        }
    }

    @discardableResult
    public func addHabit(named name: String, category: Category? = nil) -> Habit {
        let habit = Habit(name: name, category: category)
        modelContext.insert(habit)
        save()
        return habit
    }

    public func delete(at offsets: IndexSet) {
        for index in offsets { modelContext.delete(habits[index]) }
        save()
    }

    public func archive(_ habit: Habit) {
        habit.archivedAt = .now
        save()
    }

    public func toggle(_ habit: Habit, on date: Date = .now) {
        withAnimationIfPossible {
            habit.toggleCompletion(on: date)
            habit.completionCount = habit.completions.count
        }
        save()
    }

    private func withAnimationIfPossible(_ body: () -> Void) { body() }

    private func save() {
        do {
            try modelContext.save()
        } catch {
            modelContext.rollback()
            errorMessage = error.localizedDescription
        }
        reload()
    }
}
