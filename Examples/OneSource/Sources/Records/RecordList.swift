import CoreData

/// A list of records that follows its context.
public final class RecordList: NSObject, NSFetchedResultsControllerDelegate {
    private let controller: NSFetchedResultsController<NSManagedObject>
    /// The changes since the last call of ``takeChanges()``, such as `insert 2` and `move 0 1`.
    private var changes: [String] = []

    /// - Throws: the error of the fetch.
    public init(of entityName: String, sortedBy key: String, in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    public var records: [NSManagedObject] { controller.fetchedObjects ?? [] }

    public func takeChanges() -> [String] {
        defer { changes = [] }
        return changes
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let places = [indexPath, newIndexPath].compactMap { $0.map { "\($0[1])" } }
        changes.append(([Self.name(of: type)] + places).joined(separator: " "))
    }

    private static func name(of type: NSFetchedResultsChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .delete: "delete"
        case .move: "move"
        case .update: "update"
        @unknown default: "change"
        }
    }
}
