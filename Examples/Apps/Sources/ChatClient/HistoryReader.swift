import Foundation
import SwiftData

/// Tells what other authors have changed since it was asked last.
public struct HistoryReader {
    public private(set) var token: DefaultHistoryToken?
    private let author: String

    public init(excluding author: String) { self.author = author }

    public struct Changes: Equatable {
        public var inserted = 0
        public var updated = 0
        public var deletedMessages: [String] = []
        public var updatedProperties: Set<String> = []
    }

    public mutating func changes(in context: ModelContext) throws -> Changes {
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        let author = author
        if let token {
            descriptor.predicate = #Predicate { $0.token > token && $0.author != author }
        } else {
            descriptor.predicate = #Predicate { $0.author != author }
        }
        var changes = Changes()
        for transaction in try context.fetchHistory(descriptor) {
            for change in transaction.changes {
                switch change {
                case .insert:
                    changes.inserted += 1
                case .update(let update):
                    changes.updated += 1
                    if let update = update as? DefaultHistoryUpdate<Message> {
                        if update.updatedAttributes.contains(\.status) { changes.updatedProperties.insert("status") }
                        if update.updatedAttributes.contains(\.reactions) {
                            changes.updatedProperties.insert("reactions")
                        }
                    }
                case .delete(let deletion):
                    if let deletion = deletion as? DefaultHistoryDelete<Message>,
                        let id = deletion.tombstone[\.remoteID] as? String
                    {
                        changes.deletedMessages.append(id)
                    }
                @unknown default:
                    break
                }
            }
            token = transaction.token
        }
        return changes
    }

    public func prune(in context: ModelContext) throws {
        guard let token else { return }
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        descriptor.predicate = #Predicate { $0.token < token }
        try context.deleteHistory(descriptor)
    }

    public func save(to url: URL) throws {
        try JSONEncoder().encode(token).write(to: url)
    }

    public mutating func load(from url: URL) throws {
        token = try JSONDecoder().decode(DefaultHistoryToken?.self, from: Data(contentsOf: url))
    }
}
