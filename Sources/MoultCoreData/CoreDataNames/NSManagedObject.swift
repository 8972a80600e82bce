import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization

/// The events that change an object without setting its values one by one.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// Core Data's number.
    public let rawValue: UInt
    /// Creates a set of events from Core Data's number.
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
/// If Core Data would raise an exception (for a key that the entity does not have, a value of the wrong type, an object
/// whose row no longer exists), the program ends with the reason. A subclass declares its properties with
/// ``NSManaged``.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    private(set) var storedObject: Object?
    private(set) weak var context: ManagedObjectContext?
    var isKept = false
    var isAwake = false
    /// Whether the context has noted a change of the object since the last change notification.
    var isTouched = false
    /// Whether the object was deleted before its first save, and the context has not processed that yet.
    var isLeaving = false
    /// The contents of an object that is in no context.
    private(set) var detached: DetachedObject?

    /// Creates an object of an entity. If `context` is nil, it has no context until
    /// ``NSManagedObjectContext/insert(_:)``.
    ///
    /// A context calls it as well, for every object that it shows: an override runs for fetched objects too, as in Core
    /// Data.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init()
        if let handle = NSManagedObjectHandle.Pending.take(for: Self.self) {
            (storedObject, self.context, detached) = (handle.object, handle.context, handle.detached)
        } else if let context {
            let name = entity.name ?? ""
            context.persistentStoreCoordinator?.base.classes.registerIfNone(Self.self, entity: name)
            let handle = context.newHandle(name)
            (storedObject, self.context) = (handle.object, handle.context)
            context.show(self)
        } else {
            detached = DetachedObject(entity)
        }
    }

    /// Creates an object of the class's entity. Ends the program if the model has no such entity.
    public convenience init(context: NSManagedObjectContext) {
        self.init(entity: context.entity(of: Self.self, call: "\(Self.self)(context:)"), insertInto: context)
    }

    /// Whether a change of a property that the model does not have is no change of the object: always true, because such
    /// a change is not noticed.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Returns the entity of the class in the one open model that has it.
    open class func entity() -> NSEntityDescription { NSPersistentStoreCoordinator.openEntity(of: Self.self) }

    /// Returns a fetch request for all objects of the class's entity.
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest<any NSFetchRequestResult>(ofClass: Self.self)
    }

    // MARK: - Methods to override

    /// Called once for a new object, after its defaults are set.
    open func awakeFromInsert() {}
    /// Called when the values of a saved object are first read.
    open func awakeFromFetch() {}
    /// Called after an undo, a redo or a rollback has changed the object, so that a class can recompute derived values.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before a save.
    open func willSave() {}
    /// Called after a save.
    open func didSave() {}
    /// Called before the object is marked as deleted.
    open func prepareForDeletion() {}
    /// Called before ``NSManagedObjectContext/refresh(_:mergeChanges:)`` turns the object into a fault.
    open func willTurnIntoFault() {}
    /// Called after the object has turned into a fault.
    open func didTurnIntoFault() {}

    /// Validates one value before it is saved.
    open func validateValue(_ value: Any?, forKey key: String) throws { try cocoaErrors { try validate(value, key) } }
    /// Validates a new object before it is saved.
    open func validateForInsert() throws { try cocoaErrors { try validate { try $0.validateForInsert() } } }
    /// Validates a changed object before it is saved.
    open func validateForUpdate() throws { try cocoaErrors { try validate { try $0.validateForUpdate() } } }
    /// Validates that an object may be deleted.
    open func validateForDelete() throws { try cocoaErrors { try validate { try $0.validateForDelete() } } }

    // MARK: - Values

    /// Returns the value for a key of the model. For a relationship it is an `NSSet` or `NSOrderedSet` of objects.
    open func value(forKey key: String) -> Any? {
        guard let storedObject else { return detached?.value(forKey: key) }
        return readable("value(forKey: \"\(key)\")") { try read(key, of: storedObject) }
    }

    /// Sets the value for a key of the model.
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

    /// Returns the value for a key path.
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

    /// Sets the value for a key path through to-one relationships.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let parts = keyPath.split(separator: ".").map(String.init)
        var owner: NSManagedObject? = self
        for part in parts.dropLast() { owner = owner?.value(forKey: part) as? NSManagedObject }
        if let last = parts.last { owner?.setValue(value, forKey: last) }
    }

    /// Sets the values for the keys of a dictionary.
    open func setValuesForKeys(_ values: [String: Any]) {
        for (key, value) in values { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// Returns the values for the given keys.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        keys.reduce(into: [:]) { $0[$1] = value(forKey: $1) ?? NSNull() }
    }

    /// A description with the object's class and identity.
    open override var description: String { "<\(type(of: self)): \(objectID)>" }

    // MARK: - Internal interface

    /// Runs a read. Returns nil for a value that the store does not have or that does not fit the attribute; the row
    /// keeps that value until another is set.
    private func readable(_ call: @autoclosure () -> String, _ body: () throws -> Any?) -> Any? {
        do {
            return try access(body)
        } catch let error as MigrationError where error.code == .dataConflict {
            return nil
        } catch let error as MigrationError
            where error.code == .objectGone
            && formerContext?.shouldHandleInaccessibleFault(
                self, for: objectID, triggeredByProperty: nil) == true
        {
            return nil
        } catch {
            raise("\(type(of: self)).\(call())", "\(error)")
        }
    }

    /// Moves a detached object and its values into a context.
    func move(to handle: NSManagedObjectHandle) {
        let values = detached?.values ?? [:]
        (storedObject, context, detached) = (handle.object, handle.context, nil)
        storedObject?.publicObject = self
        for (key, value) in values { setValue(value, forKey: key) }
    }

    /// Makes the context keep the object until the next save and note the change.
    func noteChange() {
        if storedObject != nil, !isKept || !isTouched { managedObjectContext?.note(self) }
    }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        guard let storedObject, let context else {
            let values = KeyedValues()
            return try predicate.holds(for: values.value(self), variables: variables, in: values)
        }
        return try context.graph().holds(predicate, variables: variables, for: storedObject)
    }
}

