import Foundation
import MoultModel
import MoultObjects

/// One object of a store in one context: `NSManagedObject`.
///
/// Read and set values by their names in the model (``value(forKey:)``, ``subscript(_:)``), or through properties of a
/// subclass:
///
///     final class Book: ManagedObject {
///         @Managed("title") var title: String
///         @Managed("author") var author: Author?
///     }
///
/// Objects are not `Sendable`. Use them only with exclusive access to their context.
open class ManagedObject {
    package let object: Object
    /// The context that created the object; nil once it is deallocated. The object does not retain it.
    public private(set) weak var managedObjectContext: ManagedObjectContext?
    package var isKept = false
    package var awakening = Awakening.ahead

    /// Creates an object for a context, which calls it. A subclass that overrides it must call `super`.
    public required init(_ handle: ManagedObjectHandle) {
        object = handle.object
        managedObjectContext = handle.context
    }

    /// Creates an object in `context`.
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

    /// The name of the entity whose objects have this class. If nil, the default, it is the entity that names the
    /// class, or else the entity with the same name as the class.
    open class var entityName: String? { nil }

    // MARK: - Methods to override

    /// Called once for a new object, after its defaults are set.
    open func awakeFromInsert() {}
    /// Called at the first access after the values of a saved object were read: again each time that it was a fault.
    /// Attributes of the object that it sets are not changes.
    open func awakeFromFetch() {}
    /// Called before a save, including for objects that another object's `willSave` changes.
    open func willSave() {}
    /// Called after a save. A deleted object can be read for the last time.
    open func didSave() {}
    /// Called before the object is marked as deleted.
    open func prepareForDeletion() {}

    /// Validates one value before it is saved. A subclass throws an error for an invalid value; all failures are
    /// reported together.
    open func validateValue(_ value: Any?, forKey key: String) throws { try validate(value, key) }
    /// Validates a new object before it is saved.
    open func validateForInsert() throws { try validate { try $0.validateForInsert() } }
    /// Validates a changed object before it is saved.
    open func validateForUpdate() throws { try validate { try $0.validateForUpdate() } }
    /// Validates that an object may be deleted.
    open func validateForDelete() throws { try validate { try $0.validateForDelete() } }
}

/// A handle from which a context creates a managed object. Only a context can create one.
public struct ManagedObjectHandle {
    let object: Object
    let context: ManagedObjectContext
}

extension ManagedObject: Hashable {
    /// Returns whether both are the same object in memory. A context has one object for each identity.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
    /// Hashes the object's identity in memory.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// The object's class and identity.
    public var description: String { "\(type(of: self)) \(objectID)" }
}

extension ManagedObject: PublicObject {
    package var context: ManagedObjectContext? { managedObjectContext }
    package var storedObject: Object? { object }

    package static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject {
        Self(ManagedObjectHandle(object: object, context: context))
    }

    package static func group(_ objects: [Object], as form: ObjectGroup, in context: ManagedObjectContext?) throws
        -> Any
    {
        let shown = try context?.publicObjects(objects, as: ManagedObject.self) ?? []
        return form == .set ? Set(shown) as Any : shown
    }

    package static var base: any PublicObject.Type { ManagedObject.self }

    package static var modules: Set<String> { [] }
    package static func noteModule() {}
    package static func find(_ className: String, in modules: Set<String>) -> (any PublicObject.Type)? { nil }

    package static func storedObjects(_ value: Any) -> [Object]? {
        switch value {
        case let object as ManagedObject: [object.object]
        case let set as Set<ManagedObject>: set.map(\.object)
        case let list as [ManagedObject]: list.map(\.object)
        default: nil
        }
    }

    package static var takesFoundationClasses: Bool { false }

    package static func transformer(_ name: String?, in context: ManagedObjectContext?) -> AnyAttributeTransformer? {
        name.flatMap { context?.persistentStoreCoordinator?.transformers.transformer(for: $0) }
    }
}

// MARK: - State

extension ManagedObject {
    /// The object's identity. It changes once, when the first save makes a temporary identity permanent.
    public var objectID: ManagedObjectID { object.seenID }
    /// The object's entity in the context's model.
    public var entity: EntityDescription { object.shape.entity }
    /// Whether no value of the object has been accessed since it was fetched.
    public var isFault: Bool { object.isUnread }
    /// Whether the next save inserts the object.
    public var isInserted: Bool { object.isInserted }
    /// Whether the object was saved before and the next save updates it.
    public var isUpdated: Bool { object.isUpdated }
    /// Whether the next save deletes the object; false again after that save and its ``didSave()``.
    public var isDeleted: Bool { object.isDeleted }
    /// Whether the object was inserted, changed or deleted since the last save.
    public var hasChanges: Bool { object.hasChanges }

    /// Returns the values that were set since the last save and differ from the saved ones, in the form of
    /// ``value(forKey:)``. Nil values are `NSNull`.
    public func changedValues() throws -> [String: Any] {
        try publicErrors { try read(try object.changedValues(), of: object) }
    }

