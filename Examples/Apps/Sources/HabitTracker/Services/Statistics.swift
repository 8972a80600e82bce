import Foundation
import SwiftData

public struct Statistics: Equatable, Sendable {
    public var habits = 0
    public var completions = 0
    public var busiest: String?

    @MainActor
    public init(context: ModelContext) throws {
        habits = try context.fetchCount(FetchDescriptor<Habit>(predicate: Habit.active()))
        completions = try context.fetchCount(FetchDescriptor<Completion>())
        var descriptor = FetchDescriptor<Habit>(sortBy: [SortDescriptor(\.completionCount, order: .reverse)])
        descriptor.fetchLimit = 1
        descriptor.propertiesToFetch = [\.name, \.completionCount]
        busiest = try context.fetch(descriptor).first?.name
        var seen = 0
        try context.enumerate(FetchDescriptor<Completion>(), batchSize: 100) { _ in seen += 1 }
        assert(seen == completions)
    }
}
