import Foundation
import SwiftData

public struct MessagePayload: Sendable, Codable {
    public var id: String
    public var conversation: String
    public var sender: String
    public var text: String
    public var date: Date

    public init(id: String, conversation: String, sender: String, text: String, date: Date) {
        self.id = id
        self.conversation = conversation
        self.sender = sender
        self.text = text
        self.date = date
    }
}

/// Writes what the server sends, off the main actor.
@ModelActor
public actor ChatStore {
    private var received = 0

    public var receivedCount: Int { received }

    public init(container: ModelContainer, author: String) {
        let modelContext = ModelContext(container)
        modelContext.author = author
        modelContext.autosaveEnabled = false
        modelContainer = container
        modelExecutor = DefaultSerialModelExecutor(modelContext: modelContext)
    }

    public func receive(_ payloads: [MessagePayload]) throws {
        for payload in payloads {
            let conversation = try conversation(payload.conversation)
            let message = Message(
                remoteID: payload.id, body: payload.text, sentAt: payload.date, status: .sent)
            modelContext.insert(message)
            message.conversation = conversation
            message.sender = try participant(payload.sender)
            if conversation.updatedAt < payload.date { conversation.updatedAt = payload.date }
            received += 1
        }
        try modelContext.save()
    }

    public func markRead(_ id: PersistentIdentifier) throws {
        guard let message = modelContext.model(for: id) as? Message else { return }
        message.status = .read
        try modelContext.save()
    }

    public func react(_ emoji: String, by handle: String, to remoteID: String) throws {
        let wanted = FetchDescriptor<Message>(predicate: #Predicate { $0.remoteID == remoteID })
        try modelContext.fetch(wanted).first?.reactions.append(Reaction(emoji: emoji, by: handle))
        try modelContext.save()
    }

    public func deleteMessages(before date: Date) throws -> Int {
        let old = #Predicate<Message> { $0.sentAt < date }
        let count = try modelContext.fetchCount(FetchDescriptor(predicate: old))
        for message in try modelContext.fetch(FetchDescriptor(predicate: old)) { modelContext.delete(message) }
        try modelContext.save()
        return count
    }

    private func conversation(_ remoteID: String) throws -> Conversation {
        let descriptor = FetchDescriptor<Conversation>(predicate: #Predicate { $0.remoteID == remoteID })
        if let known = try modelContext.fetch(descriptor).first { return known }
        let new = Conversation(remoteID: remoteID, title: remoteID, updatedAt: .distantPast)
        modelContext.insert(new)
        return new
    }

    private func participant(_ handle: String) throws -> Participant {
        let descriptor = FetchDescriptor<Participant>(predicate: #Predicate { $0.handle == handle })
        if let known = try modelContext.fetch(descriptor).first { return known }
        let new = Participant(handle: handle)
        modelContext.insert(new)
        return new
    }
}
