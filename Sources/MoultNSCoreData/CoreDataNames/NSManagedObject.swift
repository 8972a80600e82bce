import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

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
    /// The object was refreshed. No call has this event.
    public static let refresh = Self(rawValue: 1 << 5)
    /// A merge policy has changed the object. No call has this event.
    public static let mergePolicy = Self(rawValue: 1 << 6)
}

/// One object of a store in one context.
///
/// If Core Data would raise an exception (for a key that the entity does not have, a value of the wrong type), the
/// program ends with the reason. A subclass declares its properties with ``NSManaged``.
///
/// A value that is set on a deleted object stays in memory, and is dropped with it. A relationship that is set to a deleted
/// object, or to one whose row no longer exists, leaves it out, so that no save writes a link to a row that goes.
open class NSManagedObject: NSObject, NSFetchRequestResult {
    package private(set) var storedObject: Object?
    package private(set) weak var context: ManagedObjectContext?
    package var isKept = false
    package var awakening = Awakening.ahead
    /// Whether the context has noted a change of the object since the last change notification.
    var isTouched = false
    /// Whether the object was deleted before its first save, and the context has not processed that yet.
    var isLeaving = false
    /// Whether the row of the object was gone when a value was last read or set.
    private var wasInaccessible = false
    /// The values that were set while the object was deleted or its row was gone, by key. No save writes them.
    private var late: [String: Any?] = [:]
    /// The keys between ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``.
    private var changing: Set<String> = []
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

