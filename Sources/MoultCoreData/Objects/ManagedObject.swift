import Foundation
import MoultModel
import MoultObjects

/// One object of a store in one context: `NSManagedObject`.
///
/// Values are read and set by the names of the model (``value(forKey:)``, ``subscript(_:)``), or through properties of a
/// subclass:
///
///     final class Book: ManagedObject {
///         @Managed("title") var title: String
///         @Managed("author") var author: Author?
///     }
///
/// Objects are not `Sendable`: they belong to their context's turn.
open class ManagedObject {
    package let object: Object
    /// The context that made the object; nil once the context is gone. The object does not keep it.
    public private(set) weak var managedObjectContext: ManagedObjectContext?
    var isKept = false
    var isAwake = false

    /// Called by the context; a subclass that overrides it must call it.
    public required init(_ handle: ManagedObjectHandle) {
        object = handle.object
        managedObjectContext = handle.context
    }

    /// A new object in `context`.
    ///
    /// - Throws: `unknownKey` if the model has no entity for this class.
    public convenience init(context: ManagedObjectContext) throws {
        let handle = try context.withLock { graph in
            let coordinator = try context.coordinator()
            let name = try coordinator.classes.entityName(for: Self.self)
            coordinator.classes.registerIfNone(Self.self, entity: name)
            return ManagedObjectHandle(object: try graph.insert(name), context: context)
        }
        self.init(handle)
        context.turn.withLock {
            object.publicObject = self
            keepWhileChanged()
            awakeFromInsert()
        }
    }

    /// The name of the entity whose objects have this class. Nil, which is the default, finds it by the class's name:
    /// the entity that names the class, otherwise the entity of the same name.
    open class var entityName: String? { nil }

    // MARK: - What a subclass may do at certain moments

    /// Called once for a new object, after its defaults are set.
    open func awakeFromInsert() {}
    /// Called when the values of a saved object are first asked for.
    open func awakeFromFetch() {}
    /// Called before a save, again for what another object's `willSave` changes.
    open func willSave() {}
    /// Called after a save.
    open func didSave() {}
    /// Called before the object is marked as deleted.
    open func prepareForDeletion() {}

    /// Checks one value that is to be saved. A subclass throws what is wrong with it; all failures are told together.
    open func validateValue(_ value: Any?, forKey key: String) throws { try validate(value, key) }
    /// Checks a new object before it is saved.
    open func validateForInsert() throws { try validate { try $0.validateForInsert() } }
    /// Checks a changed object before it is saved.
    open func validateForUpdate() throws { try validate { try $0.validateForUpdate() } }
    /// Checks that an object may be deleted.
    open func validateForDelete() throws { try validate { try $0.validateForDelete() } }
}

/// The handle from which a context creates a managed object; only the context can make one.
public struct ManagedObjectHandle {
    let object: Object
    let context: ManagedObjectContext
}

extension ManagedObject: Hashable {
    /// Whether both are the same object in memory; a context has one for each identity.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
    /// Hashes which object in memory it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// The object's class and identity.
    public var description: String { "\(type(of: self)) \(objectID)" }
}

extension ManagedObject: PublicObject {
    var context: ManagedObjectContext? { managedObjectContext }
    var storedObject: Object? { object }

    static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject {
        Self(ManagedObjectHandle(object: object, context: context))
    }

    static func group(_ objects: [Object], as form: ObjectGroup, in context: ManagedObjectContext?) throws -> Any {
        let shown = try context?.publicObjects(objects, as: ManagedObject.self) ?? []
        return form == .set ? Set(shown) as Any : shown
    }

    static var base: any PublicObject.Type { ManagedObject.self }

    static var modules: Set<String> { [] }
    static func noteModule() {}
    static func find(_ className: String, in modules: Set<String>) -> (any PublicObject.Type)? { nil }

    static func storedObjects(_ value: Any) -> [Object]? {
        switch value {
        case let object as ManagedObject: [object.object]
        case let set as Set<ManagedObject>: set.map(\.object)
        case let list as [ManagedObject]: list.map(\.object)
        default: nil
        }
    }

    static var takesFoundationClasses: Bool { false }

    static func transformer(_ name: String?, in context: ManagedObjectContext?) -> AnyAttributeTransformer? {
        name.flatMap { context?.persistentStoreCoordinator?.transformers.transformer(for: $0) }
    }
}

