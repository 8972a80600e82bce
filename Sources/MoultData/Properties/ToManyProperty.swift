import MoultModel

/// A type that a to-many relationship can have: an array or a set of models, or an optional one.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
    static var isOptionalRelationship: Bool { get }
    /// `nil` if an optional relationship was never set.
    init(persistentElements: [PersistentElement]?)
    var persistentElements: [PersistentElement]? { get }
}

extension RelationshipCollection {
    public static var isOptionalRelationship: Bool { false }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public init(persistentElements: [Element]?) { self = persistentElements ?? [] }
    public var persistentElements: [Element]? { self }
}

extension Set: RelationshipCollection where Element: PersistentModel {
    public init(persistentElements: [Element]?) { self.init(persistentElements ?? []) }
    public var persistentElements: [Element]? { Array(self) }
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
    public static var isOptionalRelationship: Bool { true }
    public init(persistentElements: [Wrapped.PersistentElement]?) {
        self = persistentElements.map { Wrapped(persistentElements: $0) }
    }
    public var persistentElements: [Wrapped.PersistentElement]? { flatMap(\.persistentElements) }
}

/// A property that is any number of other models.
public struct _ToManyProperty<Value: RelationshipCollection>: _ModelProperty {
    public func read(_ key: String, of backing: any BackingData) -> Value {
        Value(persistentElements: backing.toMany(key)?.compactMap { $0 as? Value.PersistentElement })
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) {
        backing.setToMany(key, value.persistentElements)
    }

    public func shape(_ name: String) -> _PropertyShape {
        .toMany(Value.PersistentElement.self, isOptional: Value.isOptionalRelationship)
    }
}
