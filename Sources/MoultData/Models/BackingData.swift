import MoultBasics
import MoultModel
import Synchronization

/// The storage of a model's values: ``OwnValues`` until a context takes the object in, then storage of the context.
public protocol BackingData: AnyObject {
    var persistentModelID: PersistentIdentifier { get }

    /// The value of an attribute; nil for NULL.
    func attribute(_ key: String) -> AttributeValue?
    func setAttribute(_ key: String, _ value: AttributeValue?)
    /// Sets the columns of one property, each by its path: all of them, or none where one cannot be kept.
    func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)])

    func toOne(_ key: String) -> (any PersistentModel)?
    func setToOne(_ key: String, _ model: (any PersistentModel)?)

    /// The objects of a to-many relationship; nil if an optional one was never set.
    func toMany(_ key: String) -> [any PersistentModel]?
    func setToMany(_ key: String, _ models: [any PersistentModel]?)

    /// Remembers that a value cannot be kept. The property has its old value; the next save throws the error.
    func refuse(_ key: String, _ error: MigrationError)

    /// Remembers that a property showed a value that stands for none, or for one that its type cannot have. The next
    /// save throws the error, unless the property was set before.
    func _noteUnreadable(_ key: String)

    /// The value that the source of the model gives a property; nil if it gives none.
    func _initialValue(_ key: String) -> Any?

    /// Called when a property of the model was set, and at the end of its initialiser: a new model that leads to one of
    /// a context, which leads back to it, belongs to that context.
    func _wasWritten<Model: PersistentModel>(by model: Model)

    /// The context that took the object in or read it; nil if none has it.
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
    /// Does nothing: nothing is remembered.
    public func _noteUnreadable(_ key: String) {}
    /// No value, as if the source gave none.
    public func _initialValue(_ key: String) -> Any? { nil }
    /// Does nothing: no context is looked for.
    public func _wasWritten<Model: PersistentModel>(by model: Model) {}
    /// No context.
    public var _context: AnyObject? { nil }
    /// False: no save writes the object.
    public var hasChanges: Bool { false }
    /// False: no save deletes the object.
    public var isDeleted: Bool { false }
}

/// The values of a model that no context has taken in, in the form that a store keeps them in.
///
/// A context that takes the object in copies `values` and `refusals` of every part in the object's `_$ownValues`,
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

    /// In the order in which they were set first. A class has few properties: looking through their names is faster than
    /// a dictionary of them.
    @exclusivity(unchecked) package private(set) var values: [(name: String, value: Value)] = []
    /// Values that could not be kept, by property.
    @exclusivity(unchecked) package private(set) var refusals: [String: MigrationError] = [:]

    /// The objects among which a relationship leads, once one does; ``_wasWritten(by:)`` has them take the model in.
    private var host: WeakReference<ModelGraph>?

    private static let count = Atomic<Int64>(0)
    private lazy var number = Self.count.add(1, ordering: .relaxed).newValue

    /// Values of a new model, none of which is set.
    public init() {}

    /// A temporary identity of no entity: a context gives the object its own.
    public var persistentModelID: PersistentIdentifier {
        PersistentIdentifier(ObjectID(temporary: -number, entityName: ""))
    }

    /// The value that was set for an attribute; nil where none was.
    public func attribute(_ key: String) -> AttributeValue? {
        if case .attribute(let value)? = value(key) { value } else { nil }
    }
    /// Sets an attribute, and forgets a refusal of its value.
    public func setAttribute(_ key: String, _ value: AttributeValue?) { set(key, .attribute(value)) }
    /// Sets all columns of a property, and forgets a refusal of its value.
    public func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)]) {
        for (path, value) in values { set(path, .attribute(value)) }
        if !refusals.isEmpty { refusals[key] = nil }
    }

    /// The model that was set for a to-one relationship; nil where none was.
    public func toOne(_ key: String) -> (any PersistentModel)? {
        if case .toOne(let model)? = value(key) { model } else { nil }
    }
    /// Sets a to-one relationship, and remembers the context that the destination belongs to.
    public func setToOne(_ key: String, _ model: (any PersistentModel)?) {
        set(key, .toOne(model))
        if let model { note(model) }
    }

    /// The models that were set for a to-many relationship; nil where it was never set.
    public func toMany(_ key: String) -> [any PersistentModel]? {
        if case .toMany(let models)? = value(key) { models } else { nil }
    }
    /// Sets a to-many relationship, and remembers the context that a destination belongs to.
    public func setToMany(_ key: String, _ models: [any PersistentModel]?) {
        set(key, .toMany(models))
        for model in models ?? [] { note(model) }
    }

    /// Keeps the error for the context that takes the object in, unless the property is set again before.
    public func refuse(_ key: String, _ error: MigrationError) { refusals[key] = error }

    private func note(_ destination: any PersistentModel) {
        guard let backing = destination.persistentBackingData as? ObjectBacking, !backing.object.isDetached else {
            return
        }
        host = WeakReference(backing.graph)
    }

    /// Offers the model to the context of an object that one of its relationships leads to, where there is one.
    public func _wasWritten<Model: PersistentModel>(by model: Model) { host?.object?.insertIfChild(model) }

    private func value(_ key: String) -> Value? { values.first { $0.name == key }?.value }

    private func set(_ key: String, _ value: Value) {
        if let place = values.firstIndex(where: { $0.name == key }) {
            values[place].value = value
        } else if !value.isEmpty {
            // An object that a context reads begins with the nil of its optional properties, which is released at once.
            if values.isEmpty { values.reserveCapacity(12) }
            values.append((key, value))
        }
        if !refusals.isEmpty { refusals[key] = nil }
    }
}

/// Stands for a property whose value the backing data has.
public struct _Kept {
    /// A placeholder without a value.
    public init() {}
}

/// The values of a model that no store here has, none or those that were kept of it.
final class AbsentBacking: BackingData {
    let persistentModelID: PersistentIdentifier
    private let kept: [String: AttributeValue]

    init(_ persistentModelID: PersistentIdentifier, _ kept: [String: AttributeValue] = [:]) {
        self.persistentModelID = persistentModelID
        self.kept = kept
    }

    /// Values of which it does not matter whose they are.
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
