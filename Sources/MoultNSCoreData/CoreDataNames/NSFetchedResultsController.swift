import Foundation
import MoultCoreData
import MoultModel

/// The kind of change to an object or a section, with Core Data's numbers.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    case move = 3
    case update = 4
}

/// One section of a controller's results.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name, from the section key path.
    var name: String { get }
    /// The first letter of the name, for a section index.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The objects of the section, in order.
    var objects: [Any]? { get }
}

/// A receiver of a controller's changes. All methods are optional: their default implementations do nothing.
///
/// The method with a difference, if it is implemented, is called in place of the methods for single changes, for a
/// controller without sections. An object that has only changed is not in the difference.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

extension NSFetchedResultsControllerDelegate {
    /// Returns the first letter of the section's name.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { ResultSections.indexTitle(of: sectionName) }
    /// Makes the controller call the methods for single changes.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { controller.reportsSingleChanges = true }
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    /// Does nothing.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}
    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}
}

/// The results of a fetch, divided into sections and, if there is a delegate, kept up to date with a context. Without a
/// delegate they stay as they were fetched.
///
/// The results are updated by the context's ``NSManagedObjectContext/processPendingChanges()``, which runs at the end
/// of each `perform`, at a save, and when changes are merged, because Linux has no main run loop that every program
/// runs. The delegate is called on the thread of the change. Each update fetches the results again; there is no cache
/// on disk.
open class NSFetchedResultsController<ResultType>: NSObject, @unchecked Sendable {
    /// The fetch request, which needs a sort descriptor.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// The context whose changes the controller observes.
    public let managedObjectContext: NSManagedObjectContext
    /// The key path that divides the objects into sections.
    public let sectionNameKeyPath: String?
    /// The cache name that the controller was created with.
    public let cacheName: String?
    /// The receiver of the changes.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? { didSet { observe() } }
    private var results: ResultSections?
    private var observer: (any NSObjectProtocol)?
    /// Whether the delegate has only methods for single changes.
    fileprivate var reportsSingleChanges = false

    /// Creates a controller for a fetch request. Ends the program for a request without sort descriptors. The cache
    /// name is only kept in ``cacheName``; results are always fetched.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName: String?
    ) {
        guard fetchRequest.sortDescriptors != nil else {
            raise(
                "NSFetchedResultsController",
                "An instance of NSFetchedResultsController requires a fetch request with sort descriptors")
        }
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    /// Does nothing: results are not cached on disk.
    open class func deleteCache(withName name: String?) {}

    /// Fetches the results.
    ///
    /// - Throws: the errors of the context's fetch.
    open func performFetch() throws {
        results = try fetched()
        observe()
    }

    /// The objects in order; nil before the first fetch.
    open var fetchedObjects: [ResultType]? { results?.all.compactMap { $0 as? ResultType } }
    /// The sections; nil before the first fetch.
    open var sections: [any NSFetchedResultsSectionInfo]? { results?.sections }
    /// The index titles of the sections.
    open var sectionIndexTitles: [String] {
        results?.sections.compactMap { sectionIndexTitle(forSectionName: $0.name) } ?? []
    }
    /// Returns the index title of a section: what the delegate says, or the first letter of its name.
    open func sectionIndexTitle(forSectionName name: String) -> String? {
        guard let delegate else { return ResultSections.indexTitle(of: name) }
        return delegate.controller(erasedController(), sectionIndexTitleForSectionName: name)
    }
    /// Returns the number of the section for a section index title.
    open func section(forSectionIndexTitle title: String, at index: Int) -> Int { index }

    /// Returns the object at an index path. Ends the program if the index path is out of range.
    open func object(at path: IndexPath) -> ResultType {
        guard let results, results.sections.indices.contains(path[0]),
            results.sections[path[0]].list.indices.contains(path[1]),
            let object = results.sections[path[0]].list[path[1]] as? ResultType
        else {
            raise(
                "NSFetchedResultsController.object(at:)", "no object at index \(path[1]) in section at index \(path[0])"
            )
        }
        return object
    }

    /// Returns the index path of an object; nil if it is not among the results.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        (object as? NSManagedObject).flatMap { results?.path(of: $0) }
    }

    // MARK: - Changes

    private func observe() {
        guard results != nil, delegate != nil, observer == nil else { return }
        observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: managedObjectContext, queue: nil
        ) { [weak self] notification in self?.update(notification) }
    }

    private func fetched() throws -> ResultSections {
        let objects = try managedObjectContext.fetch(fetchRequest)
        return ResultSections(objects.compactMap { $0 as? NSManagedObject }, by: sectionNameKeyPath)
    }

    private func update(_ notification: Notification) {
        guard let delegate, let old = results, let new = try? fetched() else { return }
        let touched = [NSUpdatedObjectsKey, NSRefreshedObjectsKey].reduce(into: Set<NSManagedObject>()) {
            $0.formUnion(notification.userInfo?[$1] as? Set<NSManagedObject> ?? [])
        }
        let changes = ResultChanges(from: old, to: new, touched: touched)
        results = new
        guard !changes.isEmpty else { return }
        let controller = erasedController()
        if sectionNameKeyPath == nil {
            let (before, after) = (old.all.map(\.objectID), new.all.map(\.objectID))
            controller.reportsSingleChanges = false
            delegate.controller(
                controller, didChangeContentWith: after.difference(from: before).inferringMoves())
            guard controller.reportsSingleChanges else { return }
        }
        delegate.controllerWillChangeContent(controller)
        for change in changes.sections {
            delegate.controller(controller, didChange: change.section, atSectionIndex: change.index, for: change.type)
        }
        for change in changes.objects {
            delegate.controller(
                controller, didChange: change.object, at: change.old, for: change.type, newIndexPath: change.new)
        }
        delegate.controllerDidChangeContent(controller)
    }

    /// Returns the controller for the delegate, with its result type erased.
    private func erasedController() -> NSFetchedResultsController<any NSFetchRequestResult> {
        if let own = self as? NSFetchedResultsController<any NSFetchRequestResult> { return own }
        let controller = NSFetchedResultsController<any NSFetchRequestResult>(
            fetchRequest: fetchRequest.copyOfRequest(for: (any NSFetchRequestResult).self),
            managedObjectContext: managedObjectContext,
            sectionNameKeyPath: sectionNameKeyPath, cacheName: nil)
        controller.results = results
        return controller
    }
}

