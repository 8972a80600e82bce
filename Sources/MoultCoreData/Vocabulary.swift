import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects

// An app's launch, so that one import is enough.
@_exported import class MoultSession.LaunchProgress
@_exported import struct MoultSession.StoreLaunch

// Core Data's names for the types of MoultModel, so that one import is enough.

/// One version of a model: `NSManagedObjectModel`. It is a value type that is always valid.
public typealias ManagedObjectModel = MoultModel.ManagedObjectModel
/// An entity in a model: `NSEntityDescription`.
public typealias EntityDescription = MoultModel.EntityDescription
/// The common features of attributes, relationships and fetched properties: `NSPropertyDescription`.
public typealias PropertyDescription = MoultModel.PropertyDescription
/// An attribute in a model: `NSAttributeDescription` and `NSDerivedAttributeDescription`.
public typealias AttributeDescription = MoultModel.AttributeDescription
/// The type of an attribute, with Core Data's numbers: `NSAttributeType`.
public typealias AttributeType = MoultModel.AttributeType
/// The value of an attribute, in the form in which it is stored.
public typealias AttributeValue = MoultModel.AttributeValue
/// A relationship in a model: `NSRelationshipDescription`.
public typealias RelationshipDescription = MoultModel.RelationshipDescription
/// The rule for the destinations of a relationship when its object is deleted: `NSDeleteRule`.
public typealias DeleteRule = MoultModel.DeleteRule
/// A stored query that belongs to an entity: `NSFetchedPropertyDescription`.
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
/// The app's code for its migrations, by name.
public typealias MigrationRegistry = MoultObjects.MigrationRegistry
/// The policy for the backups that are kept.
public typealias RetentionPolicy = MoultEngine.RetentionPolicy
/// The losses that an app accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// Moult's error type, with Core Data's constant and number (`MigrationError.coreData`).
public typealias MigrationError = MoultBasics.MigrationError

extension ManagedObjectModel {
    /// A named subset of a model's entities.
    public typealias Configuration = MoultModel.Configuration
    /// A named fetch request stored in a model.
    public typealias FetchRequestTemplate = MoultModel.FetchRequestTemplate
}

/// The identity of an object in its store. It is valid on every thread and, once permanent, in every process.
public typealias ManagedObjectID = MoultModel.ObjectID

extension ManagedObjectID {
    /// Whether the identity is temporary, until the object's first save. It is then valid only in this process.
    public var isTemporaryID: Bool { isTemporary }

    /// Returns the identity as a URI in Core Data's form, `x-coredata://UUID/Entity/p1`.
    public func uriRepresentation() -> URL {
        URL(string: description) ?? URL(fileURLWithPath: "/dev/null")
    }
}

// The names for migration policies, so that one import is enough.

/// Code that creates the objects of an entity mapping: `NSEntityMigrationPolicy`.
public typealias EntityMigrationPolicy = MoultObjects.EntityMigrationPolicy
/// The state shared by the policies of one migration, such as the destination objects of each source object:
/// `NSMigrationManager`.
public typealias MigrationManager = MoultObjects.MigrationManager
/// An object of the old version, which a policy reads.
public typealias SourceObject = MoultObjects.SourceObject
/// An object of the new version, which a policy creates.
public typealias DestinationObject = MoultObjects.DestinationObject
/// The decision of a policy about a source object: kept, dropped, merged or quarantined.
public typealias InstanceOutcome = MoultObjects.InstanceOutcome
/// The number of source objects of one entity mapping for each outcome.
public typealias InstanceCounts = MoultObjects.InstanceCounts
