import Foundation
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
    /// The changes of the save, one for each object; nil where only transactions were asked for.
    public let changes: [NSPersistentHistoryChange]?

    init(_ record: HistoryRecord, _ store: UUID, hasChanges: Bool = true) {
        self.record = record
        self.store = store
        changes = hasChanges ? record.changes.map { NSPersistentHistoryChange($0, of: record, store) } : nil
    }

    func withoutChanges() -> NSPersistentHistoryTransaction { .init(record, store, hasChanges: false) }

    /// The same with some of its changes alone.
    func with(_ changes: [HistoryRecord.Change]) -> NSPersistentHistoryTransaction {
        var record = record
        record.changes = changes
        return .init(record, store)
    }

    /// When the save was made.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }
    /// The number of the transaction in its store.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of the store.
    open var storeID: String { store.uuidString }
    /// The bundle of the program that saved.
    open var bundleID: String { record.bundleIdentifier ?? "" }
    /// The program that saved.
    open var processID: String { record.processName ?? "" }
    /// The name of the context that saved.
    open var contextName: String? { record.contextName }
    /// The author that the context named.
    open var author: String? { record.author }
    /// The position after the transaction.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([store.uuidString: record.number]) }
    /// Returns the notification that ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)`` takes.
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
    /// The object.
    open var changedObjectID: NSManagedObjectID { change.object }
    /// The kind of change.
    open var changeType: NSPersistentHistoryChangeType {
        NSPersistentHistoryChangeType(rawValue: Int(change.kind.rawValue)) ?? .update
    }
    /// The values that history has kept of a deleted object.
    open var tombstone: [AnyHashable: Any]? {
        change.kind == .delete ? change.tombstone.compactMapValues(foundationValue) : nil
    }
    /// The save that made the change, without its changes.
    open var transaction: NSPersistentHistoryTransaction? { .init(record, store, hasChanges: false) }
    /// The properties that an update changed, as ``updatedPropertyNames``. Ends the program if no open model has the
    /// entity.
    open var updatedProperties: Set<NSPropertyDescription>? {
        updatedPropertyNames.map { names in
            Set(changedObjectID.entity.properties.filter { names.contains($0.name) })
        }
    }
    /// The names of the properties that an update changed. Of several to-many relationships all are named where one
    /// changed.
    open var updatedPropertyNames: Set<String>? { change.kind == .update ? Set(change.properties) : nil }
}

/// A position in the history of stores. It can be archived, and kept between runs.
open class NSPersistentHistoryToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    let numbers: [String: Int64]

    /// Lets an archive of a release whose module of Core Data's own names had another name be read.
    static let formerName: Void = NSKeyedUnarchiver.setClass(
        NSPersistentHistoryToken.self, forClassName: "MoultNSCoreData.NSPersistentHistoryToken")

    init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// Archives keep the numbers of the stores.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archived position.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "numbers"),
            let numbers = try? JSONDecoder().decode([String: Int64].self, from: Data(referencing: data))
        else { return nil }
        self.numbers = numbers
    }

    /// Archives the position.
    open func encode(with coder: NSCoder) {
        if let data = try? JSONEncoder().encode(numbers) { coder.encode(NSData(data: data), forKey: "numbers") }
    }

    /// The same position: it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether both are the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }
    /// Hashes the position.
    open override var hash: Int { numbers.hashValue }
}

extension NSPersistentStoreCoordinator {
    /// The position after everything that has been saved so far; nil where no store has history.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = stores?.compactMap { ($0 as? NSPersistentStore)?.base }
        let numbers = orRaise("NSPersistentStoreCoordinator.currentPersistentHistoryToken(fromStores:)") {
            try base.objects.lock.withLock {
                try (wanted ?? base.persistentStores).reduce(into: [String: Int64]()) { all, store in
                    let last = try store.store.historyRecords().last?.number
                    if let number = last { all[store.identifier.uuidString] = number }
                }
            }
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }
}