    /// Returns a fetch request for all objects of the class's entity. A subclass's own method of the same name precedes it.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest<any NSFetchRequestResult>(ofClass: Self.self)
    }

    // MARK: - Methods to override

    /// Called once for a new object, after its defaults are set.
    open func awakeFromInsert() {}
    /// Called at the first access after the values of a saved object were read: again each time that it was a fault.
    /// Attributes of the object that it sets are not changes.
    open func awakeFromFetch() {}
    /// Called after an undo, a redo or a rollback has changed the object, so that a class can recompute derived values.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before a save, and again as long as it changes the object. A save fails after 1000 calls.
    open func willSave() {}
    /// Called after a save. A deleted object is still deleted and in its context, and can be read for the last time.
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

    /// Returns the value for a key of the model. For a relationship it is an `NSSet` or `NSOrderedSet` of objects. For
    /// another key, it returns the result of ``value(forUndefinedKey:)``.
    open func value(forKey key: String) -> Any? {
        stored(key) { own(key) ?? value(forUndefinedKey: key) }
    }

    /// Sets the value for a key of the model. For another key, it calls ``setValue(_:forUndefinedKey:)``.
    open func setValue(_ value: Any?, forKey key: String) {
        store(value, key, isChange: true) { setValue(value, forUndefinedKey: key) }
    }

    /// Called for the value of a key that the model does not have. Ends the program, unless a subclass overrides it.
    open func value(forUndefinedKey key: String) -> Any? { raiseUndefined("value(forKey: \"\(key)\")", key) }

    /// Called to set the value of a key that the model does not have. Ends the program, unless a subclass overrides it.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        raiseUndefined("setValue(_:forKey: \"\(key)\")", key)
    }

    /// Called to set nil for a scalar property of a class that the model does not have. Ends the program, unless a
    /// subclass overrides it. ``setValue(_:forKey:)`` does not call it: it stores nil, also for a key of the model whose
    /// property is a number, as in Core Data.
    open func setNilValueForKey(_ key: String) {
        raise("\(type(of: self)).setNilValueForKey(_:)", "could not set nil as the value for the key \(key).")
    }

    /// Returns the value for a key path. Each step is a call of ``value(forKey:)``. The values over a set of objects are
    /// an `NSSet`, those over an ordered set an `NSOrderedSet`; both leave out nil.
    open func value(forKeyPath keyPath: String) -> Any? {
        if let record = detached?.record {
            record.note(keyPath)
            return nil
        }
        return orRaise("\(type(of: self)).value(forKeyPath: \"\(keyPath)\")") {
            try KeyPathWalk(keyPath).value(of: self)
        }
    }

    /// Sets the value for a key path: of the object that a to-one relationship leads to, of each object that a to-many
    /// relationship leads to, or of an element of a composite attribute. A relationship without a destination sets
    /// nothing, as in Core Data. Ends the program for any other path.
    open func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let path = KeyPathWalk(keyPath).steps else { return setValue(value, forKey: keyPath) }
        let owner = self.value(forKey: path.first)
        if isComposite(path.first) {
            // Elements that cannot be read keep their values.
            if owner == nil, isThere { return setValue(value, forKey: keyPath) }
            let elements = path.rest.split(separator: ".").map(String.init)
            let changed = Self.setting(value, at: elements[...], in: owner as? [String: Any] ?? [:])
            return setValue(changed, forKey: path.first)
        }
        switch owner {
        case nil: break
        case let object as NSManagedObject: object.setValue(value, forKeyPath: path.rest)
        case let objects as NSSet:
            for case let object as NSManagedObject in objects { object.setValue(value, forKeyPath: path.rest) }
        case let objects as NSOrderedSet:
            for case let object as NSManagedObject in objects { object.setValue(value, forKeyPath: path.rest) }
        case let other?:
            raise(
                "\(type(of: self)).setValue(_:forKeyPath: \"\(keyPath)\")",
                "\(path.first) is a \(type(of: other)), whose \(path.rest) cannot be set.")
        }
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

    /// Returns a stored value, whatever a subclass overrides; for a key that the model does not have, that of `other`.
    private func stored(_ key: String, otherwise other: () -> Any?) -> Any? {
        if let detached {
            return detached.has(key) ? detached.value(forKey: key) : other()
        }
        guard let storedObject else { return nil }
        if !late.isEmpty {
            if isThere { late = [:] } else if let value = late[key] { return value }
        }
        var isUnknown = false
        let value = readable("value(forKey: \"\(key)\")") {
            do { return try read(key, of: storedObject) } catch let error as MigrationError
                where error.code == .unknownKey && !has(key, storedObject)
            {
                isUnknown = true
                return nil
            } catch let error as MigrationError
                where storedObject.isInFile(key) && storedObject.noteFailedRead(key, error)
            {
                // Core Data reads nil where it cannot read a file. The next save throws the error.
                return nil
            }
        }
        return isUnknown ? other() : value
    }

    /// Sets a stored value, whatever a subclass overrides; for a key that the model does not have, runs `other`.
    private func store(_ value: Any?, _ key: String, isChange: Bool, otherwise other: () -> Void) {
        let isKnown = orRaise("\(type(of: self)).setValue(_:forKey: \"\(key)\")") { () throws -> Bool in
            if let detached {
                guard detached.has(key) else { return false }
                try detached.setValue(value, forKey: key)
                return true
            }
            guard let storedObject else { return true }
            guard has(key, storedObject) else { return false }
            if isChange { noteChange() }
            do {
                try access { try write(value, key, of: storedObject, isChange: isChange) }
            } catch {
                try store(value, key, of: storedObject, despite: error)
            }
            return true
        }
        if !isKnown { other() }
    }

    /// Sets a value that was refused because the object or a destination is deleted, because its row is gone, by the
    /// transformer of its attribute, or because the file of the present value could not be read.
    private func store(_ value: Any?, _ key: String, of object: Object, despite error: any Error) throws {
        guard let known = error as? MigrationError else { throw error }
        let code = known.code
        if object.hasFailedRead(key), object.noteFailedRead(key, known) { return }
        if code == .wrongType, case .attribute(_, let attribute)? = object.shape[key], attribute.type == .transformable,
            let context
        {
            // The transformer makes no data of the value. The next save throws that.
            return context.note(error)
        }
        guard code == .usage || code == .objectGone else { throw error }
        let isLost = code == .objectGone && object.isFault
        if isLost, !isHandledLoss(error) { throw error }
        if isLost || !isThere {
            late.updateValue(try lateForm(value, key, of: object), forKey: key)
            return
        }
        let given = value.flatMap(Self.storedObjects) ?? []
        let present = given.filter { !$0.isLost(to: object) }
        do {
            guard present.count < given.count, case .relationship(let relationship, _)? = object.shape[key] else {
                throw error
            }
            try access {
                if relationship.isToMany {
                    try object.setToMany(key, present)
                } else {
                    try object.setToOne(key, nil)
                }
            }
        } catch let error where isHandledLoss(error) && isInaccessible {
            // The objects were read, but not a list that changes with the value, and its store is gone.
            late.updateValue(try lateForm(value, key, of: object), forKey: key)
        }
    }

    /// Returns a value in the form in which it is read.
    private func lateForm(_ value: Any?, _ key: String, of object: Object) throws -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        switch object.shape[key] {
        case .attribute(_, let attribute)?:
            let conversion = conversion(of: attribute, key, of: object)
            return try conversion.attributeValue(value).map { try conversion.foundation($0) }
        case .relationship(let relationship, _)? where relationship.isToMany:
            return try Self.group(Self.storedObjects(value) ?? [], as: .init(relationship), in: context)
        default: return value
        }
    }

    /// Whether the object can be changed: it is not deleted, and has a context and a row.
    private var isThere: Bool {
        context != nil && storedObject?.isChangeable == true && !isInaccessible
    }

    /// Whether the row of the object was gone when a value was last read or set, and still is. An object that was read
    /// has its row as long as its store is open.
    private var isInaccessible: Bool {
        guard wasInaccessible, let storedObject, !storedObject.isDetached else { return false }
        if storedObject.isFault {
            wasInaccessible = (try? access {}) == nil
        } else {
            let open = context?.persistentStoreCoordinator?.objects
            wasInaccessible = storedObject.id.store.map { open?.store($0) == nil } ?? false
        }
        return wasInaccessible
    }

    /// Returns the values that were set while the object was deleted, and forgets them.
    func takeLate() -> [String: Any?] {
        defer { late = [:] }
        return late
    }

    /// Returns the value of a property of this class.
    private func own(_ key: String) -> Any? {
        switch key {
        case "self": self
        case "objectID": objectID
        case "entity": entity
        case "managedObjectContext": managedObjectContext
        default: nil
        }
    }

    /// Returns the value for a key path by the rules of predicates.
    func evaluated(_ keyPath: String) -> Any? {
        guard let storedObject else { raiseUndefined("value(forKeyPath: \"\(keyPath)\")", keyPath) }
        return readable("value(forKeyPath: \"\(keyPath)\")") {
            switch try read(keyPath: keyPath, of: storedObject) {
            case let list as [NSManagedObject]: NSOrderedSet(array: list)
            case let number as Decimal: NSDecimalNumber(decimal: number)
            case let value: value
            }
        }
    }

    private func raiseUndefined(_ call: String, _ key: String) -> Never {
        guard let storedObject else { raise("\(type(of: self)).\(call)", "The entity has no property \(key).") }
        raise("\(type(of: self)).\(call)", "\(unknownKey(key, of: storedObject))")
    }

    private func isComposite(_ key: String) -> Bool {
        if let storedObject { return storedObject.shape.isComposite(key) }
        return detached?.entity?.attributesByName[key] is NSCompositeAttributeDescription
    }

    /// Runs a read. Returns nil for a value that the store does not have or that does not fit the attribute; the row
    /// keeps that value until another is set.
    private func readable(_ call: @autoclosure () -> String, _ body: () throws -> Any?) -> Any? {
        unlessLost(call(), nil) {
            do { return try access(body) } catch let error as MigrationError where error.code == .dataConflict {
                return nil
            }
        }
    }

    /// Returns the result of `body`, or `lost` if the object is gone.
    private func unlessLost<Result>(
        _ call: @autoclosure () -> String, _ lost: Result, _ body: () throws -> Result
    ) -> Result {
        do {
            return try body()
        } catch let error where isHandledLoss(error) {
            return lost
        } catch {
            raise("\(type(of: self)).\(call())", "\(error)")
        }
    }

    /// Whether an error says that the object or its context is gone, and the context takes that for a deletion.
    private func isHandledLoss(_ error: any Error) -> Bool {
        guard let error = error as? MigrationError, error.code == .objectGone || context == nil,
            formerContext?.shouldHandleInaccessibleFault(self, for: objectID, triggeredByProperty: nil) ?? true
        else { return false }
        wasInaccessible = context != nil && storedObject?.isDetached == false
        return true
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
        if storedObject != nil, awakening != .running, !isKept || !isTouched { managedObjectContext?.note(self) }
    }

    func holds(_ predicate: MoultModel.Predicate, _ variables: [String: ExpressionValue]) throws -> Bool {
        if let storedObject, let context {
            do {
                return try access { try context.graph().holds(predicate, variables: variables, for: storedObject) }
            } catch let error where isHandledLoss(error) {}
        }
        let values = KeyedValues()
        return try predicate.holds(for: values.value(self), variables: variables, in: values)
    }
}

