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
