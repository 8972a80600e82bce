import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

extension NSManagedObjectContext {
    /// Carries out a batch request, a request of persistent history, or an asynchronous fetch.
    ///
    /// - Throws: an `NSError` of the Cocoa domain.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try cocoaErrors(in: self) {
            switch request {
            case let request as NSBatchInsertRequest: return try request.run(in: self)
            case let request as NSBatchUpdateRequest: return try request.run(in: self)
            case let request as NSBatchDeleteRequest: return try request.run(in: self)
            case let request as NSPersistentHistoryChangeRequest: return try request.run(in: self)
            case let request as any AsynchronousRequest: return request.start(in: self)
            default:
                throw MigrationError(
                    .unsupported, "A \(type(of: request)) cannot be executed.", place: "\(type(of: request))",
                    remedy: "Use fetch(_:) for a fetch request.")
            }
        }
    }

    /// A value of a batch request as the attribute of that name keeps it.
    func stored(_ value: Any, _ key: String, of entityName: String) throws -> Any {
        guard !(value is AttributeValue), !(value is NSNull),
            let model = persistentStoreCoordinator?.base.managedObjectModel,
            let attribute = model.entity(entityName).flatMap({ model.attribute(key, of: $0) })
        else { return value }
        if attribute.type == .transformable {
            return AttributeValue.transformable(
                [UInt8](try TransformerBridge(attribute.valueTransformerName).data(from: value)))
        }
        return try attributeValue(value, attribute.type, "\(entityName).\(key)") ?? value
    }

    func stores(holding entityName: String) throws -> [ObjectStore] {
        guard let coordinator = persistentStoreCoordinator?.base,
            coordinator.managedObjectModel.entity(entityName) != nil
        else {
            throw MigrationError(
                .unknownKey, "The model has no entity \(entityName).", place: entityName,
                remedy: "Correct the name of the entity.")
        }
        let stores = coordinator.objects.stores(holding: entityName)
        guard !stores.isEmpty else { throw coordinator.objects.noStore(holding: entityName) }
        return stores
    }
}

private protocol AsynchronousRequest {
    func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult
}

extension NSAsynchronousFetchRequest: AsynchronousRequest {
    fileprivate func start(in context: NSManagedObjectContext) -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self)
        context.perform {
            do {
                result.finalResult = try context.fetch(self.fetchRequest)
            } catch {
                result.operationError = error
            }
            self.completionBlock?(result)
        }
        return result
    }
}
