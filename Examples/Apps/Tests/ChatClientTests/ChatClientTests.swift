import Foundation
import SwiftData
import Testing

@testable import ChatClientApp

@MainActor
@Suite struct ChatClientTests {
    let container: ModelContainer
    let start = Date(timeIntervalSince1970: 1_000_000)

    init() throws {
        let url = URL.temporaryDirectory.appending(component: "chat-\(UUID().uuidString).store")
        container = try ModelContainer(
            for: Conversation.self, Message.self, Participant.self, configurations: ModelConfiguration(url: url))
    }

    private func payload(_ number: Int, _ conversation: String = "a", sender: String = "ada") -> MessagePayload {
        MessagePayload(
            id: "m\(number)", conversation: conversation, sender: sender, text: "Text \(number)",
            date: start.addingTimeInterval(TimeInterval(number)))
    }

    @Test func messagesArrive() async throws {
        let store = ChatStore(container: container, author: "sync")
        try await store.receive([payload(1), payload(2, "b"), payload(3, sender: "bob")])
        #expect(await store.receivedCount == 3)
        let inbox = Inbox(container: container)
        #expect(inbox.conversations.map(\.remoteID) == ["a", "b"])
        let first = inbox.conversations[0]
        #expect(try inbox.messages(in: first).map(\.body) == ["Text 3", "Text 1"])
        #expect(first.lastMessage?.sender?.handle == "bob")
        #expect(inbox.unreadCount(of: first) == 2)
        let last = try #require(first.lastMessage)
        try await store.markRead(last.persistentModelID)
        #expect(inbox.unreadCount(of: first) == 1)
    }

    @Test func aMessageThatArrivesTwiceIsOne() async throws {
        let store = ChatStore(container: container, author: "sync")
        try await store.receive([payload(1)])
        var again = payload(1)
        again.text = "Changed"
        try await store.receive([again])
        #expect(try container.mainContext.fetch(FetchDescriptor<Message>()).map(\.body) == ["Changed"])
    }

    @Test func historyTellsWhatOthersDid() async throws {
        let store = ChatStore(container: container, author: "sync")
        let other = ChatStore(container: container, author: "app")
        var reader = HistoryReader(excluding: "app")
        try await store.receive([payload(1), payload(2)])
        try await other.receive([payload(3)])
        let first = try reader.changes(in: container.mainContext)
        #expect(first.inserted == 4)
        try await store.react("👍", by: "bob", to: "m1")
        #expect(try await store.deleteMessages(before: start.addingTimeInterval(2)) == 1)
        let second = try reader.changes(in: container.mainContext)
        #expect(second.deletedMessages == ["m1"] && second.updatedProperties == ["reactions"])
        #expect(try reader.changes(in: container.mainContext) == HistoryReader.Changes())

        let url = URL.temporaryDirectory.appending(component: "token-\(UUID().uuidString)")
        try reader.save(to: url)
        var restored = HistoryReader(excluding: "app")
        try restored.load(from: url)
        #expect(restored.token == reader.token)
        try reader.prune(in: container.mainContext)
        try FileManager.default.removeItem(at: url)
    }

    @Test func aContextShowsWhatAnActorSaves() async throws {
        let store = ChatStore(container: container, author: "sync")
        try await store.receive([payload(1)])
        let message = try #require(try container.mainContext.fetch(FetchDescriptor<Message>()).first)
        #expect(message.status == .sent)
        try await store.markRead(message.persistentModelID)
        try await store.react("🎉", by: "ada", to: "m1")
        #expect(message.status == .read && message.reactions == [Reaction(emoji: "🎉", by: "ada")])
    }

    @Test func manyActorsWriteAtOnce() async throws {
        let container = container
        let start = start
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let store = ChatStore(container: container, author: "task \(number)")
                    for message in 0..<5 {
                        let id = number * 10 + message
                        try await store.receive([
                            MessagePayload(
                                id: "\(id)", conversation: "c\(number)", sender: "s\(number)", text: "",
                                date: start.addingTimeInterval(TimeInterval(id)))
                        ])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Message>()) == 20)
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Conversation>()) == 4)
    }

    @Test func deletingAConversationDeletesItsMessages() async throws {
        let store = ChatStore(container: container, author: "sync")
        try await store.receive([payload(1), payload(2)])
        let context = ModelContext(container)
        context.undoManager = nil
        for conversation in try context.fetch(FetchDescriptor<Conversation>()) { context.delete(conversation) }
        #expect(context.deletedModelsArray.count > 0)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Message>()).isEmpty)
        #expect(try context.fetch(FetchDescriptor<Participant>()).count == 1)
    }
}
