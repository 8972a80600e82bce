import CoreData

/// A person, whose class both versions of the model name.
public final class Contact: NSManagedObject {
    public var givenName: String? {
        get { value(forKey: "givenName") as? String }
        set { setValue(newValue, forKey: "givenName") }
    }
    public var familyName: String? {
        get { value(forKey: "familyName") as? String }
        set { setValue(newValue, forKey: "familyName") }
    }
    public var visits: Int {
        get { value(forKey: "visits") as? Int ?? 0 }
        set { setValue(newValue, forKey: "visits") }
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "created")
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        if givenName == nil, familyName == nil {
            throw NSError(
                domain: "Records", code: 1, userInfo: [NSLocalizedDescriptionKey: "A contact has a name."])
        }
    }
}

/// The two versions of the model.
public enum ContactModel {
    /// A contact has its whole name.
    public static func first() -> NSManagedObjectModel { model(["fullName"]) }
    /// A contact also has a given name and a family name.
    public static func second() -> NSManagedObjectModel { model(["fullName", "givenName", "familyName"]) }

    private static func model(_ names: [String]) -> NSManagedObjectModel {
        let contact = NSEntityDescription()
        contact.name = "Contact"
        contact.managedObjectClassName = NSStringFromClass(Contact.self)
        contact.properties =
            names.map { attribute($0, .stringAttributeType) }
            + [attribute("visits", .integer64AttributeType, 0), attribute("created", .dateAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [contact]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType, _ value: Any? = nil)
        -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.defaultValue) = (name, type, value)
        attribute.isOptional = true
        return attribute
    }

    /// Migrates a store of the first version to another file.
    ///
    /// - Throws: the error of Core Data; no file is left then.
    public static func migrate(_ store: URL, to destination: URL) throws {
        let manager = NSMigrationManager(sourceModel: first(), destinationModel: second())
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        for entity in mapping.entityMappings where entity.destinationEntityName == "Contact" {
            entity.entityMigrationPolicyClassName = NSStringFromClass(FullNamePolicy.self)
        }
        try manager.migrateStore(
            from: store, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: destination,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }
}

/// Splits the whole name of a contact at its first space.
public final class FullNamePolicy: NSEntityMigrationPolicy {
    public override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let parts = (sInstance.value(forKey: "fullName") as? String ?? "").split(separator: " ", maxSplits: 1)
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        for contact in made {
            contact.setValue(parts.first.map(String.init), forKey: "givenName")
            contact.setValue(parts.dropFirst().first.map(String.init), forKey: "familyName")
        }
    }
}
