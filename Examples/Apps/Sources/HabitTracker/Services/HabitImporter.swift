import Foundation
import SwiftData

public struct HabitRecord: Codable, Sendable, Equatable {
    public var name: String
    public var category: String?
    public var dates: [Date]

    public init(name: String, category: String? = nil, dates: [Date] = []) {
        self.name = name
        self.category = category
        self.dates = dates
    }
}

@ModelActor
public actor HabitImporter {
    public func importRecords(_ records: [HabitRecord]) throws -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        var categories: [String: SchemaV3.Category] = [:]
        for record in records {
            let habit = Habit(name: record.name)
            modelContext.insert(habit)
            habit.completions = record.dates.map { Completion(date: $0) }
            habit.completionCount = record.dates.count
            if let title = record.category {
                let category = try categories[title] ?? findOrCreateCategory(title)
                categories[title] = category
                habit.category = category
            }
            try modelContext.save()
            identifiers.append(habit.persistentModelID)
        }
        return identifiers
    }

    public func exportRecords() throws -> [HabitRecord] {
        var descriptor = FetchDescriptor<Habit>(sortBy: [SortDescriptor(\.name)])
        descriptor.relationshipKeyPathsForPrefetching = [\.completions, \.category]
        return try modelContext.fetch(descriptor).map { habit in
            HabitRecord(
                name: habit.name, category: habit.category?.title, dates: habit.sortedCompletions.map(\.date))
        }
    }

    public func rename(_ id: PersistentIdentifier, to name: String) throws {
        guard let habit = self[id, as: Habit.self] else { return }
        habit.name = name
        try modelContext.save()
    }

    public func deleteArchived() throws {
        try modelContext.delete(model: Habit.self, where: #Predicate { $0.archivedAt != nil })
        try modelContext.save()
    }

    private func findOrCreateCategory(_ title: String) throws -> SchemaV3.Category {
        var descriptor = FetchDescriptor<SchemaV3.Category>(predicate: #Predicate { $0.title == title })
        descriptor.fetchLimit = 1
        if let found = try modelContext.fetch(descriptor).first { return found }
        let category = SchemaV3.Category(title: title)
        modelContext.insert(category)
        return category
    }
}
