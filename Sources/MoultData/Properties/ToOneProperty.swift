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
