import Foundation
public import MoultCoreData
import Observation

/// A class whose objects a store keeps. Use `@Model` to add the conformance; do not write it yourself.
///
/// An object keeps its own values until it is inserted in a context; from then on it is a view of values that the
/// context keeps. A model is equal only to itself: a context has one object per row.
public protocol PersistentModel: _ManagedObjectModelClass, Observable, Hashable, Identifiable, SendableMetatype {
    /// Creates an object whose values are kept in backing data.
    init(backingData: any BackingData)

    /// The storage of the object's values.
    var persistentBackingData: any BackingData { get set }

    /// The values of an object that belongs to no context, one part for each class of its lineage.
    var _$ownValues: [OwnValues] { get }

    var _$observationRegistrar: ObservationRegistrar { get }

    /// The description of the class and its properties, inherited ones included.
    static var schemaMetadata: Schema.ModelMetadata { get }
}

extension PersistentModel {
    /// The identity of the object in its store; a temporary one until the object is saved.
    public var persistentModelID: PersistentIdentifier { persistentBackingData.persistentModelID }

    /// The object's identifier, for `Identifiable`. It changes once, when the first save makes it permanent.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the next save of its context writes the object; false without a context.
    public var hasChanges: Bool { persistentBackingData.hasChanges }

    /// Whether the next save of its context deletes the object; false again after the save.
    public var isDeleted: Bool { persistentBackingData.isDeleted }

    /// Returns whether both are the same object in memory.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes the identity of the object in memory.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// Access by key path, with the names that SwiftData's generated code uses.
extension PersistentModel {
    /// Returns the value of a property, the same as reading the property itself.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

    /// Sets a writable property. For any other key path, the next save throws an error.
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

    /// Returns the value of a transformable property; the same as ``getValue(forKey:)``.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { getValue(forKey: key) }

    /// Sets a transformable property; the same as ``setValue(forKey:to:)``.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        setValue(forKey: key, to: newValue)
    }

    /// The context that the object belongs to; nil if it was never inserted in one, or has left it.
    public var modelContext: ModelContext? { persistentBackingData._context as? ModelContext }
}

/// A placeholder for an object whose entity is not in the container's schema: a model without properties.
final class UnknownModel: PersistentModel {
    static let schemaMetadata = Schema.ModelMetadata(name: "", properties: [])

    var persistentBackingData: any BackingData
    let _$observationRegistrar = ObservationRegistrar()
    var _$ownValues: [OwnValues] { [] }

    init(backingData: any BackingData) { persistentBackingData = backingData }
}
