import Foundation
public import MoultCoreData
import Observation

/// A class whose objects a store keeps. `@Model` writes the conformance; nobody else should.
///
/// An object that no context has taken in keeps its values in itself; from then on its context keeps them, and the
/// object is a face of them. A model is equal to itself only: a context has one object a row.
public protocol PersistentModel: _ManagedObjectModelClass, Observable, Hashable, Identifiable, SendableMetatype {
    /// An object whose values a context has.
    init(backingData: any BackingData)

    /// The storage of the object's values.
    var persistentBackingData: any BackingData { get set }

    /// The values of an object that no context has taken in, one part for each class of its lineage.
    var _$ownValues: [OwnValues] { get }

    var _$observationRegistrar: ObservationRegistrar { get }

    /// The description of the class and its properties, inherited ones included.
    static var schemaMetadata: Schema.ModelMetadata { get }
}

extension PersistentModel {
    /// The identity of the object in its store; a temporary one until the object is saved.
    public var persistentModelID: PersistentIdentifier { persistentBackingData.persistentModelID }

    /// The object's identifier, for `Identifiable`; it changes once, when the first save makes it permanent.
    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the next save of its context writes the object; false for one that no context has taken in.
    public var hasChanges: Bool { persistentBackingData.hasChanges }

    /// Whether the next save of its context deletes the object; false again after it.
    public var isDeleted: Bool { persistentBackingData.isDeleted }

    /// Whether both are the same object in memory.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes which object in memory it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

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

    /// The context that has the object; nil for one that none took in, or that left it.
    public var modelContext: ModelContext? { persistentBackingData._context as? ModelContext }
}

/// Stands for an object of an entity that the container's schema has not: a model without properties.
final class UnknownModel: PersistentModel {
    static let schemaMetadata = Schema.ModelMetadata(name: "", properties: [])

    var persistentBackingData: any BackingData
    let _$observationRegistrar = ObservationRegistrar()
    var _$ownValues: [OwnValues] { [] }

    init(backingData: any BackingData) { persistentBackingData = backingData }
}