// MARK: - State

extension NSManagedObject {
    /// The object's identity. It changes once, when the first save makes a temporary identity permanent.
    public var objectID: NSManagedObjectID {
        storedObject?.seenID ?? detached?.migrated?.object.objectID ?? detached?.objectID
            ?? NSManagedObjectID(temporary: 0, entityName: "")
    }
    /// The object's entity.
    public var entity: NSEntityDescription {
        if let detached = detached?.entity { return detached }
        // The context keeps every identity that an app has seen.
        let name = storedObject?.entityName ?? objectID.entityName
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
    var formerContext: NSManagedObjectContext? { context?.publicContext as? NSManagedObjectContext }
    /// Whether no value of the object has been accessed since it was fetched. After
    /// ``NSManagedObjectContext/reset()`` it is true.
    public var isFault: Bool { storedObject?.isUnread ?? false }
    /// 0 for an object whose values were read; another number for a fault.
    public var faultingState: Int { isFault ? 1 : 0 }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { storedObject?.isInserted ?? false }
    /// Whether the next save updates the object.
    public var isUpdated: Bool { storedObject?.isUpdated ?? false }
    /// Whether the next save deletes the object, or an access has found that its row no longer exists. For an object that
    /// was never saved, it is true until the context processes its changes, and then false.
    public var isDeleted: Bool {
        isLeaving || storedObject?.isDeleted ?? false || isInaccessible && storedObject?.isFault == true
    }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { storedObject?.hasChanges ?? false }
    /// Whether the object has changes to stored properties.
    public var hasPersistentChangedValues: Bool {
        isInserted || changedValues().keys.contains { entity.propertiesByName[$0]?.isTransient != true }
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
        return unlessLost(call(), [:]) { try read(try values(storedObject), of: storedObject) }
    }
    /// Returns whether a relationship has not been read yet, without reading it: for a to-one relationship, whether the
    /// destination is not in memory.
    public func hasFault(forRelationshipNamed key: String) -> Bool { storedObject?.isUnread(key) ?? false }
    /// Returns the identities of a relationship's destinations without reading the objects.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let storedObject else { return [] }
        return unlessLost("objectIDs(forRelationshipNamed: \"\(key)\")", []) {
            try access { try objectIDs(key, of: storedObject) }
        }
    }

