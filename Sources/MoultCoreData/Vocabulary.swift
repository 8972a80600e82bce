import MoultModel
import MoultTransform

// The words of a model are MoultModel's; here they are under Core Data's names, so that one import is enough.

public typealias ManagedObjectModel = MoultModel.ManagedObjectModel
public typealias EntityDescription = MoultModel.EntityDescription
public typealias PropertyDescription = MoultModel.PropertyDescription
public typealias AttributeDescription = MoultModel.AttributeDescription
public typealias AttributeType = MoultModel.AttributeType
public typealias AttributeValue = MoultModel.AttributeValue
public typealias RelationshipDescription = MoultModel.RelationshipDescription
public typealias DeleteRule = MoultModel.DeleteRule
public typealias FetchedPropertyDescription = MoultModel.FetchedPropertyDescription
public typealias FetchIndexDescription = MoultModel.FetchIndexDescription
public typealias CompositeDescription = MoultModel.CompositeDescription
public typealias ModelVersion = MoultModel.ModelVersion
public typealias ModelVersions = MoultModel.ModelVersions
public typealias MappingModel = MoultModel.MappingModel
public typealias EntityMapping = MoultModel.EntityMapping
public typealias EntityMappingType = MoultModel.EntityMappingType
public typealias PropertyMapping = MoultModel.PropertyMapping
public typealias ValueTransform = MoultModel.ValueTransform
public typealias AttributeConvertible = MoultModel.AttributeConvertible
/// The code of an app that its migrations call, by name.
public typealias MigrationRegistry = MoultTransform.MigrationRegistry
/// The losses that an app accepts.
public typealias AcceptedLosses = MoultModel.AcceptedLosses
/// Objects, values or links that a migration does not carry over, with their count.
public typealias MigrationLoss = MoultModel.MigrationLoss
/// The one error of Moult, with Core Data's constant and number (``MoultModel/MigrationError/coreData``).
public typealias MigrationError = MoultModel.MigrationError

extension ManagedObjectModel {
    /// A named subset of a model's entities.
    public typealias Configuration = MoultModel.Configuration
    /// A fetch request that a model keeps under a name.
    public typealias FetchRequestTemplate = MoultModel.FetchRequestTemplate
}

/// Which object of which store; good in every thread, and once it is permanent in every process.
public typealias ManagedObjectID = MoultModel.ObjectID
