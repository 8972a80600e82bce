import Foundation

/// The position of a transaction in a history.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {
    associatedtype TokenType
    var tokenValue: TokenType? { get }
}

/// A save in the history.
public protocol HistoryTransaction {
    associatedtype TokenType: HistoryToken
    associatedtype TransactionIdentifier: Hashable

    var author: String? { get }
    var changes: [HistoryChange] { get }
    var storeIdentifier: String { get }
    var timestamp: Date { get }
    var token: TokenType { get }
    var transactionIdentifier: TransactionIdentifier { get }
}

/// The insertion of an object by a save.
public protocol HistoryInsert<Model>: Hashable, Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Hashable
    associatedtype TransactionIdentifier: Hashable

    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
}

/// The change of an object by a save.
public protocol HistoryUpdate<Model>: Hashable, Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Hashable
    associatedtype TransactionIdentifier: Hashable
    typealias PropertyUpdate = PartialKeyPath<Model>

    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    /// The changed properties, including relationships.
    var updatedAttributes: [PropertyUpdate] { get }
}

/// The deletion of an object by a save.
public protocol HistoryDelete<Model>: Hashable, Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Hashable
    associatedtype TransactionIdentifier: Hashable

    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var tombstone: HistoryTombstone<Model> { get }
}

/// A change that a save made to one object.
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    /// The identity of the object.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// The preserved values of a deleted object: those of its properties with `@Attribute(.preserveValueOnDeletion)`.
public struct HistoryTombstone<Model: PersistentModel>: @unchecked Sendable, Hashable {
    /// The values of attributes: values of `Sendable` types, or private copies.
    let values: [AnyKeyPath: Any]

    /// The preserved value; nil for NULL, and for a property that is not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> Any? { values[keyPath] }

    /// Returns whether both preserve the same properties; the values are not compared.
    public static func == (left: Self, right: Self) -> Bool { Set(left.values.keys) == Set(right.values.keys) }
    /// Hashes the number of preserved properties.
    public func hash(into hasher: inout Hasher) { hasher.combine(values.count) }
}

/// The position of a transaction in the history of its stores: the number of the last transaction in each store.
public struct DefaultHistoryToken: HistoryToken {
    /// The transaction numbers, by the identifiers of the stores.
    public let tokenValue: [String: Int64]?

    init(_ numbers: [String: Int64]) { tokenValue = numbers }

    /// Returns whether the left token is earlier in at least one store and later in none.
    public static func < (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
        let (one, other) = (left.tokenValue ?? [:], right.tokenValue ?? [:])
        return one != other && one.allSatisfy { $0.value <= other[$0.key] ?? 0 }
    }
}

/// A save of one store.
public struct DefaultHistoryTransaction: HistoryTransaction, Sendable {
    /// The ``ModelContext/author`` of the context that saved; nil if it had none.
    public let author: String?
    /// The bundle identifier of the program that saved; empty if the store has none.
    public let bundleIdentifier: String
    /// The name of the program that saved; empty if the store has none.
    public let processIdentifier: String
    /// The changes to objects; changes of entities outside the schema are left out.
    public let changes: [HistoryChange]
    /// The UUID of the saved store.
    public let storeIdentifier: String
    /// The time of the save.
    public let timestamp: Date
    /// The position after this transaction, from which to fetch later ones.
    public let token: DefaultHistoryToken
    /// The number of the transaction in its store.
    public let transactionIdentifier: Int64
}

/// An insertion in a store's persistent history.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity of the inserted object.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the change's transaction in its store.
    public let transactionIdentifier: Int64
}

/// A change of properties in a store's persistent history.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, @unchecked Sendable {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity of the changed object.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the change's transaction in its store.
    public let transactionIdentifier: Int64
    /// The key paths of the changed stored properties, which capture nothing. If any to-many relationship changed, all
    /// candidates are included, because the history does not say which one it was.
    public let updatedAttributes: [PartialKeyPath<Model>]
}

/// A deletion in a store's persistent history.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity of the deleted object.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the change's transaction in its store.
    public let transactionIdentifier: Int64
    /// The object's values that the history preserved.
    public let tombstone: HistoryTombstone<Model>
}

/// A request for transactions of the history.
public struct HistoryDescriptor<Transaction: HistoryTransaction> {
    /// The predicate; nil for all transactions. If the container has one store, bounds of token, transaction identifier
    /// and timestamp restrict the SQL query; the whole predicate is then evaluated in memory.
    public var predicate: Foundation.Predicate<Transaction>?
    /// The order; empty for the order of the saves.
    public var sortBy: [SortDescriptor<Transaction>]
    /// The maximum number of transactions; 0 for no limit.
    public var fetchLimit: UInt64 = 0

    /// Creates a request for the transactions that a predicate matches, or for all transactions.
    public init(predicate: Foundation.Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
