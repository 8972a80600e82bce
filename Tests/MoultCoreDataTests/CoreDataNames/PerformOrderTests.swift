import Dispatch
import Foundation
import MoultCoreData
import MoultNSCoreData
import Testing

/// The order of `perform` and `performAndWait`.
@Suite struct PerformOrderTests {
    let order = SharedList<Int>()

    @Test(arguments: [NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType, .mainQueueConcurrencyType])
    func `a block that is waited for runs after those before it`(_ type: NSManagedObjectContextConcurrencyType) throws {
        let context = NSManagedObjectContext(concurrencyType: type)
        let order = order
        for number in 0..<20 { context.perform { order.add(number) } }
        context.performAndWait { order.add(20) }
        #expect(order.elements == Array(0...20))
    }

    @Test func `what a block has saved is there for the next`() throws {
        let container = try Cards.container()
        let context = container.newBackgroundContext()
        context.perform {
            Cards.insert("a", in: context)
            try? context.save()
        }
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Card"))
        }
        #expect(count == 1)
    }

    @Test func `a nested call runs at once, and an error leaves it`() throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let order = order
        context.performAndWait {
            context.perform { order.add(3) }
            context.performAndWait { context.performAndWait { order.add(1) } }
            order.add(2)
        }
        context.perform { context.performAndWait { order.add(4) } }
        #expect(throws: CocoaError.self) {
            try context.performAndWait { () throws -> Void in throw CocoaError(.coreData) }
        }
        context.performAndWait { order.add(5) }
        #expect(order.elements == [1, 2, 3, 4, 5])
    }

    @Test func `an observer of a save may wait for the same context and for others`() throws {
        let container = try Cards.container()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let order = order
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { _ in
            context.performAndWait { order.add(2) }
            other.performAndWait { order.add(3) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        // Not in a block: the save has its turn all the same.
        Cards.insert("a", in: context)
        other.perform { order.add(1) }
        other.performAndWait {}
        context.perform { order.add(4) }
        try context.save()
        context.performAndWait {}
        #expect(Set(order.elements) == [1, 2, 3, 4] && order.elements.first == 1)
    }

    @Test func `contexts that many threads wait for come to an end`() throws {
        let container = try Cards.container()
        let contexts = (0..<4).map { _ in container.newBackgroundContext() }
        let order = order
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            // Always in the same order, as with any locks.
            let (first, second) = (contexts[number % 2], contexts[2 + number % 2])
            second.perform { order.add(number) }
            first.perform { second.performAndWait { order.add(number) } }
            first.performAndWait { second.performAndWait { order.add(number) } }
        }
        for context in contexts { context.performAndWait {} }
        #expect(order.elements.sorted() == (0..<64).flatMap { [$0, $0, $0] })
    }

    @Test func `asynchronous blocks are in the order of the calls`() async throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let order = order
        func begin() { context.perform { order.add(1) } }
        begin()
        let count = await context.perform { order.elements.count }
        #expect(count == 1)
        await context.perform(schedule: .enqueued) { order.add(2) }
        begin()
        func wait() { context.performAndWait { order.add(3) } }
        wait()
        #expect(order.elements == [1, 2, 1, 3])
    }

    @Test func `a context without the prefix keeps the order too`() async throws {
        let context = ManagedObjectContext()
        let order = order
        func begin() {
            context.perform { order.add(1) }
            context.performAndWait { context.performAndWait { order.add(2) } }
            context.perform { order.add(3) }
        }
        begin()
        let elements = try await context.perform { order.elements }
        #expect(elements == [1, 2, 3])
    }

    @Test func `blocks of a coordinator are in the order of the calls`() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Cards.model())
        let order = order
        let done = DispatchSemaphore(value: 0)
        for number in 0..<20 { coordinator.perform { order.add(number) } }
        coordinator.perform { done.signal() }
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(order.elements == Array(0..<20))
    }
}
