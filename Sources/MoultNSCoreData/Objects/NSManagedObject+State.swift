import Foundation
import MoultCoreData
import MoultModel

extension NSManagedObject {
    /// Changes once: when the first save makes a temporary one permanent.
    public var objectID: NSManagedObjectID {
        if let base { return base.objectID }
        if let migrated { return migrated.objectID }
        return NSManagedObjectID(temporary: 0, entityName: entityIfDetached?.name ?? "")
    }
    /// The object's own entity.
    public var entity: NSEntityDescription {
        if let detached = entityIfDetached { return detached }
        let name = objectID.entityName
        if let entity = managedObjectContext?.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] {
            return entity
        }
        raise("\(type(of: self)).entity", "The object has left its context.")
    }
    /// The context; nil once it is gone, and for an object that is in none.
    public var managedObjectContext: NSManagedObjectContext? { base?.context }
    /// Whether the object's values are still to be read.
    public var isFault: Bool { base?.isFault ?? false }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { base?.isInserted ?? false }
    /// Whether the next save changes the object.
    public var isUpdated: Bool { base?.isUpdated ?? false }
    /// Whether the next save deletes the object.
    public var isDeleted: Bool { base?.isDeleted ?? false }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { base?.hasChanges ?? false }
    /// Whether a saved object differs from what the store holds.
    public var hasPersistentChangedValues: Bool {
        isInserted || changedValues().keys.contains { entity.propertiesByName[$0]?.isTransient == false }
    }

    /// Returns the values that were set since the last save and differ from the saved ones.
    public func changedValues() -> [String: Any] {
        orRaise("\(type(of: self)).changedValues()") {
            (try base?.changedValues() ?? [:]).mapValues { publicValue($0) ?? NSNull() }
        }
    }
    /// Returns the earlier values of the stored properties that have changed since the context last posted
    /// ``NSManagedObjectContext/didChangeObjectsNotification``; the observers of that notification still get them. Nil
    /// values are `NSNull`.
    public func changedValuesForCurrentEvent() -> [String: Any] {
        orRaise("\(type(of: self)).changedValuesForCurrentEvent()") {
            (try base?.valuesBeforeEvent() ?? [:]).mapValues { publicValue($0) ?? NSNull() }
        }
    }
    /// Returns the values that the store holds of these properties.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        orRaise("\(type(of: self)).committedValues(forKeys:)") {
            (try base?.committedValues(forKeys: keys) ?? [:]).mapValues { publicValue($0) ?? NSNull() }
        }
    }
    /// Whether a relationship has not been read yet; asking reads nothing.
    public func hasFault(forRelationshipNamed key: String) -> Bool { isFault }
    /// The identities of a relationship's destinations, none of which is read.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        orRaise("\(type(of: self)).objectIDs(forRelationshipNamed: \"\(key)\")") {
            try base?.objectIDs(forRelationshipNamed: key) ?? []
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
        base?.context?.note(self)
    }
    /// Tells the context that the object has changed.
    public func didChangeValue(forKey key: String) {
        check(key, "didChangeValue(forKey:)")
        base?.context?.note(self)
    }

    private func check(_ key: String?, _ call: String) {
        guard let key, base != nil, entity.propertiesByName[key] == nil else { return }
        raise("\(type(of: self)).\(call)", "The entity \(entity.name ?? "") has no property \(key).")
    }

    /// The destinations of a to-many relationship, to be changed one by one.
    public func mutableSetValue(forKey key: String) -> NSManagedSet { NSManagedSet(self, key) }
    /// The destinations of an ordered relationship, to be changed one by one.
    public func mutableOrderedSetValue(forKey key: String) -> NSManagedOrderedSet { NSManagedOrderedSet(self, key) }

    // MARK: - Conversion

    /// As Core Data gives it: sets and lists of objects as `NSSet` and `NSOrderedSet`, decimals as `NSDecimalNumber`.
    func publicValue(_ value: Any?, _ key: String? = nil) -> Any? {
        switch value {
        case let object as ObjectBase: return object.face
        case let set as Set<ManagedObject>: return NSSet(array: set.compactMap { ($0 as? ObjectBase)?.face })
        case let list as [ManagedObject]:
            let faces = list.compactMap { ($0 as? ObjectBase)?.face }
            let isFetched = key.map { entity.propertiesByName[$0] is NSFetchedPropertyDescription } ?? false
            return isFetched ? faces as Any : NSOrderedSet(array: faces)
        case let number as Decimal: return NSDecimalNumber(decimal: number)
        case let data as Data: return reverseTransformed(data, key)
        default: return value
        }
    }

    /// As MoultCoreData takes it.
    func moultValue(_ value: Any?) -> Any? {
        switch value {
        case let object as NSManagedObject: object.base
        case let set as NSSet: set.allObjects.compactMap { ($0 as? NSManagedObject)?.base }
        case let set as NSOrderedSet: set.array.compactMap { ($0 as? NSManagedObject)?.base }
        case let set as Set<NSManagedObject>: set.compactMap(\.base)
        case let list as [NSManagedObject]: list.compactMap(\.base)
        default: plainValue(value)
        }
    }

    func stored(_ value: Any?, _ key: String) throws -> Any? {
        guard let value, !(value is NSNull), let attribute = base?.entity.attribute(key) ?? inherited(key) else {
            return moultValue(value)
        }
        guard attribute.type == .transformable, attribute.valueTransformerName == nil else {
            return attribute.type == .transformable ? value : moultValue(value)
        }
        return AttributeValue.transformable([UInt8](try TransformerBridge(nil).data(from: value)))
    }

    private func inherited(_ key: String) -> AttributeDescription? {
        let model = base?.managedObjectContext?.persistentStoreCoordinator?.managedObjectModel
        return base.flatMap { model?.attribute(key, of: $0.entity) }
    }

    private func reverseTransformed(_ data: Data, _ key: String?) -> Any? {
        guard let key, let attribute = base?.entity.attribute(key) ?? inherited(key),
            attribute.type == .transformable, attribute.valueTransformerName == nil
        else { return data }
        return orRaise("\(type(of: self)).value(forKey: \"\(key)\")") { try TransformerBridge(nil).value(from: data) }
            as Any
    }
}

extension NSManagedObjectID: NSFetchRequestResult {}

extension NSManagedObjectID {
    /// The entity of the object, in the model that its store is open with; without such a store, in the newest model that
    /// is open and has it. Ends the program if there is none.
    public var entity: NSEntityDescription { NSPersistentStoreCoordinator.openEntity(of: self) }
    /// The store of the object; nil before its first save, and if that store is not open.
    public var persistentStore: NSPersistentStore? { NSPersistentStoreCoordinator.openStore(of: self) }
}
