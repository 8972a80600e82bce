import CoreData
import Foundation

/// One store, opened by Core Data.
struct Stack {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    /// - Parameters:
    ///   - migrates: whether an older store is migrated. Without it an older one is an error.
    ///   - hasHistory: whether the store keeps persistent history; without the option Core Data opens it read-only.
    init(_ store: URL, model: NSManagedObjectModel, migrates: Bool = false, hasHistory: Bool = false) throws {
        container = NSPersistentContainer(name: "Parity", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: store)
        description.shouldAddStoreAsynchronously = false
        description.shouldMigrateStoreAutomatically = migrates
        description.shouldInferMappingModelAutomatically = migrates
        if hasHistory {
            description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    /// Closes the store, so that its log is merged and another program may read it.
    func close() throws {
        let coordinator = container.persistentStoreCoordinator
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}

extension NSManagedObjectModel {
    /// A version of a compiled model.
    static func version(_ name: String, of bundle: URL) throws -> NSManagedObjectModel {
        let file = bundle.appendingPathComponent("\(name).mom")
        guard let model = NSManagedObjectModel(contentsOf: file) else {
            throw ParityError("Core Data does not read the compiled model \(file.path).")
        }
        return model
    }
}
