import CoreData
import Foundation

/// What a table of books shows, in sections of their authors.
public final class BookList: NSObject, NSFetchedResultsControllerDelegate {
    public private(set) var log: [String] = []
    private let controller: NSFetchedResultsController<Book>

    public init(context: NSManagedObjectContext) throws {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "title", ascending: true),
        ]
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    public var sections: [(name: String, titles: [String])] {
        (controller.sections ?? []).map { section in
            (section.name, (section.objects as? [Book] ?? []).map(\.title))
        }
    }

    public func book(at indexPath: IndexPath) -> Book { controller.object(at: indexPath) }
    public func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        log.append("begin")
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? Book)?.title ?? ""
        switch type {
        case .insert: log.append("insert \(title)")
        case .delete: log.append("delete")
        case .move: log.append("move \(title)")
        case .update: log.append("update \(title)")
        @unknown default: break
        }
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        log.append("section \(sectionInfo.name) \(type == .insert ? "+" : "-")")
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        log.append("end")
    }
}
