import MoultBasics
import MoultModel
import Synchronization

/// The storage of a model's values: ``OwnValues`` until the model is inserted in a context, then storage of the
/// context.
public protocol BackingData: AnyObject {
    var persistentModelID: PersistentIdentifier { get }

    /// The value of an attribute; nil for NULL.
    func attribute(_ key: String) -> AttributeValue?
    func setAttribute(_ key: String, _ value: AttributeValue?)
    /// Sets the columns of one property by path: all of them, or none if one cannot be stored.
    func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)])

    func toOne(_ key: String) -> (any PersistentModel)?
    func setToOne(_ key: String, _ model: (any PersistentModel)?)

    /// The objects of a to-many relationship; nil for an optional relationship that was never set.
    func toMany(_ key: String) -> [any PersistentModel]?
    func setToMany(_ key: String, _ models: [any PersistentModel]?)

    /// Records that a value cannot be stored. The property keeps its old value, and the next save throws the error.
    func refuse(_ key: String, _ error: MigrationError)

    /// Records that a property showed a stand-in for a missing value, or for one that its type cannot represent. The
    /// next save throws an error unless the property is set first.
    func _noteUnreadable(_ key: String)

    /// The initial value of a property in the model's source; nil if there is none.
    func _initialValue(_ key: String) -> Any?

    /// Called after a property of the model is set, and at the end of its initialiser. A new model that refers to an
    /// object of a context, and is referred back to, is inserted in that context.
    func _wasWritten<Model: PersistentModel>(by model: Model)

    /// The context that the model belongs to; nil if there is none.
    var _context: AnyObject? { get }
    /// Whether the next save of the context writes the object.
    var hasChanges: Bool { get }
    /// Whether the next save of the context deletes the object.
    var isDeleted: Bool { get }
}

extension BackingData {
    /// Sets the columns one after the other with ``setAttribute(_:_:)``.
    public func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)]) {
        for (path, value) in values { setAttribute(path, value) }
    }
    /// Does nothing.
    public func _noteUnreadable(_ key: String) {}
    /// Nil, as if the source had no initial value.
    public func _initialValue(_ key: String) -> Any? { nil }
    /// Does nothing: no context is looked for.
    public func _wasWritten<Model: PersistentModel>(by model: Model) {}
    /// Nil: there is no context.
    public var _context: AnyObject? { nil }
    /// False: no save writes the object.
    public var hasChanges: Bool { false }
    /// False: no save deletes the object.
    public var isDeleted: Bool { false }
}

/// The values of a model that belongs to no context, in the form in which a store keeps them.
///
/// When a context inserts the object, it copies `values` and `refusals` from every part of the object's `_$ownValues`,
/// then sets its `persistentBackingData`.
public final class OwnValues: BackingData {
    /// One property's value.
    package enum Value {
        case attribute(AttributeValue?)
        case toOne((any PersistentModel)?)
        case toMany([any PersistentModel]?)

        fileprivate var isEmpty: Bool {
            switch self {
            case .attribute(nil), .toOne(nil), .toMany(nil): true
            case .attribute, .toOne, .toMany: false
            }
        }
    }

    /// The values, in the order in which they were first set. A class has few properties, so a linear search is faster
    /// than a dictionary.
    @exclusivity(unchecked) package private(set) var values: [(name: String, value: Value)] = []
    /// The errors of values that could not be stored, by property.
    @exclusivity(unchecked) package private(set) var refusals: [String: MigrationError] = [:]

    /// The graph of a destination's context, if any; ``_wasWritten(by:)`` offers the model to it.
    private var host: WeakReference<ContextStorage>?

    private static let count = Atomic<Int64>(0)
    private lazy var number = Self.count.add(1, ordering: .relaxed).newValue

    /// Creates the storage of a new model, without values.
    public init() {}

    /// A temporary identity without an entity. A context replaces it.
    public var persistentModelID: PersistentIdentifier {
        PersistentIdentifier(ObjectID(temporary: -number, entityName: ""))
    }

    /// The value set for an attribute; nil if there is none.
    public func attribute(_ key: String) -> AttributeValue? {
        if case .attribute(let value)? = value(key) { value } else { nil }
    }
    /// Sets an attribute, and clears any refusal of its value.
    public func setAttribute(_ key: String, _ value: AttributeValue?) { set(key, .attribute(value)) }
    /// Sets all columns of a property, and clears any refusal of its value.
    public func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)]) {
        for (path, value) in values { set(path, .attribute(value)) }
        if !refusals.isEmpty { refusals[key] = nil }
    }

    /// The model set for a to-one relationship; nil if there is none.
    public func toOne(_ key: String) -> (any PersistentModel)? {
        if case .toOne(let model)? = value(key) { model } else { nil }
    }
    /// Sets a to-one relationship, and remembers the context that the destination belongs to.
    public func setToOne(_ key: String, _ model: (any PersistentModel)?) {
        set(key, .toOne(model))
        if let model { note(model) }
    }

    /// The models set for a to-many relationship; nil if it was never set.
    public func toMany(_ key: String) -> [any PersistentModel]? {
        if case .toMany(let models)? = value(key) { models } else { nil }
    }
    /// Sets a to-many relationship, and remembers the context that a destination belongs to.
    public func setToMany(_ key: String, _ models: [any PersistentModel]?) {
        set(key, .toMany(models))
        for model in models ?? [] { note(model) }
    }

    /// Keeps the error for the context that inserts the object, unless the property is set again first.
    public func refuse(_ key: String, _ error: MigrationError) { refusals[key] = error }

    private func note(_ destination: any PersistentModel) {
        guard let backing = destination.persistentBackingData as? ObjectBacking, !backing.object.isDetached else {
            return
        }
        host = WeakReference(backing.graph)
    }

    /// Offers the model to the context of an object that one of its relationships refers to, if there is one.
    public func _wasWritten<Model: PersistentModel>(by model: Model) { host?.object?.insertIfChild(model) }

    private func value(_ key: String) -> Value? { values.first { $0.name == key }?.value }

    private func set(_ key: String, _ value: Value) {
        if let place = values.firstIndex(where: { $0.name == key }) {
            values[place].value = value
        } else if !value.isEmpty {
            // Objects read by a context start with nil in their optional properties; do not allocate storage for those.
            if values.isEmpty { values.reserveCapacity(12) }
            values.append((key, value))
        }
        if !refusals.isEmpty { refusals[key] = nil }
    }
}

/// A placeholder for a property whose value is in the backing data.
public struct _Kept {
    /// Creates a placeholder without a value.
    public init() {}
}

/// The values of a model that no store here holds: none, or those that were kept.
final class MissingBackingData: BackingData {
    let persistentModelID: PersistentIdentifier
    private let kept: [String: AttributeValue]

    init(_ persistentModelID: PersistentIdentifier, _ kept: [String: AttributeValue] = [:]) {
        self.persistentModelID = persistentModelID
        self.kept = kept
    }

    /// Creates values without an identity, for uses where it does not matter.
    convenience init(_ kept: [String: AttributeValue]) {
        self.init(PersistentIdentifier(ObjectID(temporary: 0, entityName: "")), kept)
    }

    func attribute(_ key: String) -> AttributeValue? { kept[key] }
    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func toOne(_ key: String) -> (any PersistentModel)? { nil }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func toMany(_ key: String) -> [any PersistentModel]? { [] }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}
}
