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
