import Foundation
import MoultBasics
import MoultModel
import MoultObjects

// The words of a model are MoultModel's; here they are under Core Data's names, so that one import is enough.

/// One version of a model: `NSManagedObjectModel`. A value here, which is whole whenever it exists.
public typealias ManagedObjectModel = MoultModel.ManagedObjectModel
/// An entity as a model declares it: `NSEntityDescription`.
public typealias EntityDescription = MoultModel.EntityDescription
/// The common features of attributes, relationships and fetched properties: `NSPropertyDescription`.
public typealias PropertyDescription = MoultModel.PropertyDescription
/// An attribute as a model declares it: `NSAttributeDescription`, and `NSDerivedAttributeDescription` too.
public typealias AttributeDescription = MoultModel.AttributeDescription
/// The type of an attribute, with Core Data's numbers: `NSAttributeType`.
public typealias AttributeType = MoultModel.AttributeType
/// The value of an attribute, in the form that a store keeps it in.
public typealias AttributeValue = MoultModel.AttributeValue
/// A relationship as a model declares it: `NSRelationshipDescription`.
public typealias RelationshipDescription = MoultModel.RelationshipDescription
/// The effect of the deletion of an object on the other end of a relationship: `NSDeleteRule`.
public typealias DeleteRule = MoultModel.DeleteRule
/// A stored query that hangs on an entity: `NSFetchedPropertyDescription`.
public typealias FetchedPropertyDescription = MoultModel.FetchedPropertyDescription
/// An index of an entity: `NSFetchIndexDescription`.
public typealias FetchIndexDescription = MoultModel.FetchIndexDescription
/// A type of attributes that are stored together: `NSCompositeAttributeDescription`.
public typealias CompositeDescription = MoultModel.CompositeDescription
/// One version of a model with its names and version hashes.
public typealias ModelVersion = MoultModel.ModelVersion
/// The versions of one model, oldest first.
public typealias ModelVersions = MoultModel.ModelVersions
/// A mapping from the objects of one version to those of another: `NSMappingModel`.
public typealias MappingModel = MoultModel.MappingModel
/// A mapping from the objects of one entity to those of another: `NSEntityMapping`.
public typealias EntityMapping = MoultModel.EntityMapping
/// The extent to which a mapping changes an entity, with Core Data's numbers: `NSEntityMappingType`.
public typealias EntityMappingType = MoultModel.EntityMappingType
/// The source of the value of one property of the new version: `NSPropertyMapping`.
public typealias PropertyMapping = MoultModel.PropertyMapping
/// A closure of the app that computes a value of the new version from values of a row.
public typealias ValueTransform = MoultModel.ValueTransform
/// A Swift type that an attribute's values convert to and from.
public typealias AttributeConvertible = MoultModel.AttributeConvertible
/// The code of an app that its migrations call, by name.
public typealias MigrationRegistry = MoultObjects.MigrationRegistry
/// The losses that an app accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The one error of Moult, with Core Data's constant and number (`MigrationError.coreData`).
public typealias MigrationError = MoultBasics.MigrationError

extension ManagedObjectModel {
    /// A named subset of a model's entities.
    public typealias Configuration = MoultModel.Configuration
    /// A fetch request that a model keeps under a name.
    public typealias FetchRequestTemplate = MoultModel.FetchRequestTemplate
}

/// The identity of an object in its store; valid in every thread, and once it is permanent in every process.
public typealias ManagedObjectID = MoultModel.ObjectID

extension ManagedObjectID {
    /// True until the first save of the object; a temporary identity is good in this process only.
    public var isTemporaryID: Bool { isTemporary }

    /// `x-coredata://UUID/Entity/p1`, as Core Data writes it.
    public func uriRepresentation() -> URL {
        URL(string: description) ?? URL(fileURLWithPath: "/dev/null")
    }
}

// The words of migration policies, so that one import is enough.

/// Code that makes the objects of an entity mapping: `NSEntityMigrationPolicy`.
public typealias EntityMigrationPolicy = MoultObjects.EntityMigrationPolicy
/// The state that the policies of one migration share, such as which objects became of which: `NSMigrationManager`.
public typealias MigrationManager = MoultObjects.MigrationManager
/// An object of the old version, which a policy reads.
public typealias SourceObject = MoultObjects.SourceObject
/// An object of the new version, which a policy makes.
public typealias DestinationObject = MoultObjects.DestinationObject
/// The decision of a policy about a source object: kept, dropped, merged or quarantined.
public typealias InstanceOutcome = MoultObjects.InstanceOutcome
/// The counts of what became of the source objects of one entity mapping.
public typealias InstanceCounts = MoultObjects.InstanceCounts
