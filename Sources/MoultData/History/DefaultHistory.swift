import Foundation

/// Where in the history of its stores a transaction stands: the number of the last one of each.
public struct DefaultHistoryToken: HistoryToken {
    /// By the identifiers of the stores.
    public let tokenValue: [String: Int64]?

    init(_ numbers: [String: Int64]) { tokenValue = numbers }

    /// Earlier in one store at least, and later in none.
    public static func < (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        let (one, other) = (left.tokenValue ?? [:], right.tokenValue ?? [:])
        return one != other && one.allSatisfy { $0.value <= other[$0.key] ?? 0 }
    }
}

/// One save of one store.
public struct DefaultHistoryTransaction: HistoryTransaction, Sendable {
    public let author: String?
    public let bundleIdentifier: String
    public let processIdentifier: String
    public let changes: [HistoryChange]
    public let storeIdentifier: String
    public let timestamp: Date
    public let token: DefaultHistoryToken
    /// The number of the transaction in its store.
    public let transactionIdentifier: Int64
}

public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
}

public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, @unchecked Sendable {
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
    /// The key paths of stored properties, which capture nothing. Of several lists all are named where one changed:
    /// the history does not say which.
    public let updatedAttributes: [PartialKeyPath<Model>]
}

public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    public let changeIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let transactionIdentifier: Int64
    public let tombstone: HistoryTombstone<Model>
}

/// Which transactions of the history are wanted.
public struct HistoryDescriptor<Transaction: HistoryTransaction> {
    /// Nil for all. Its bounds of token, transaction identifier and timestamp leave out others in SQL, where the
    /// container has one store; the whole is then asked in memory.
    public var predicate: Foundation.Predicate<Transaction>?
    /// Nothing for the order in which they were saved.
    public var sortBy: [SortDescriptor<Transaction>]
    /// 0 for no limit.
    public var fetchLimit: UInt64 = 0

    public init(
        predicate: Foundation.Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []
    ) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
