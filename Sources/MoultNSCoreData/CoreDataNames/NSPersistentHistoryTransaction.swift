import Foundation
import MoultCoreData
import MoultModel
import MoultObjects

/// The kind of change to an object, with Core Data's numbers.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
}

/// One save of one store.
open class NSPersistentHistoryTransaction: NSObject, @unchecked Sendable {
    private let record: HistoryRecord
    private let store: UUID
    /// The changes of the save, one for each object; nil if only transactions were requested.
    public let changes: [NSPersistentHistoryChange]?

    init(_ record: HistoryRecord, _ store: UUID, hasChanges: Bool = true) {
        self.record = record
        self.store = store
        changes = hasChanges ? record.changes.map { NSPersistentHistoryChange($0, of: record, store) } : nil
    }

    func withoutChanges() -> NSPersistentHistoryTransaction { .init(record, store, hasChanges: false) }

    /// Returns the transaction with only the given changes.
    func with(_ changes: [HistoryRecord.Change]) -> NSPersistentHistoryTransaction {
        var record = record
        record.changes = changes
        return .init(record, store)
    }

    /// The time of the save.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }
    /// The number of the transaction in its store.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of the store.
    open var storeID: String { store.uuidString }
    /// The bundle identifier of the program that saved.
    open var bundleID: String { record.bundleIdentifier ?? "" }
    /// The name of the process that saved.
    open var processID: String { record.processName ?? "" }
    /// The name of the context that saved.
    open var contextName: String? { record.contextName }
    /// The transaction author set on the context.
    open var author: String? { record.author }
    /// The history token after the transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([store.uuidString: record.number]) }
    /// Returns a notification for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    open func objectIDNotification() -> Notification {
        func ids(_ kind: HistoryRecord.Change.Kind) -> Set<NSManagedObjectID> {
            Set(record.changes.filter { $0.kind == kind }.map(\.object))
        }
        return Notification(
            name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil,
            userInfo: [
                NSInsertedObjectIDsKey: ids(.insert), NSUpdatedObjectIDsKey: ids(.update),
                NSDeletedObjectIDsKey: ids(.delete),
            ])
    }
}

/// One object that a save inserted, changed or deleted.
open class NSPersistentHistoryChange: NSObject, @unchecked Sendable {
    let change: HistoryRecord.Change
    private let record: HistoryRecord
    private let store: UUID

    init(_ change: HistoryRecord.Change, of record: HistoryRecord, _ store: UUID) {
        (self.change, self.record, self.store) = (change, record, store)
    }

    /// The number of the change in its store.
    open var changeID: Int64 { change.number }
    /// The identity of the changed object.
    open var changedObjectID: NSManagedObjectID { change.object }
    /// The kind of change.
    open var changeType: NSPersistentHistoryChangeType {
        NSPersistentHistoryChangeType(rawValue: Int(change.kind.rawValue)) ?? .update
    }
    /// The values of a deleted object that history has preserved.
    open var tombstone: [AnyHashable: Any]? {
        change.kind == .delete ? change.tombstone.compactMapValues(foundationValue) : nil
    }
    /// The save that made the change, without its changes.
    open var transaction: NSPersistentHistoryTransaction? { .init(record, store, hasChanges: false) }
    /// The properties that an update changed, as in ``updatedPropertyNames``; none if no open model has the entity.
    open var updatedProperties: Set<NSPropertyDescription>? {
        updatedPropertyNames.map { names in
            Set(changedObjectID.entity.properties.filter { names.contains($0.name) })
        }
    }
    /// The names of the properties that an update changed. If one of several to-many relationships changed, all of them
    /// are listed.
    open var updatedPropertyNames: Set<String>? { change.kind == .update ? Set(change.properties) : nil }
}

/// A position in the history of stores. It can be archived and kept between launches.
open class NSPersistentHistoryToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    let numbers: [String: Int64]

    /// Makes archives from a release with another module name readable.
    static let formerName: Void = NSKeyedUnarchiver.setClass(
        NSPersistentHistoryToken.self, forClassName: "MoultCoreData.NSPersistentHistoryToken")

    init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// Always true. An archive contains the transaction number for each store.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes an archived token.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "numbers"),
            let numbers = try? JSONDecoder().decode([String: Int64].self, from: Data(referencing: data))
        else { return nil }
        self.numbers = numbers
    }

    /// Archives the token.
    open func encode(with coder: NSCoder) {
        if let data = try? JSONEncoder().encode(numbers) { coder.encode(NSData(data: data), forKey: "numbers") }
    }

    /// Returns the same token, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Returns whether both tokens are the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }
    /// A hash of the position.
    open override var hash: Int { numbers.hashValue }
}

extension NSPersistentStoreCoordinator {
    /// Returns the token after all saves so far, even if there are none, of these stores, or of all if there are none of
    /// these; nil if no store has history, or if it cannot be read.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = stores?.isEmpty == false ? stores?.compactMap { ($0 as? NSPersistentStore)?.base } : nil
        let numbers = try? {
            try base.objects.lock.withLock {
                try (wanted ?? base.persistentStores).reduce(into: [String: Int64]()) { all, store in
                    guard store.store.layout.hasHistory else { return }
                    all[store.identifier.uuidString] = try store.store.lastTransaction()
                }
            }
        }()
        return numbers.flatMap { $0.isEmpty ? nil : NSPersistentHistoryToken($0) }
    }
}
