import MoultModel

/// A property that refers to one other model.
public struct _ToOneProperty<Value: PersistentModel>: _ModelProperty {
    /// Returns the destination. If there is none, returns a placeholder with empty values, and the next save throws the
    /// error.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        if let model = backing.toOne(key) as? Value { return model }
        backing._noteUnreadable(key)
        let id = PersistentIdentifier(ObjectID(temporary: 0, entityName: Value.schemaMetadata.name))
        return Value(backingData: MissingBackingData(id))
    }

    /// Sets the destination.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    /// Returns a required to-one relationship to the class.
    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: false) }
}

/// A property that refers to one other model or to none.
public struct _OptionalToOneProperty<Value: PersistentModel>: _ModelProperty {
    /// Returns the destination; nil if there is none of this class.
    public func read(_ key: String, of backing: any BackingData) -> Value? { backing.toOne(key) as? Value }
    /// Sets the destination; nil for none.
    public func write(_ value: Value?, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    /// Returns an optional to-one relationship to the class.
    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: true) }
}

/// A type for to-many relationships: an array or a set of models, or an optional of either.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
    static var isOptionalRelationship: Bool { get }
    /// Creates the collection; nil means that an optional relationship was never set.
    init(persistentElements: [PersistentElement]?)
    var persistentElements: [PersistentElement]? { get }
}

extension RelationshipCollection {
    /// False: the collection itself is never nil.
    public static var isOptionalRelationship: Bool { false }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// Creates an array of the models; an empty one for nil.
    public init(persistentElements: [Element]?) { self = persistentElements ?? [] }
    /// The models, in the order of the array.
    public var persistentElements: [Element]? { self }
}

extension Set: RelationshipCollection where Element: PersistentModel {
    /// Creates a set of the models; an empty one for nil.
    public init(persistentElements: [Element]?) { self.init(persistentElements ?? []) }
    /// The models of the set, in no particular order.
    public var persistentElements: [Element]? { Array(self) }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
    /// True: the collection may be nil.
    public static var isOptionalRelationship: Bool { true }
    /// Creates a collection of the models; nil for nil.
    public init(persistentElements: [Wrapped.PersistentElement]?) {
        self = persistentElements.map { Wrapped(persistentElements: $0) }
    }
    /// The models of the wrapped collection; nil for nil.
    public var persistentElements: [Wrapped.PersistentElement]? { flatMap(\.persistentElements) }
}

/// A property that refers to any number of other models.
public struct _ToManyProperty<Value: RelationshipCollection>: _ModelProperty {
    /// Returns the destinations, without models of a class other than the element's.
    public func read(_ key: String, of backing: any BackingData) -> Value {
        Value(persistentElements: backing.toMany(key)?.compactMap { $0 as? Value.PersistentElement })
    }

    /// Replaces the destinations with the models of the collection.
    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setToMany(key, value.persistentElements)
    }

    /// Returns a to-many relationship to the class of the elements.
    public func shape(_ name: String) -> _PropertyShape {
        .toMany(Value.PersistentElement.self, isOptional: Value.isOptionalRelationship)
    }
}
