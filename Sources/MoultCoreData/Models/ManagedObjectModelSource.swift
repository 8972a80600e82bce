/// A source of a managed object model, such as a schema of SwiftData, which this module does not know.
public protocol _ManagedObjectModelSource {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    func managedObjectModel() throws -> ManagedObjectModel
}

/// A class that with others makes a managed object model, such as a model of SwiftData.
public protocol _ManagedObjectModelClass: AnyObject {
    /// - Throws: `MigrationError` with code `modelInvalid`.
    static func _managedObjectModel(of classes: [any _ManagedObjectModelClass.Type]) throws -> ManagedObjectModel
}
