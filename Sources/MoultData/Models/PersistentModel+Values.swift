import MoultModel

// By key path, in the spelling of SwiftData's generated code.
extension PersistentModel {
    /// The value of a property, as reading the property itself gives it.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// Sets a property that can be set; for any other, the next save throws what was wrong.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        if let path = key as? ReferenceWritableKeyPath<Self, Value> {
            self[keyPath: path] = newValue
        } else {
            let name = Self.schemaMetadata.name
            persistentBackingData.refuse(
                "\(key)",
                .modelInvalid(
                    "A value was set through a key path of \(name) that cannot be written: \(key).", place: name,
                    remedy: "Name a stored property of \(name)."))
        }
    }

    /// The value of a transformable property; the same as ``getValue(forKey:)``.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { getValue(forKey: key) }

    /// Sets a transformable property; the same as ``setValue(forKey:to:)``.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        setValue(forKey: key, to: newValue)
    }
}