/// The state that a public object is created with: a stored object and its context, or contents without a context.
struct NSManagedObjectHandle {
    var object: Object?
    var context: ManagedObjectContext?
    var detached: DetachedObject?

    /// The handle of the object whose initializer runs. The initializer of ``NSManagedObject`` takes it; objects of
    /// other classes that an override creates before are new ones.
    final class Pending: @unchecked Sendable {
        @TaskLocal static var current: Pending?
        private let type: NSManagedObject.Type
        private var handle: NSManagedObjectHandle?

        init(_ handle: NSManagedObjectHandle, for type: NSManagedObject.Type) {
            (self.handle, self.type) = (handle, type)
        }

        static func take(for type: NSManagedObject.Type) -> NSManagedObjectHandle? {
            guard let current, current.type == type else { return nil }
            defer { current.handle = nil }
            return current.handle
        }
    }
}

/// The contents of an object without a context, in place of a stored object.
final class DetachedObject {
    let entity: NSEntityDescription?
    var values: [String: Any] = [:]
    /// A recorder of the requested keys, if the object exists only for that purpose.
    var record: ManagedKey?
    /// The values of an object in a running migration.
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

/// The modules of all classes used so far, because a model names a class without its module.
private let usedModules = Mutex<Set<String>>([])

extension NSManagedObject: PublicObject {
    static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject {
        let shown = context.publicContext as? NSManagedObjectContext
        let entity = shown?.persistentStoreCoordinator?.managedObjectModel.entitiesByName[object.entityName]
        let made = make(
            NSManagedObjectHandle(object: object, context: context), entity ?? NSEntityDescription(), shown)
        shown?.retained?.insert(made)
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
    /// The object's identity. It changes once, when the first save makes a temporary identity permanent.
    public var objectID: NSManagedObjectID {
        storedObject?.id ?? detached?.migrated?.object.objectID
            ?? NSManagedObjectID(temporary: 0, entityName: detached?.entity?.name ?? "")
    }
    /// The object's entity.
    public var entity: NSEntityDescription {
        if let detached = detached?.entity { return detached }
        let name = objectID.entityName
        if let entity = formerContext?.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] {
            return entity
        }
        return NSPersistentStoreCoordinator.openEntity(of: objectID)
    }
    /// The context; nil once it is deallocated, if the object is in no context, and after the object has left it: by
    /// the save of its deletion, by ``NSManagedObjectContext/reset()``, or by a rollback before its first save.
    public var managedObjectContext: NSManagedObjectContext? {
        if let migrated = detached?.migrated { return migrated.context }
        return storedObject?.isDetached == true && !isLeaving ? nil : formerContext
    }
    /// The context of the object, even after the object has left it.
    private var formerContext: NSManagedObjectContext? { context?.publicContext as? NSManagedObjectContext }
    /// Whether the object's values have not been read yet. After ``NSManagedObjectContext/reset()`` it is true.
    public var isFault: Bool { storedObject?.isFault ?? false }
    /// 0 for an object whose values were read; another number for a fault.
    public var faultingState: Int { isFault ? 1 : 0 }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { storedObject?.isInserted ?? false }
    /// Whether the next save updates the object.
    public var isUpdated: Bool { storedObject?.isUpdated ?? false }
    /// Whether the next save deletes the object. For an object that was never saved, it is true until the context
    /// processes its changes, and then false.
    public var isDeleted: Bool { isLeaving || storedObject?.isDeleted ?? false }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { storedObject?.hasChanges ?? false }
    /// Whether the object has changes to stored properties.
    public var hasPersistentChangedValues: Bool {
        isInserted || changedValues().keys.contains { entity.propertiesByName[$0]?.isTransient == false }
    }

