import MoultModel

/// A property that is one other model.
public struct _ToOneProperty<Value: PersistentModel>: _ModelProperty {
    /// The destination. Where there is none, a model with empty values stands for it and the next save throws the
    /// error.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        if let model = backing.toOne(key) as? Value { return model }
        backing._noteUnreadable(key)
        let id = PersistentIdentifier(ObjectID(temporary: 0, entityName: Value.schemaMetadata.name))
        return Value(backingData: AbsentBacking(id))
    }

    /// Leads the relationship to another model.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    /// A required to-one relationship to the class.
    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: false) }
}

/// A property that is one other model or none.
public struct _OptionalToOneProperty<Value: PersistentModel>: _ModelProperty {
    /// The destination; nil where there is none of this class.
    public func read(_ key: String, of backing: any BackingData) -> Value? { backing.toOne(key) as? Value }
    /// Leads the relationship to another model, or to none.
    public func write(_ value: Value?, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    /// An optional to-one relationship to the class.
    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: true) }
}

/// A type that a to-many relationship can have: an array or a set of models, or an optional one.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
    static var isOptionalRelationship: Bool { get }
    /// `nil` if an optional relationship was never set.
    init(persistentElements: [PersistentElement]?)
    var persistentElements: [PersistentElement]? { get }
}

extension RelationshipCollection {
    /// False: the collection itself is never nil.
    public static var isOptionalRelationship: Bool { false }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// An array of the models; an empty one for nil.
    public init(persistentElements: [Element]?) { self = persistentElements ?? [] }
    /// The models, in the order of the array.
    public var persistentElements: [Element]? { self }
}

extension Set: RelationshipCollection where Element: PersistentModel {
    /// A set of the models; an empty one for nil.
    public init(persistentElements: [Element]?) { self.init(persistentElements ?? []) }
    /// The models of the set, in no order.
    public var persistentElements: [Element]? { Array(self) }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
    /// True: the collection may be nil.
    public static var isOptionalRelationship: Bool { true }
    /// A collection of the models; nil for nil.
    public init(persistentElements: [Wrapped.PersistentElement]?) {
        self = persistentElements.map { Wrapped(persistentElements: $0) }
    }
    /// The models of the wrapped collection; nil for nil.
    public var persistentElements: [Wrapped.PersistentElement]? { flatMap(\.persistentElements) }
}

/// A property that is any number of other models.
public struct _ToManyProperty<Value: RelationshipCollection>: _ModelProperty {
    /// The destinations; models of another class than the element's are left out.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        Value(persistentElements: backing.toMany(key)?.compactMap { $0 as? Value.PersistentElement })
    }

    /// Makes the models of the collection the destinations, in place of those that were.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setToMany(key, value.persistentElements)
    }

    /// A to-many relationship to the class of the elements.
    public func shape(_ name: String) -> _PropertyShape {
        .toMany(Value.PersistentElement.self, isOptional: Value.isOptionalRelationship)
    }
}