// MARK: - State

extension ManagedObject {
    /// Changes once: when the first save makes a temporary one permanent.
    public var objectID: ManagedObjectID { object.id }
    /// The object's own entity, as the context's model has it.
    public var entity: EntityDescription { object.shape.entity }
    /// Whether the object's values are still to be read; asking for one reads them.
    public var isFault: Bool { object.isFault }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { object.isInserted }
    /// Whether the object is saved already and the next save changes it.
    public var isUpdated: Bool { object.isUpdated }
    /// Whether the next save deletes the object; false again after it.
    public var isDeleted: Bool { object.isDeleted }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { object.hasChanges }

    /// Returns the values that were set since the last save and differ from it, as ``value(forKey:)`` gives them. Nil
    /// values are `NSNull`.
    public func changedValues() throws -> [String: Any] {
        try publicErrors { try read(try object.changedValues(), of: object) }
    }

    /// Returns the values that the store holds of these properties, of all by default; empty for a new object. Nil
    /// values are `NSNull`.
    public func committedValues(forKeys keys: [String]? = nil) throws -> [String: Any] {
        try publicErrors { try read(try object.committedValues(keys), of: object) }
    }
}

// MARK: - Values

extension ManagedObject {
    /// The value under a name of the model: numbers as `NSNumber` (so `as? Int`, `as? Bool`, `as? Double` work as in
    /// Core Data), `Decimal`, `String`, `Date`, `Data`, `UUID`, `URL`; a `ManagedObject`; a `Set` of them, an array for
    /// an ordered relationship and a fetched property; a dictionary for a composite attribute.
    ///
    /// - Throws: `unknownKey`; `objectGone` (133000) where the object's row is gone.
    public func value(forKey key: String) throws -> Any? { try access { try read(key, of: object) } }

    /// Sets a value by a name of the model: any of Swift's numbers, an `NSNumber`, and what ``value(forKey:)`` gives.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    public func setValue(_ value: Any?, forKey key: String) throws { try change { try write(value, key, of: $0) } }

    /// The value that a key path leads to, through to-one and to-many relationships and operators such as `@count`.
    public func value(forKeyPath keyPath: String) throws -> Any? {
        try access { try read(keyPath: keyPath, of: object) }
    }

    /// As ``value(forKey:)`` and ``setValue(_:forKey:)``. What cannot be read is nil; what goes wrong is thrown by the
    /// context's next save.
    public subscript(key: String) -> Any? {
        get { noting(nil) { try value(forKey: key) } }
        set { noting(()) { try setValue(newValue, forKey: key) } }
    }

    /// A value by its name and type: `object["title", as: String?.self]`. Errors are noted as above; what is missing is
    /// the type's empty value.
    public subscript<Value: ManagedProperty>(key: String, as type: Value.Type) -> Value {
        get { noting(Value.missing) { try Value.read(key, of: self) } }
        set { noting(()) { try Value.write(newValue, key, of: self) } }
    }

    /// The same as ``value(forKey:)``: there are no accessors to pass by, as there are in Core Data.
    public func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }
    /// The same as ``setValue(_:forKey:)``: there are no accessors to pass by, as there are in Core Data.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) throws { try setValue(value, forKey: key) }

    /// The identities of a relationship's destinations, none of which is read.
    public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
        try access { try objectIDs(key, of: object) }
    }

    /// The destinations of a to-many relationship, to be changed one by one.
    public func mutableSetValue(forKey key: String) -> MutableObjectSet { MutableObjectSet(self, key) }

    /// The destinations of an ordered relationship, to be changed one by one.
    public func mutableOrderedSetValue(forKey key: String) -> MutableObjectList { MutableObjectList(self, key) }

    // MARK: - For the module

    /// Runs what changes the object.
    func change(_ body: (Object) throws -> Void) throws {
        keepWhileChanged()
        try access { try body(object) }
    }

    /// Notes an error that cannot be thrown here for the next save.
    func noting<Result>(_ fallback: @autoclosure () -> Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            managedObjectContext?.note(error)
            return fallback()
        }
    }

    /// Another object of the same context.
    func shown(_ other: Object) throws -> ManagedObject {
        try liveContext(object).publicObject(other, as: ManagedObject.self)
    }
}