    /// Returns the stored values of these properties, or of all by default; empty for a new object. Nil values are
    /// `NSNull`.
    public func committedValues(forKeys keys: [String]? = nil) throws -> [String: Any] {
        try publicErrors { try read(try object.committedValues(keys), of: object) }
    }
}

// MARK: - Values

extension ManagedObject {
    /// Returns the value for a key of the model: numbers as `NSNumber` (so `as? Int`, `as? Bool`, `as? Double` work as
    /// in Core Data), `Decimal`, `String`, `Date`, `Data`, `UUID`, `URL`; a `ManagedObject`; a `Set` of them, or an
    /// array for an ordered relationship or a fetched property; a dictionary for a composite attribute.
    ///
    /// - Throws: `unknownKey`; `objectGone` (133000) if the object's row no longer exists.
    public func value(forKey key: String) throws -> Any? { try access { try read(key, of: object) } }

    /// Sets the value for a key of the model: any Swift number, an `NSNumber`, or any value that ``value(forKey:)``
    /// returns.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    public func setValue(_ value: Any?, forKey key: String) throws { try change { try write(value, key, of: $0) } }

    /// Returns the value for a key path, through to-one and to-many relationships and operators such as `@count`. The
    /// values over an unordered relationship are a `Set`.
    public func value(forKeyPath keyPath: String) throws -> Any? {
        let found = try access { try read(keyPath: keyPath, of: object) }
        guard let list = found as? [Any], leadsOverSet(keyPath) else { return found }
        if let objects = list as? [ManagedObject] { return Set(objects) }
        return Set(list.compactMap { $0 is NSNull ? nil : $0 as? AnyHashable })
    }

    /// Whether a key path goes over an unordered relationship, and applies no operator.
    private func leadsOverSet(_ keyPath: String) -> Bool {
        guard !keyPath.contains("@"), let model = managedObjectContext?.persistentStoreCoordinator?.managedObjectModel
        else { return false }
        var next: EntityDescription? = entity
        for name in keyPath.split(separator: ".") {
            let relationships = next.map { model.relationships(of: $0) } ?? []
            guard let relationship = relationships.first(where: { $0.name == name }) else { return false }
            if relationship.isToMany, !relationship.isOrdered { return true }
            next = model.entity(relationship.destinationEntityName)
        }
        return false
    }

    /// The value for a key, as in ``value(forKey:)`` and ``setValue(_:forKey:)``. A value that cannot be read is nil,
    /// and the context's next save throws the error. Until then, it cannot be set.
    public subscript(key: String) -> Any? {
        get { noting(key, nil) { try value(forKey: key) } }
        set { noting(key, (), isSetting: true) { try setValue(newValue, forKey: key) } }
    }

    /// The value for a key, as a given type: `object["title", as: String?.self]`. A missing value reads as the type's
    /// empty value, and the context's next save throws any error.
    public subscript<Value: ManagedProperty>(key: String, as type: Value.Type) -> Value {
        get { noting(key, Value.missing) { try Value.read(key, of: self) } }
        set { noting(key, (), isSetting: true) { try Value.write(newValue, key, of: self) } }
    }

    /// Returns the same value as ``value(forKey:)``, because there are no accessors to bypass, unlike in Core Data.
    public func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }
    /// Sets the value like ``setValue(_:forKey:)``, because there are no accessors to bypass, unlike in Core Data. Setting
    /// a transient attribute is no change, and in ``willSave()`` it causes no further call.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) throws {
        context?.notePrimitive(key, of: object)
        guard object.shape.isTransientAttribute(key) else { return try setValue(value, forKey: key) }
        try access { try write(value, key, of: object, isChange: false) }
    }

    /// Returns the identities of a relationship's destinations without reading the objects.
    public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
        try access { try objectIDs(key, of: object) }
    }

    /// Returns a mutable view of the destinations of a to-many relationship.
    public func mutableSetValue(forKey key: String) -> MutableObjectSet { MutableObjectSet(self, key) }

    /// Returns a mutable view of the destinations of an ordered relationship.
    public func mutableOrderedSetValue(forKey key: String) -> MutableObjectList { MutableObjectList(self, key) }

    // MARK: - Internal interface

    /// Runs code that changes the object.
    func change(_ body: (Object) throws -> Void) throws {
        keepWhileChanged()
        try access { try body(object) }
    }

    /// Runs code that reads or sets a value and cannot throw here. The context's next save throws its error. What the
    /// app got in place of a value that could not be read cannot become the value.
    func noting<Result>(
        _ key: String, _ fallback: @autoclosure () -> Result, isSetting: Bool = false, _ body: () throws -> Result
    ) -> Result {
        do {
            return try body()
        } catch let error as MigrationError {
            var isHidden = false
            // Destinations of another class than the property's are still there.
            if !isSetting, case .relationship? = object.shape[key] { isHidden = error.code == .wrongType }
            if !object.noteFailedRead(key, error, isFailure: isHidden) { managedObjectContext?.note(error) }
        } catch {
            managedObjectContext?.note(error)
        }
        return fallback()
    }

    /// Returns another object of the same context.
    func shown(_ other: Object) throws -> ManagedObject {
        try liveContext(object).publicObject(other, as: ManagedObject.self)
    }
}