    // MARK: - Accessors

    /// Returns the value for a key of the model, without a call of ``value(forKey:)``. Custom accessors call it.
    public func primitiveValue(forKey key: String) -> Any? {
        stored(key) { raiseUndefined("primitiveValue(forKey: \"\(key)\")", key) }
    }
    /// Sets the value for a key of the model, without a call of ``setValue(_:forKey:)``. Custom accessors call it. A
    /// transient attribute becomes a change only after ``willChangeValue(forKey:)``; a stored property always does.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) {
        if !changing.contains(key), let storedObject { context?.notePrimitive(key, of: storedObject) }
        let isChange = changing.contains(key) || storedObject?.shape.isTransientAttribute(key) != true
        store(value, key, isChange: isChange) { raiseUndefined("setPrimitiveValue(_:forKey: \"\(key)\")", key) }
    }
    /// Reads the object if it is a fault and the key is nil or that of a property. Custom accessors call it before they
    /// read.
    public func willAccessValue(forKey key: String?) {
        guard storedObject != nil, key.map(isProperty) ?? true else { return }
        _ = readable("willAccessValue(forKey:)") { nil }
    }
    /// Does nothing. Custom accessors call it after they read.
    public func didAccessValue(forKey key: String?) {}
    /// Notifies the context that the object is about to change, if the key is that of a property. Custom accessors call
    /// it before they write.
    public func willChangeValue(forKey key: String) {
        guard isProperty(key) else { return }
        changing.insert(key)
        noteChange()
    }
    /// Notifies the context that the object has changed, if the key is that of a property.
    public func didChangeValue(forKey key: String) {
        guard isProperty(key) else { return }
        changing.remove(key)
        noteChange()
    }

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
