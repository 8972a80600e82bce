import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct ContextTests {
    private func onDisk() throws -> (TestStore, PersistentContainer) {
        let store = try TestStore()
        try store.populate(4)
        return (store, try store.container(Library.first()))
    }

    @Test func `work in the background comes to the view context`() async throws {
        let (store, container) = try onDisk()
        defer { withExtendedLifetime(store) {} }
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        let id = try #require(try context.all("Book", by: "title").first).objectID
        let pages = try await container.performBackgroundTask { background in
            let book = try background.existingObject(with: id)
            try book.setValue(777, forKey: "pages")
            try background.save()
            return try book.value(forKey: "pages") as? Int
        }
        #expect(pages == 777)
        #expect(try context.existingObject(with: id).value(forKey: "pages") as? Int == 777)
    }

    @Test func `a hundred tasks at once lose nothing`() async throws {
        let (store, container) = try onDisk()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        let book = try context.insertNewObject(forEntityName: "Book")
                        try book.setValue("Task \(number)", forKey: "title")
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.sql("SELECT count(*), count(DISTINCT ZTITLE), max(Z_PK) FROM ZBOOK") == "104|104|104")
    }

    @Test func `a did-save notification tells identities, which another context merges`() throws {
        let (store, container) = try onDisk()
        defer { withExtendedLifetime(store) {} }
        let (one, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id = try #require(try one.all("Book", by: "title").first).objectID
        let seen = try other.existingObject(with: id)
        #expect(try seen.value(forKey: "pages") as? Int == 100)
        let told = Told()
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didSaveObjectIDsNotification, object: one, queue: nil
        ) { told.note($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        try one.existingObject(with: id).setValue(5, forKey: "pages")
        try one.save()
        let notification = try #require(told.all.first)
        #expect(told.all.count == 1)
        #expect(notification.userInfo?["updated_objectIDs"] as? Set<ManagedObjectID> == [id])
        #expect(try seen.value(forKey: "pages") as? Int == 100)
        try other.mergeChanges(fromContextDidSave: notification)
        #expect(try seen.value(forKey: "pages") as? Int == 5)
    }

    @Test func `a conflict names what differs, and a merge policy decides it`() throws {
        let (store, container) = try onDisk()
        let (one, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let id = try #require(try one.all("Book", by: "title").first).objectID
        let ours = try other.existingObject(with: id)
        _ = try ours.value(forKey: "pages")
        try one.existingObject(with: id).setValue(5, forKey: "pages")
        try one.save()
        try ours.setValue(6, forKey: "pages")
        let error = try #require(throws: ManagedObjectMergeError.self) { try other.save() }
        #expect(error.coreData?.number == 133020)
        #expect(error.conflicts.map(\.objectIDs) == [[id]])
        // Versions and properties, and no value: a description may end in a log.
        #expect(error.conflicts.first?.description.contains("pages") == true)
        let words = try #require(error.recoverySuggestion)
        #expect(words.contains("merge policy") && error.description.hasSuffix(words), "\(error)")
        #expect((error as any Error).localizedDescription == error.conflicts.first?.description)
        #expect(try store.sql("SELECT ZPAGES FROM ZBOOK WHERE Z_PK = \(1)") == "5")
        other.mergePolicy = .mergeByPropertyObjectTrump
        try other.save()
        #expect(try store.sql("SELECT ZPAGES FROM ZBOOK WHERE Z_PK = \(1)") == "6")
    }

    @Test func `a child context saves into its parent, and the parent into the store`() throws {
        let (store, container) = try onDisk()
        let child = ManagedObjectContext(.privateQueue)
        child.parent = container.viewContext
        let book = try child.insertNewObject(forEntityName: "Book")
        try book.setValue("Child", forKey: "title")
        try child.save()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "4")
        #expect(container.viewContext.insertedObjects.count == 1)
        try container.viewContext.save()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZTITLE = 'Child'") == "1")
    }

    @Test func `rollback gives up every change, reset every object`() throws {
        let (store, container) = try onDisk()
        defer { withExtendedLifetime(store) {} }
        let context = container.viewContext
        let book = try #require(try context.all("Book", by: "title").first)
        try book.setValue("Other", forKey: "title")
        try context.insertNewObject(forEntityName: "Author")
        context.rollback()
        #expect(!context.hasChanges)
        #expect(try book.value(forKey: "title") as? String == "Book 0")
        context.reset()
        #expect(context.registeredObject(for: book.objectID) == nil)
    }

    @Test func `deleting an author deletes the books`() throws {
        let (store, container) = try onDisk()
        let context = container.viewContext
        let author = try #require(try context.all("Author", by: "name").first)
        try context.delete(author)
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "2")
        let join = try store.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        #expect(try store.sql("SELECT count(*) FROM \(join)") == "2")
    }

    @Test func `an object that is gone is an error, in words`() throws {
        let (store, container) = try onDisk()
        let context = container.viewContext
        let id = try #require(try context.all("Book", by: "title").last).objectID
        context.reset()
        _ = try store.sql("DELETE FROM ZBOOK WHERE ZTITLE = 'Book 3'")
        let error = try #require(throws: MigrationError.self) { try context.existingObject(with: id) }
        #expect(error.coreData?.number == 133000)
        #expect(try context.object(with: id).isFault)
    }

    @Test func `identities are permanent from the save on`() throws {
        let (store, container) = try onDisk()
        defer { withExtendedLifetime(store) {} }
        let context = container.viewContext
        let book = try context.insertNewObject(forEntityName: "Book")
        try book.setValue("New", forKey: "title")
        #expect(book.objectID.isTemporaryID)
        try context.obtainPermanentIDs(for: [book])
        let id = book.objectID
        #expect(!id.isTemporaryID)
        try context.save()
        #expect(book.objectID == id)
        let coordinator = container.persistentStoreCoordinator
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        #expect(id.uriRepresentation().absoluteString.hasSuffix("/Book/p5"))
        #expect(coordinator.managedObjectID(forURIRepresentation: URL(fileURLWithPath: "/tmp")) == nil)
    }

    @Test func `a context that stands on nothing says so`() throws {
        let context = ManagedObjectContext(.privateQueue)
        let error = try #require(throws: MigrationError.self) { try context.insertNewObject(forEntityName: "Book") }
        #expect(error.code == .usage)
        #expect(!context.hasChanges)
    }
}

final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Notification] = []
    func note(_ notification: Notification) { lock.withLock { list.append(notification) } }
    var all: [Notification] { lock.withLock { list } }
}
