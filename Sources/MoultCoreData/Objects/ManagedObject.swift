import Foundation
import MoultBasics
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
    /// Whether the context holds this face because it has changes.
    var isKept = false
    /// Whether ``awakeFromFetch()`` or ``awakeFromInsert()`` has been called since it was a fault.
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
        let handle = try context.inTurn { graph in
            let coordinator = try context.coordinator()
            let name = try coordinator.classes.entityName(for: Self.self, in: coordinator.managedObjectModel)
            coordinator.classes.registerIfNone(Self.self, entity: name)
            return ManagedObjectHandle(object: try graph.insert(name), context: context)
        }
        self.init(handle)
        context.turn.withLock {
            object.face = self
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
    open func validateValue(_ value: Any?, forKey key: String) throws {
        guard !isBeingSaved, case .attribute(_, let attribute)? = object.shape[key] else { return }
        let converted = try conversion(of: attribute, key).attributeValue(value)
        try publicErrors { try object.validate(converted, for: key) }
    }

    /// Checks a new object before it is saved.
    open func validateForInsert() throws {
        if !isBeingSaved { try publicErrors { try object.validateForInsert() } }
    }

    /// Checks a changed object before it is saved.
    open func validateForUpdate() throws {
        if !isBeingSaved { try publicErrors { try object.validateForUpdate() } }
    }

    /// Checks that an object may be deleted.
    open func validateForDelete() throws {
        if !isBeingSaved { try publicErrors { try object.validateForDelete() } }
    }
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
        try publicErrors { try publicValues(try object.changedValues()) }
    }

    /// Returns the values that the store holds of these properties, of all by default; empty for a new object. Nil
    /// values are `NSNull`.
    public func committedValues(forKeys keys: [String]? = nil) throws -> [String: Any] {
        try publicErrors { try publicValues(try object.committedValues(keys)) }
    }

    /// Returns the earlier values of the properties that have changed since the context's last event. Nil values are
    /// `NSNull`.
    package func valuesBeforeEvent() throws -> [String: Any] {
        try publicErrors { try publicValues(try object.valuesBeforeEvent()) }
    }

    private var isBeingSaved: Bool { managedObjectContext?.state.withLock { $0.isSaving } ?? false }

    /// Has the context hold this face until the next save, for it may have values of its own.
    func keepWhileChanged() {
        guard !isKept, let context = managedObjectContext else { return }
        isKept = true
        isAwake = true
        context.turn.withLock { context.keptFaces.append(self) }
    }

    /// Returns the validation failures that the class reports for the current values.
    func ownFailures() -> [ManagedObjectValidationError.Failure] {
        var failures: [ManagedObjectValidationError.Failure] = []
        func check(_ key: String, _ body: () throws -> Void) {
            do {
                try body()
            } catch let error as ManagedObjectValidationError {
                failures += error.failures
            } catch {
                failures.append(.init(error, of: self, key: key))
            }
        }
        if isDeleted {
            check("") { try validateForDelete() }
            return failures
        }
        for property in object.shape.properties {
            check(property.name) {
                let value: Any?
                do { value = try self.value(forKey: property.name) } catch let error as MigrationError
                    where error.code == .dataConflict
                {
                    // What the attribute cannot be is the store's affair until another value is set.
                    return
                }
                try validateValue(value, forKey: property.name)
            }
        }
        check("") { isInserted ? try validateForInsert() : try validateForUpdate() }
        return failures
    }
}
