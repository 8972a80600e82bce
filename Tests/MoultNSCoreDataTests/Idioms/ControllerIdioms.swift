import MoultNSCoreData
import Testing

@Suite struct ControllerIdioms {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws { container = try Library.container() }

    final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
        var lines: [String] = []

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            lines.append("will")
        }
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
            lines.append("did")
        }
        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            let name = (anObject as? Person)?.name ?? "?"
            lines.append(
                "\(type) \(name) \(indexPath.map { [$0[0], $0[1]] } ?? []) \(newIndexPath.map { [$0[0], $0[1]] } ?? [])"
            )
        }
        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
            for type: NSFetchedResultsChangeType
        ) {
            lines.append("section \(type) \(sectionInfo.name) \(sectionIndex)")
        }
    }

    private func controller(sections: String? = nil) -> NSFetchedResultsController<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors =
            [sections, "name"].compactMap { $0.map { NSSortDescriptor(key: $0, ascending: true) } }
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    @Test("parent.name = parent.name, to show its row again")
    func touched() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        let controller = controller()
        let recorder = Recorder()
        controller.delegate = recorder
        try controller.performFetch()
        ann.name = "Ann"
        context.processPendingChanges()
        #expect(recorder.lines == ["will", "update Ann [0, 0] [0, 0]", "did"])
    }

    @Test("NSFetchedResultsController")
    func changes() throws {
        let ann = Library.person("Ann", in: context)
        let cid = Library.person("Cid", in: context)
        try context.save()
        let controller = controller()
        let recorder = Recorder()
        controller.delegate = recorder
        try controller.performFetch()
        #expect(controller.fetchedObjects == [ann, cid])
        #expect(controller.object(at: IndexPath(indexes: [0, 1])) === cid)
        #expect(controller.indexPath(forObject: cid) == IndexPath(indexes: [0, 1]))

        let bob = Library.person("Bob", in: context)
        try context.save()
        #expect(recorder.lines == ["will", "insert Bob [] [0, 1]", "did"])
        recorder.lines = []
        bob.age = 4
        context.processPendingChanges()
        #expect(recorder.lines == ["will", "update Bob [0, 1] [0, 1]", "did"])
        recorder.lines = []
        ann.name = "Zoe"
        context.processPendingChanges()
        #expect(recorder.lines == ["will", "move Zoe [0, 0] [0, 2]", "did"])
        recorder.lines = []
        context.delete(bob)
        context.processPendingChanges()
        #expect(recorder.lines == ["will", "delete Bob [0, 0] []", "did"])
        #expect(controller.fetchedObjects?.map(\.name) == ["Cid", "Zoe"])
    }

    /// `NSFetchedResultsController`: *No tracking: the delegate is set to nil. The controller simply provides access to
    /// the data as it was when the fetch was executed.*
    @Test("NSFetchedResultsController without a delegate")
    func withoutDelegate() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        let controller = controller()
        try controller.performFetch()
        let bob = Library.person("Bob", in: context)
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [ann])
        // A delegate that is set later follows what comes.
        let recorder = Recorder()
        controller.delegate = recorder
        context.delete(ann)
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [bob])
        controller.delegate = nil
        context.delete(bob)
        context.processPendingChanges()
        #expect(controller.fetchedObjects == [bob])
        try controller.performFetch()
        #expect(controller.fetchedObjects == [])
    }

    /// `controller(_:didChangeContentWith:)`: if it is implemented, and there are no sections, no other method is called.
    @Test("controller(_:didChangeContentWith: CollectionDifference)")
    func difference() throws {
        final class Differences: NSObject, NSFetchedResultsControllerDelegate {
            var found: [CollectionDifference<NSManagedObjectID>] = []
            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>,
                didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
            ) { found.append(diff) }
            func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                Issue.record("a single change")
            }
        }
        let people = ["Ann", "Bob", "Cid"].map { Library.person($0, in: context) }
        try context.save()
        let (controller, delegate) = (controller(), Differences())
        controller.delegate = delegate
        try controller.performFetch()
        let before = people.map(\.objectID)
        people[0].name = "Zoe"
        context.delete(people[1])
        let eve = Library.person("Eve", in: context)
        context.processPendingChanges()
        #expect(delegate.found.count == 1)
        let after = delegate.found.first.flatMap { before.applying($0) }
        #expect(after == [people[2], eve, people[0]].map(\.objectID))
        #expect(delegate.found.first?.insertions.count == 2 && delegate.found.first?.removals.count == 2)
    }

    @Test("NSFetchedResultsController with sections")
    func sections() throws {
        for (name, age) in [("Ann", 1), ("Bob", 2), ("Cid", 1)] as [(String, Int16)] {
            Library.person(name, age, in: context)
        }
        try context.save()
        let controller = controller(sections: "age")
        let recorder = Recorder()
        controller.delegate = recorder
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["1", "2"])
        #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
        Library.person("Dora", 3, in: context)
        context.processPendingChanges()
        #expect(recorder.lines == ["will", "section insert 3 2", "insert Dora [] [2, 0]", "did"])
    }

    @Test("a controller follows what another context saves")
    func merged() throws {
        context.automaticallyMergesChangesFromParent = true
        let (controller, recorder) = (controller(), Recorder())
        controller.delegate = recorder
        try controller.performFetch()
        let other = container.newBackgroundContext()
        Library.person("Eve", in: other)
        try other.save()
        #expect(controller.fetchedObjects?.map(\.name) == ["Eve"] && recorder.lines.count == 3)
    }

    @Test("a controller with sortDescriptors = []")
    func emptySort() throws {
        let context = try Library.context()
        Library.person("Ann", in: context)
        try context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = []
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.name) == ["Ann"])
    }

    @Test("a controller needs sort descriptors")
    func unsorted() async {
        await #expect(processExitsWith: .failure) {
            let container = try Library.container()
            _ = NSFetchedResultsController(
                fetchRequest: NSFetchRequest<Person>(entityName: "Person"),
                managedObjectContext: container.viewContext, sectionNameKeyPath: nil, cacheName: nil)
        }
    }
}
