import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

extension NSManagedObjectContext {
    /// Returns the results of a request, unsaved changes included unless it says otherwise.
    ///
    /// - Throws: an `NSError` for a predicate or key that the store cannot answer.
    public func fetch<Result>(_ request: NSFetchRequest<Result>) throws -> [Result] {
        try results(request).map { found in
            if let result = found as? Result { return result }
            raise(
                "NSManagedObjectContext.fetch(_:)",
                "\(found) is no \(Result.self): set resultType, or managedObjectClassName of the entity.")
        }
    }

    /// Returns the number of objects that a request finds.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try cocoaErrors {
            try base.inTurn { try $0.count(try objectFetch(request)) }
        }
    }

    private func objectFetch<Result>(_ request: NSFetchRequest<Result>) throws -> ObjectFetch {
        guard let coordinator = persistentStoreCoordinator else {
            throw MigrationError(
                .usage, "The context has neither a coordinator nor a parent.",
                remedy: "Set persistentStoreCoordinator or parent before the context is used.")
        }
        if let stores = request.affectedStores, stores != coordinator.persistentStores {
            throw MigrationError(
                .fetchUnsupported, "A fetch asks every store of the coordinator that has the entity.",
                place: request.entityName ?? "",
                remedy: "Leave affectedStores nil, or use a coordinator for each store.")
        }
        return try request.objectFetch(in: coordinator)
    }

    private func results<Result>(_ request: NSFetchRequest<Result>) throws -> [Any] {
        try cocoaErrors {
            if let migration { return try migration.fetch(try objectFetch(request), in: self) }
            return try base.inTurn { graph in
                let fetch = try objectFetch(request)
                switch request.resultType {
                case .managedObjectIDResultType: return try graph.fetchIDs(fetch)
                case .countResultType: return [NSNumber(value: try graph.count(fetch))]
                case .dictionaryResultType:
                    let rows = try graph.fetchRows(fetch).map(dictionary)
                    return Result.self is [String: Any].Type ? rows : rows.map { NSDictionary($0) }
                default:
                    let objects = try graph.fetch(fetch).map { try face(try base.face($0)) }
                    if request.shouldRefreshRefetchedObjects {
                        for object in objects { refresh(object, mergeChanges: true) }
                    }
                    if !request.returnsObjectsAsFaults {
                        for object in objects {
                            object.willAccessValue(forKey: object.entity.attributesByName.keys.first)
                        }
                    }
                    return objects
                }
            }
        }
    }

    private func dictionary(_ row: [String: ExpressionValue]) throws -> [String: Any] {
        try row.compactMapValues { value -> Any? in
            switch value {
            case .object(let id): id
            case .decimal(let digits): NSDecimalNumber(string: digits)
            default: try value.foundation(in: nil)
            }
        }
    }
}

extension NSDictionary {
    fileprivate convenience init(_ row: [String: Any]) {
        self.init(objects: Array(row.values), forKeys: row.keys.map { NSString(string: $0) })
    }
}
