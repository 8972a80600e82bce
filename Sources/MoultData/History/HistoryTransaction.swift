import Foundation

/// The position of a transaction in a history.
public protocol HistoryToken: Comparable, Hashable, Codable, Sendable {
    associatedtype TokenType
    var tokenValue: TokenType? { get }
}

/// One save, as the history has it.
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

/// One object that a save inserted.
public protocol HistoryInsert<Model>: Hashable, Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Hashable
    associatedtype TransactionIdentifier: Hashable

    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
}

/// One object that a save changed.
public protocol HistoryUpdate<Model>: Hashable, Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Hashable
    associatedtype TransactionIdentifier: Hashable
    typealias PropertyUpdate = PartialKeyPath<Model>

    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    /// The properties that changed, relationships among them.
    var updatedAttributes: [PropertyUpdate] { get }
}

/// One object that a save deleted.
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

    /// The identity of the object, whichever change it is.
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
    /// Values of attributes, which are values of `Sendable` types or copies that nobody else has.
    let values: [AnyKeyPath: Any]

    /// Nil for NULL, and for a property that is not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> Any? { values[keyPath] }

    /// Whether both preserve the same properties; the values are not compared.
    public static func == (left: Self, right: Self) -> Bool { Set(left.values.keys) == Set(right.values.keys) }
    /// Hashes how many properties are preserved.
    public func hash(into hasher: inout Hasher) { hasher.combine(values.count) }
}

/// The position of a transaction in the history of its stores: the number of the last one of each.
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
    /// The ``ModelContext/author`` of the context that saved; nil where it had none.
    public let author: String?
    /// The bundle identifier of the program that saved; empty where the store names none.
    public let bundleIdentifier: String
    /// The name of the program that saved; empty where the store names none.
    public let processIdentifier: String
    /// The changes that the save made to objects; changes of entities that the schema does not have are left out.
    public let changes: [HistoryChange]
    /// The UUID of the store that was saved to.
    public let storeIdentifier: String
    /// When the save was made.
    public let timestamp: Date
    /// The position after this transaction, from which later ones are asked for.
    public let token: DefaultHistoryToken
    /// The number of the transaction in its store.
    public let transactionIdentifier: Int64
}

/// An insertion, as a store's persistent history has it.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity of the object that was inserted.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the transaction that the change belongs to, in its store.
    public let transactionIdentifier: Int64
}

/// A change of properties, as a store's persistent history has it.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, @unchecked Sendable {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity of the object that was changed.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the transaction that the change belongs to, in its store.
    public let transactionIdentifier: Int64
    /// The key paths of stored properties, which capture nothing. Of several lists all are named where one changed:
    /// the history does not say which.
    public let updatedAttributes: [PartialKeyPath<Model>]
}

/// A deletion, as a store's persistent history has it.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    /// The number of the change in its store.
    public let changeIdentifier: Int64
    /// The identity that the deleted object had.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The number of the transaction that the change belongs to, in its store.
    public let transactionIdentifier: Int64
    /// The values that the history preserved of the object.
    public let tombstone: HistoryTombstone<Model>
}

/// A request for transactions of the history.
public struct HistoryDescriptor<Transaction: HistoryTransaction> {
    /// Nil for all. Its bounds of token, transaction identifier and timestamp leave out others in SQL, where the
    /// container has one store; the whole is then asked in memory.
    public var predicate: Foundation.Predicate<Transaction>?
    /// Nothing for the order in which they were saved.
    public var sortBy: [SortDescriptor<Transaction>]
    /// 0 for no limit.
    public var fetchLimit: UInt64 = 0

    /// A request for the transactions that a predicate holds for; for all of them where none is given.
    public init(predicate: Foundation.Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
