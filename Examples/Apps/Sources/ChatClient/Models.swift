import Foundation
import SwiftData

@Model
public class Conversation {
    @Attribute(.unique) public var remoteID: String
    public var title: String
    public var updatedAt: Date
    public var isMuted = false
    @Relationship(deleteRule: .cascade, originalName: "texts", inverse: \Message.conversation)
    public var messages = [Message]()
    @Relationship(inverse: \Participant.conversations)
    public var participants: [Participant] = []

    public init(remoteID: String, title: String, updatedAt: Date = .now) {
        self.remoteID = remoteID
        self.title = title
        self.updatedAt = updatedAt
    }

    public var lastMessage: Message? { messages.max { $0.sentAt < $1.sentAt } }
}

@Model
public final class Message {
    @Attribute(.unique, .preserveValueOnDeletion) public var remoteID: String
    public var body: String
    public var sentAt: Date
    public var status: Status
    public var reactions: [Reaction] = []
    @Attribute(.externalStorage, .allowsCloudEncryption) public var attachment: Data?
    public var conversation: Conversation?
    public var sender: Participant?
    public var replyTo: Message?

    public enum Status: Codable, Sendable { case sending, sent, read, failed }

    public init(remoteID: String, body: String, sentAt: Date = .now, status: Status = .sending) {
        self.remoteID = remoteID
        self.body = body
        self.sentAt = sentAt
        self.status = status
    }
}

@Model
public final class Participant {
    @Attribute(.unique) public var handle: String
    public var displayName: String?
    public var conversations: [Conversation] = []
    @Relationship(deleteRule: .nullify, inverse: \Message.sender) public var sent: [Message] = []

    public init(handle: String, displayName: String? = nil) {
        self.handle = handle
        self.displayName = displayName
    }
}

public struct Reaction: Codable, Hashable, Sendable {
    public var emoji: String
    public var by: String

    public init(emoji: String, by: String) {
        self.emoji = emoji
        self.by = by
    }
}
