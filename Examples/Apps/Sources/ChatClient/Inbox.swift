import Foundation
import Observation
import SwiftData

/// The conversations of the main actor, read again whenever something was saved.
@MainActor
@Observable
public final class Inbox {
    public private(set) var conversations: [Conversation] = []
    @ObservationIgnored private var observation: (any NSObjectProtocol)?
    private let context: ModelContext

    public init(container: ModelContainer) {
        context = container.mainContext
        observation = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: nil, queue: nil
        ) { [weak self] _ in
            Task { @MainActor in self?.refresh() }
        }
        refresh()
    }

    public func refresh() {
        let descriptor = FetchDescriptor<Conversation>(
            sortBy: [SortDescriptor(\.updatedAt, order: .reverse), SortDescriptor(\.title, order: .forward)])
        conversations = (try? context.fetch(descriptor)) ?? []
    }

    public func unreadCount(of conversation: Conversation) -> Int {
        let id = conversation.persistentModelID
        let read = Message.Status.read
        let descriptor = FetchDescriptor<Message>(
            predicate: #Predicate { $0.conversation?.persistentModelID == id && $0.status != read })
        return (try? context.fetchCount(descriptor)) ?? 0
    }

    public func messages(in conversation: Conversation, limit: Int = 50) throws -> [Message] {
        let id = conversation.id
        var descriptor = FetchDescriptor<Message>(
            predicate: #Predicate { $0.conversation?.persistentModelID == id },
            sortBy: [.init(\.sentAt, order: .reverse)])
        descriptor.fetchLimit = limit
        descriptor.fetchOffset = 0
        descriptor.relationshipKeyPathsForPrefetching = [\.sender]
        return try context.fetch(descriptor)
    }
}
