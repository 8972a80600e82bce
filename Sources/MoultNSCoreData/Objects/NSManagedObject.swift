import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// The events that change an object without setting its values one by one.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// Core Data's number.
    public let rawValue: UInt
    /// Events by Core Data's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// An insertion was undone.
    public static let undoInsertion = Self(rawValue: 1 << 1)
    /// A deletion was undone.
    public static let undoDeletion = Self(rawValue: 1 << 2)
    /// A change was undone.
    public static let undoUpdate = Self(rawValue: 1 << 3)
    /// The context was rolled back.
    public static let rollback = Self(rawValue: 1 << 4)
}

/// One object of a store in one context.
///
/// What raises an exception in Core Data (a key that the entity does not have, a value of another type, an object whose
/// row is gone) ends the program with the reason. A subclass declares its properties with ``Managed``.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    private(set) var base: ObjectBase?
    private let record: ManagedKey?
    private var detachedEntity: NSEntityDescription?
    private var detached: [String: Any] = [:]
    /// The values of an object that a running migration has.
    var migrated: MigratedValues?

    /// Called by the context.
    public required init(_ handle: NSManagedObjectHandle) {
        base = handle.base
        record = handle.record
        detachedEntity = handle.entity
    }

    /// A new object of the class's entity. Ends the program if the model has none.
    public convenience init(context: NSManagedObjectContext) {
        let base = context.makeBase(context.entityName(for: Self.self, call: "\(Self.self)(context:)"))
        self.init(NSManagedObjectHandle(base: base))
        context.show(self, of: base)
    }

    /// A new object of an entity; without a context until ``NSManagedObjectContext/insert(_:)``.
    public convenience init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        guard let context else {
            self.init(NSManagedObjectHandle(base: nil, entity: entity))
            return
        }
        let name = entity.name ?? ""
        context.persistentStoreCoordinator?.classes.registerIfNone(Self.self, name)
        let base = context.makeBase(name)
        self.init(NSManagedObjectHandle(base: base))
        context.show(self, of: base)
    }

    /// The entity of the class, in the one model that is open and has it.
    open class func entity() -> NSEntityDescription { NSPersistentStoreCoordinator.openEntity(of: Self.self) }

    /// A fetch of all objects of the class's entity.
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest<any NSFetchRequestResult>(ofClass: Self.self)
    }

    // MARK: - What a subclass may do at certain moments

    /// Called once for a new object, after its defaults are set.
    open func awakeFromInsert() {}
    /// Called when the values of a saved object are first asked for.
    open func awakeFromFetch() {}
    /// Called when an undo, a redo or a rollback has changed the object, so that what a class derives from its values can
    /// be made again.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before a save.
    open func willSave() {}
    /// Called after a save.
    open func didSave() {}
    /// Called before the object is marked as deleted.
    open func prepareForDeletion() {}
    /// Called before ``NSManagedObjectContext/refresh(_:mergeChanges:)`` makes a fault of the object.
    open func willTurnIntoFault() {}
    /// Called after that.
    open func didTurnIntoFault() {}

    /// Checks one value that is to be saved.
    open func validateValue(_ value: Any?, forKey key: String) throws {
        try cocoaErrors { try base?.checkValue(moultValue(value), forKey: key) }
    }
    /// Checks a new object before it is saved.
    open func validateForInsert() throws { try cocoaErrors { try base?.checkForInsert() } }
    /// Checks a changed object before it is saved.
    open func validateForUpdate() throws { try cocoaErrors { try base?.checkForUpdate() } }
    /// Checks that an object may be deleted.
    open func validateForDelete() throws { try cocoaErrors { try base?.checkForDelete() } }

    // MARK: - Values

    /// The value under a name of the model: `NSSet` and `NSOrderedSet` of objects for relationships.
    open func value(forKey key: String) -> Any? {
        if let record {
            record.note(key)
            return nil
        }
        if let migrated { return migrated.value(forKey: key) }
        guard let base else { return detached[key] }
        return orRaise("\(type(of: self)).value(forKey: \"\(key)\")") {
            do {
                return publicValue(try base.value(forKey: key), key)
            } catch let error as MigrationError where error.code == .objectGone {
                guard base.context?.shouldDeleteInaccessibleFaults == true else { throw error }
                return nil
            } catch let error as MigrationError where error.code == .dataConflict {
                // The store holds what the attribute cannot be. The row keeps it until another value is set.
                return nil
            }
        }
    }

    /// Sets a value by a name of the model.
    open func setValue(_ value: Any?, forKey key: String) {
        if let migrated {
            orRaise("\(type(of: self)).setValue(_:forKey: \"\(key)\")") { try migrated.setValue(value, forKey: key) }
            return
        }
        guard let base else {
            detached[key] = value
            return
        }
        orRaise("\(type(of: self)).setValue(_:forKey: \"\(key)\")") {
            base.context?.note(self)
            try base.setValue(try stored(value, key), forKey: key)
        }
    }

    /// The value that a key path leads to.
    open func value(forKeyPath keyPath: String) -> Any? {
        if let record {
            record.note(keyPath)
            return nil
        }
        if migrated != nil {
            return keyPath.split(separator: ".").reduce(self) { owner, key in
                (owner as? NSManagedObject)?.value(forKey: String(key)) as Any
            }
        }
        return orRaise("\(type(of: self)).value(forKeyPath: \"\(keyPath)\")") {
            do {
                return publicValue(try base?.value(forKeyPath: keyPath))
            } catch let error as MigrationError where error.code == .dataConflict {
                return nil
            }
        }
    }

    /// Sets a value by a key path through to-one relationships.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let parts = keyPath.split(separator: ".").map(String.init)
        var owner: NSManagedObject? = self
        for part in parts.dropLast() { owner = owner?.value(forKey: part) as? NSManagedObject }
        if let last = parts.last { owner?.setValue(value, forKey: last) }
    }

    /// Sets values by the names of a dictionary.
    open func setValuesForKeys(_ values: [String: Any]) {
        for (key, value) in values { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// Values by their names.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        keys.reduce(into: [:]) { $0[$1] = value(forKey: $1) ?? NSNull() }
    }

    // MARK: - For the module

    /// Moves a detached object, and its values, into a context.
    func move(to base: ObjectBase) {
        self.base = base
        let values = detached
        detached = [:]
        for (key, value) in values { setValue(value, forKey: key) }
    }

    var entityIfDetached: NSEntityDescription? { base == nil ? detachedEntity : nil }

    func typedValue<Value>(_ key: String) -> Value {
        let found = value(forKey: key)
        if let value = TypedValue.cast(found, to: Value.self) { return value }
        if record != nil {
            raise("NSSortDescriptor(keyPath:)", "\(type(of: self)).\(key) is not optional; name the key instead.")
        }
        raise(
            "\(type(of: self)).\(key)",
            found.map { "The value is a \(type(of: $0)), not a \(Value.self)." } ?? "The property has no value.")
    }

    func setTypedValue<Value>(_ value: Value, _ key: String) { setValue(unwrapped(value), forKey: key) }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        guard let base, let context = base.managedObjectContext else { return false }
        return try context.graph().holds(predicate, variables: variables, for: base.object)
    }

    private func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first?.value
    }

    /// The object, with its entity and its identity.
    open override var description: String { "<\(type(of: self)): \(objectID)>" }
}
