import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

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
/// row is gone) ends the program with the reason. A subclass declares its properties with ``NSManaged``.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    private(set) var storedObject: Object?
    private(set) weak var context: ManagedObjectContext?
    var isKept = false
    var isAwake = false
    /// Whether the context notes that the object was touched since the last notification of changes.
    var isTouched = false
    /// Set of an object that no context has.
    private(set) var detached: DetachedObject?

    /// Called by the context.
    public required init(_ handle: NSManagedObjectHandle) {
        storedObject = handle.object
        context = handle.context
        detached = handle.detached
    }

    /// A new object of the class's entity. Ends the program if the model has none.
    public convenience init(context: NSManagedObjectContext) {
        self.init(context.newHandle(context.entityName(for: Self.self, call: "\(Self.self)(context:)")))
        context.show(self)
    }

    /// A new object of an entity; without a context until ``NSManagedObjectContext/insert(_:)``.
    public convenience init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        guard let context else {
            self.init(NSManagedObjectHandle(detached: DetachedObject(entity)))
            return
        }
        let name = entity.name ?? ""
        context.persistentStoreCoordinator?.base.classes.registerIfNone(Self.self, entity: name)
        self.init(context.newHandle(name))
        context.show(self)
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
    open func validateValue(_ value: Any?, forKey key: String) throws { try cocoaErrors { try validate(value, key) } }
    /// Checks a new object before it is saved.
    open func validateForInsert() throws { try cocoaErrors { try validate { try $0.validateForInsert() } } }
    /// Checks a changed object before it is saved.
    open func validateForUpdate() throws { try cocoaErrors { try validate { try $0.validateForUpdate() } } }
    /// Checks that an object may be deleted.
    open func validateForDelete() throws { try cocoaErrors { try validate { try $0.validateForDelete() } } }

    // MARK: - Values

    /// The value under a name of the model: `NSSet` and `NSOrderedSet` of objects for relationships.
    open func value(forKey key: String) -> Any? {
        guard let storedObject else { return detached?.value(forKey: key) }
        return readable("value(forKey: \"\(key)\")") { try read(key, of: storedObject) }
    }

    /// Sets a value by a name of the model.
    open func setValue(_ value: Any?, forKey key: String) {
        orRaise("\(type(of: self)).setValue(_:forKey: \"\(key)\")") {
            guard let storedObject else {
                try detached?.setValue(value, forKey: key)
                return
            }
            noteChange()
            try access { try write(value, key, of: storedObject) }
        }
    }

    /// The value that a key path leads to.
    open func value(forKeyPath keyPath: String) -> Any? {
        guard let storedObject else { return detached?.value(forKeyPath: keyPath, of: self) }
        return readable("value(forKeyPath: \"\(keyPath)\")") {
            switch try read(keyPath: keyPath, of: storedObject) {
            case let list as [NSManagedObject]: NSOrderedSet(array: list)
            case let number as Decimal: NSDecimalNumber(decimal: number)
            case let value: value
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

    /// The object, with its entity and its identity.
    open override var description: String { "<\(type(of: self)): \(objectID)>" }

    // MARK: - For the module

    /// Runs a reading. What the store does not have, or holds as what the attribute cannot be, is nil: the row keeps it
    /// until another value is set.
    private func readable(_ call: @autoclosure () -> String, _ body: () throws -> Any?) -> Any? {
        do {
            return try access(body)
        } catch let error as MigrationError where error.code == .dataConflict {
            return nil
        } catch let error as MigrationError
            where error.code == .objectGone && managedObjectContext?.shouldDeleteInaccessibleFaults == true
        {
            return nil
        } catch {
            raise("\(type(of: self)).\(call())", "\(error)")
        }
    }

    /// Moves a detached object, and its values, into a context.
    func move(to handle: NSManagedObjectHandle) {
        let values = detached?.values ?? [:]
        (storedObject, context, detached) = (handle.object, handle.context, nil)
        storedObject?.publicObject = self
        for (key, value) in values { setValue(value, forKey: key) }
    }

    /// Has the context keep the object until the next save, and note that it was touched.
    func noteChange() { if !isKept || !isTouched { managedObjectContext?.note(self) } }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        guard let storedObject, let context else { return false }
        return try context.graph().holds(predicate, variables: variables, for: storedObject)
    }
}

/// The handle that an object is made of, mostly by a context; an app cannot create one.
public struct NSManagedObjectHandle {
    var object: Object?
    var context: ManagedObjectContext?
    var detached: DetachedObject?
}

/// The contents of an object without a context, in the place of a stored one.
final class DetachedObject {
    let entity: NSEntityDescription?
    var values: [String: Any] = [:]
    /// Takes down the keys that are asked for, where that is all the object is for.
    var record: ManagedKey?
    /// The values of an object that a running migration has.
    var migrated: MigratedValues?

    init(_ entity: NSEntityDescription? = nil) { self.entity = entity }

    func value(forKey key: String) -> Any? {
        record?.note(key)
        return migrated?.value(forKey: key) ?? values[key]
    }

    func setValue(_ value: Any?, forKey key: String) throws {
        if let migrated {
            try migrated.setValue(value, forKey: key)
        } else {
            values[key] = value
        }
    }

    func value(forKeyPath keyPath: String, of object: NSManagedObject) -> Any? {
        record?.note(keyPath)
        guard migrated != nil else { return nil }
        return keyPath.split(separator: ".").reduce(object) { owner, key in
            (owner as? NSManagedObject)?.value(forKey: String(key)) as Any
        }
    }
}

/// The modules whose classes have been used: a model names a class without its module.
private let usedModules = Mutex<Set<String>>([])

extension NSManagedObject: PublicObject {
    static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject {
        let made = Self(NSManagedObjectHandle(object: object, context: context))
        (context.publicContext as? NSManagedObjectContext)?.retained?.insert(made)
        return made
    }

    static func group(_ objects: [Object], as form: ObjectGroup, in context: ManagedObjectContext?) throws -> Any {
        let shown = try context?.publicObjects(objects, as: NSManagedObject.self) ?? []
        return switch form {
        case .set: NSSet(array: shown)
        case .orderedSet: NSOrderedSet(array: shown)
        case .list: shown
        }
    }

    static var base: any PublicObject.Type { NSManagedObject.self }

    static var modules: Set<String> { usedModules.withLock { $0 } }

    static func noteModule() {
        let module = NSStringFromClass(Self.self).split(separator: ".").first.map(String.init)
        if let module { usedModules.withLock { _ = $0.insert(module) } }
    }

    static func find(_ className: String, in modules: Set<String>) -> (any PublicObject.Type)? {
        let plain = className.hasPrefix(".") ? String(className.dropFirst()) : className
        if plain.contains("."), let type = NSClassFromString(plain) as? NSManagedObject.Type { return type }
        for module in modules.sorted() {
            if let type = NSClassFromString("\(module).\(plain)") as? NSManagedObject.Type { return type }
        }
        return nil
    }

    static func storedObjects(_ value: Any) -> [Object]? {
        switch value {
        case let object as NSManagedObject: [object.storedObject].compactMap(\.self)
        case let set as NSSet: set.allObjects.compactMap { ($0 as? NSManagedObject)?.storedObject }
        case let list as NSOrderedSet: list.array.compactMap { ($0 as? NSManagedObject)?.storedObject }
        case let set as Set<NSManagedObject>: set.compactMap(\.storedObject)
        case let list as [NSManagedObject]: list.compactMap(\.storedObject)
        default: nil
        }
    }

    static var takesFoundationClasses: Bool { true }

    static func transformer(_ name: String?, in context: ManagedObjectContext?) -> AnyAttributeTransformer? {
        AnyAttributeTransformer(TransformerBridge(name))
    }
}

// MARK: - State

extension NSManagedObject {
    /// Changes once: when the first save makes a temporary one permanent.
    public var objectID: NSManagedObjectID {
        storedObject?.id ?? detached?.migrated?.object.objectID
            ?? NSManagedObjectID(temporary: 0, entityName: detached?.entity?.name ?? "")
    }
    /// The object's own entity.
    public var entity: NSEntityDescription {
        if let detached = detached?.entity { return detached }
        let name = objectID.entityName
        if let entity = managedObjectContext?.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] {
            return entity
        }
        raise("\(type(of: self)).entity", "The object has left its context.")
    }
    /// The context; nil once it is gone, and for an object that is in none.
    public var managedObjectContext: NSManagedObjectContext? { context?.publicContext as? NSManagedObjectContext }
    /// Whether the object's values are still to be read.
    public var isFault: Bool { storedObject?.isFault ?? false }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { storedObject?.isInserted ?? false }
    /// Whether the next save changes the object.
    public var isUpdated: Bool { storedObject?.isUpdated ?? false }
    /// Whether the next save deletes the object.
    public var isDeleted: Bool { storedObject?.isDeleted ?? false }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { storedObject?.hasChanges ?? false }
    /// Whether a saved object differs from what the store holds.
    public var hasPersistentChangedValues: Bool {
        isInserted || changedValues().keys.contains { entity.propertiesByName[$0]?.isTransient == false }
    }

    /// Returns the values that were set since the last save and differ from the saved ones.
    public func changedValues() -> [String: Any] { values("changedValues()") { try $0.changedValues() } }
    /// Returns the earlier values of the stored properties that have changed since the context last posted
    /// ``NSManagedObjectContext/didChangeObjectsNotification``; the observers of that notification still get them. Nil
    /// values are `NSNull`.
    public func changedValuesForCurrentEvent() -> [String: Any] {
        values("changedValuesForCurrentEvent()") { try $0.valuesBeforeEvent() }
    }
    /// Returns the values that the store holds of these properties.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        values("committedValues(forKeys:)") { try $0.committedValues(keys) }
    }
    private func values(
        _ call: @autoclosure () -> String, _ values: (Object) throws -> [String: ObjectValue]
    ) -> [String: Any] {
        guard let storedObject else { return [:] }
        return orRaise("\(type(of: self)).\(call())") { try read(try values(storedObject), of: storedObject) }
    }
    /// Whether a relationship has not been read yet; asking reads nothing.
    public func hasFault(forRelationshipNamed key: String) -> Bool { isFault }
    /// The identities of a relationship's destinations, none of which is read.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let storedObject else { return [] }
        return orRaise("\(type(of: self)).objectIDs(forRelationshipNamed: \"\(key)\")") {
            try access { try objectIDs(key, of: storedObject) }
        }
    }

    // MARK: - Accessors

    /// The same as ``value(forKey:)``: no accessor lies between a value and its key.
    public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }
    /// The same as ``setValue(_:forKey:)``.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) { setValue(value, forKey: key) }
    /// Reads the object if it is a fault, as an accessor of one's own does before it reads.
    public func willAccessValue(forKey key: String?) { if isFault, let key { _ = value(forKey: key) } }
    /// Reads nothing more: the end of an accessor that reads. Checks that the key exists.
    public func didAccessValue(forKey key: String?) { check(key, "didAccessValue(forKey:)") }
    /// Tells the context that the object changes, as an accessor of one's own does before it writes.
    public func willChangeValue(forKey key: String) {
        check(key, "willChangeValue(forKey:)")
        noteChange()
    }
    /// Tells the context that the object has changed.
    public func didChangeValue(forKey key: String) {
        check(key, "didChangeValue(forKey:)")
        noteChange()
    }

    private func check(_ key: String?, _ call: String) {
        guard let key, storedObject != nil, entity.propertiesByName[key] == nil else { return }
        raise("\(type(of: self)).\(call)", "The entity \(entity.name ?? "") has no property \(key).")
    }

    /// The destinations of a to-many relationship, to be changed one by one.
    public func mutableSetValue(forKey key: String) -> NSManagedSet { NSManagedSet(self, key) }
    /// The destinations of an ordered relationship, to be changed one by one.
    public func mutableOrderedSetValue(forKey key: String) -> NSManagedOrderedSet { NSManagedOrderedSet(self, key) }
}

extension NSManagedObjectID: NSFetchRequestResult {}

extension NSManagedObjectID {
    /// The entity of the object, in the model that its store is open with; without such a store, in the newest model that
    /// is open and has it. Ends the program if there is none.
    public var entity: NSEntityDescription { NSPersistentStoreCoordinator.openEntity(of: self) }
    /// The store of the object; nil before its first save, and if that store is not open.
    public var persistentStore: NSPersistentStore? { NSPersistentStoreCoordinator.openStore(of: self) }
}