    /// Returns the values that were set since the last save and differ from the saved ones.
    public func changedValues() -> [String: Any] { values("changedValues()") { try $0.changedValues() } }
    /// Returns the previous values of the stored properties that have changed since the context last posted
    /// ``NSManagedObjectContext/didChangeObjectsNotification``. Observers of that notification still get them. Nil
    /// values are `NSNull`.
    public func changedValuesForCurrentEvent() -> [String: Any] {
        values("changedValuesForCurrentEvent()") { try $0.valuesBeforeEvent() }
    }
    /// Returns the values of these properties in the store.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        values("committedValues(forKeys:)") { try $0.committedValues(keys) }
    }
    private func values(
        _ call: @autoclosure () -> String, _ values: (Object) throws -> [String: ObjectValue]
    ) -> [String: Any] {
        guard let storedObject else { return [:] }
        return orRaise("\(type(of: self)).\(call())") { try read(try values(storedObject), of: storedObject) }
    }
    /// Returns whether a relationship has not been read yet, without reading it.
    public func hasFault(forRelationshipNamed key: String) -> Bool { isFault }
    /// Returns the identities of a relationship's destinations without reading the objects.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let storedObject else { return [] }
        return orRaise("\(type(of: self)).objectIDs(forRelationshipNamed: \"\(key)\")") {
            try access { try objectIDs(key, of: storedObject) }
        }
    }

    // MARK: - Accessors

    /// Returns the same value as ``value(forKey:)``, because there is no accessor to bypass.
    public func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }
    /// Sets the value like ``setValue(_:forKey:)``.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) { setValue(value, forKey: key) }
    /// Reads the object if it is a fault. Custom accessors call it before they read.
    public func willAccessValue(forKey key: String?) { if isFault, let key, isProperty(key) { _ = value(forKey: key) } }
    /// Does nothing. Custom accessors call it after they read.
    public func didAccessValue(forKey key: String?) {}
    /// Notifies the context that the object is about to change, if the key is that of a property. Custom accessors call
    /// it before they write.
    public func willChangeValue(forKey key: String) { if isProperty(key) { noteChange() } }
    /// Notifies the context that the object has changed, if the key is that of a property.
    public func didChangeValue(forKey key: String) { if isProperty(key) { noteChange() } }

    private func isProperty(_ key: String) -> Bool { storedObject != nil && entity.propertiesByName[key] != nil }

    /// Returns a mutable view of the destinations of a to-many relationship.
    public func mutableSetValue(forKey key: String) -> NSManagedSet { NSManagedSet(self, key) }
    /// Returns a mutable view of the destinations of an ordered relationship.
    public func mutableOrderedSetValue(forKey key: String) -> NSManagedOrderedSet { NSManagedOrderedSet(self, key) }
}

extension NSManagedObjectID: NSFetchRequestResult {}

extension NSManagedObjectID {
    /// The object's entity, in the model with which its store is open or, if the store is not open, in the newest open
    /// model that has the entity. Without such a model it has only its name.
    public var entity: NSEntityDescription { NSPersistentStoreCoordinator.openEntity(of: self) }
    /// The object's store; nil before its first save, and if that store is not open.
    public var persistentStore: NSPersistentStore? { NSPersistentStoreCoordinator.openStore(of: self) }
}
