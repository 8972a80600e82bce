import MoultModel

/// A property that is one other model.
public struct _ToOneProperty<Value: PersistentModel>: _ModelProperty {
    public func read(_ key: String, of backing: any BackingData) -> Value {
        if let model = backing.toOne(key) as? Value { return model }
        backing._noteUnreadable(key)
        let id = PersistentIdentifier(ObjectID(temporary: 0, entityName: Value.schemaMetadata.name))
        return Value(backingData: AbsentBacking(id))
    }

    public func write(_ value: Value, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: false) }
}

/// A property that is one other model or none.
public struct _OptionalToOneProperty<Value: PersistentModel>: _ModelProperty {
    public func read(_ key: String, of backing: any BackingData) -> Value? { backing.toOne(key) as? Value }
    public func write(_ value: Value?, _ key: String, to backing: any BackingData) { backing.setToOne(key, value) }

    public func shape(_ name: String) -> _PropertyShape { .toOne(Value.self, isOptional: true) }
}