/// The results of a controller, divided by the values of a key path.
struct ResultSections {
    private(set) var sections: [Section] = []
    private var places: [ObjectIdentifier: IndexPath] = [:]

    /// One section.
    struct Section: NSFetchedResultsSectionInfo {
        let name: String
        var list: [NSManagedObject] = []
        var indexTitle: String? { ResultSections.indexTitle(of: name) }
        var numberOfObjects: Int { list.count }
        var objects: [Any]? { list }
    }

    /// Returns the first letter of a section's name; nil for an empty name.
    static func indexTitle(of name: String) -> String? { name.first.map { String($0).uppercased() } }

    /// Groups consecutive objects with the same value into sections. Without a key path, all objects form one section.
    init(_ objects: [NSManagedObject], by keyPath: String?) {
        guard let keyPath else {
            if !objects.isEmpty { sections = [Section(name: "", list: objects)] }
            if objects.isEmpty { sections = [Section(name: "")] }
            note()
            return
        }
        for object in objects {
            let name = object.value(forKeyPath: keyPath).map { "\($0)" } ?? ""
            if sections.last?.name != name { sections.append(Section(name: name)) }
            sections[sections.count - 1].list.append(object)
        }
        note()
    }

    private mutating func note() {
        for (number, section) in sections.enumerated() {
            for (place, object) in section.list.enumerated() {
                places[ObjectIdentifier(object)] = IndexPath(indexes: [number, place])
            }
        }
    }

    var all: [NSManagedObject] { sections.flatMap(\.list) }

    func path(of object: NSManagedObject) -> IndexPath? { places[ObjectIdentifier(object)] }
}

/// The changes to the results of a controller, in the order in which a delegate receives them.
struct ResultChanges {
    private(set) var sections: [(section: ResultSections.Section, index: Int, type: NSFetchedResultsChangeType)] = []
    private(set) var objects:
        [(object: NSManagedObject, old: IndexPath?, new: IndexPath?, type: NSFetchedResultsChangeType)] = []

    var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

    init(from old: ResultSections, to new: ResultSections, touched: Set<NSManagedObject>) {
        let (oldNames, newNames) = (Set(old.sections.map(\.name)), Set(new.sections.map(\.name)))
        for (index, section) in old.sections.enumerated() where !newNames.contains(section.name) {
            sections.append((section, index, .delete))
        }
        for (index, section) in new.sections.enumerated() where !oldNames.contains(section.name) {
            sections.append((section, index, .insert))
        }
        for object in old.all where new.path(of: object) == nil {
            objects.append((object, old.path(of: object), nil, .delete))
        }
        for object in new.all where old.path(of: object) == nil {
            objects.append((object, nil, new.path(of: object), .insert))
        }
        // An object has moved if its section, or its order among the remaining objects, has changed.
        let stayed = old.all.filter { new.path(of: $0) != nil }
        let arrived = new.all.filter { old.path(of: $0) != nil }
        let moved = Self.moved(stayed, arrived)
        for object in arrived {
            guard let from = old.path(of: object), let to = new.path(of: object) else { continue }
            let changesSection = old.sections[from[0]].name != new.sections[to[0]].name
            if changesSection || moved.contains(ObjectIdentifier(object)) {
                objects.append((object, from, to, .move))
            } else if touched.contains(object) {
                objects.append((object, from, to, .update))
            }
        }
    }

    /// Returns the objects outside the longest run of objects whose order has not changed.
    private static func moved(_ old: [NSManagedObject], _ new: [NSManagedObject]) -> Set<ObjectIdentifier> {
        let positions = Dictionary(uniqueKeysWithValues: old.enumerated().map { (ObjectIdentifier($1), $0) })
        let order = new.compactMap { positions[ObjectIdentifier($0)] }
        var tails: [Int] = []
        var before = [Int](repeating: -1, count: order.count)
        for (index, position) in order.enumerated() {
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if order[tails[middle]] < position { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var staying: Set<Int> = []
        var index = tails.last ?? -1
        while index >= 0 {
            staying.insert(index)
            index = before[index]
        }
        return Set(new.indices.filter { !staying.contains($0) }.map { ObjectIdentifier(new[$0]) })
    }
}
