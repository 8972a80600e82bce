import Foundation
import MoultCoreData
import TestSupport
import Testing

/// The task that runs once after a migration.
@Suite struct AfterMigrationTests {
    final class Count: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0
        func up() { lock.withLock { number += 1 } }
        var value: Int { lock.withLock { number } }
    }

    struct Died: Error {}

    private func markAllRead(_ context: ManagedObjectContext) throws {
        for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
            try book.setValue(true, forKey: "isRead")
        }
    }

    @Test func `it runs after the migration, its changes are saved, and never again`() throws {
        let store = try TestStore()
        try store.populate()
        let count = Count()
        for _ in 0..<3 {
            let container = try store.container(Library.second()) { description in
                description.afterMigration = { context in
                    count.up()
                    try markAllRead(context)
                }
            }
            try container.close()
        }
        #expect(count.value == 1)
        #expect(try store.sql("SELECT sum(ZISREAD) FROM ZBOOK") == "10")
    }

    @Test func `it does not run where nothing is migrated`() throws {
        let store = try TestStore()
        let count = Count()
        for _ in 0..<2 {
            try store.container(Library.first()) { $0.afterMigration = { _ in count.up() } }.close()
        }
        #expect(count.value == 0)
    }

    @Test func `when it throws, its changes are gone, the store is not added, and it runs at the next opening`() throws
    {
        let store = try TestStore()
        try store.populate()
        #expect(throws: Died.self) {
            try store.container(Library.second()) { description in
                description.afterMigration = { context in
                    try markAllRead(context)
                    try context.save()
                    throw Died()
                }
            }
        }
        #expect(try store.sql("SELECT sum(ZISREAD), count(ZRATING) FROM ZBOOK") == "0|10")
        let count = Count()
        let container = try store.container(Library.second()) { description in
            description.afterMigration = { context in
                count.up()
                try markAllRead(context)
            }
        }
        #expect(count.value == 1)
        #expect(try store.sql("SELECT sum(ZISREAD) FROM ZBOOK") == "10")
        let metadata = try container.persistentStoreCoordinator.metadata(
            for: container.persistentStoreCoordinator.persistentStores[0])
        #expect(!metadata.isEmpty && !metadata.keys.contains { $0.hasPrefix("Moult") })
    }

    @Test func `one that died with the process is due at the next opening`() throws {
        // The state after the commit of a migration and before the task: a migration whose task could not end.
        let store = try TestStore()
        try store.populate()
        #expect(throws: Died.self) {
            try store.container(Library.second()) { $0.afterMigration = { _ in throw Died() } }
        }
        let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: store.url)
        #expect(try Library.second().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(metadata["MoultAfterMigration"] as? Bool == true)
        // Opening without a task leaves it due.
        try store.container(Library.second()).close()
        let count = Count()
        try store.container(Library.second()) { $0.afterMigration = { _ in count.up() } }.close()
        #expect(count.value == 1)
    }

    @Test func `without the comparison the migration is done all the same`() throws {
        let store = try TestStore()
        try store.populate()
        let container = try store.container(Library.second()) { $0.validatesAfterMigration = false }
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 10)
    }

    @Test func `a cancelled migration leaves the store as it was`() throws {
        let store = try TestStore()
        try store.populate()
        let before = try Data(contentsOf: store.url)
        let error = try #require(throws: MigrationError.self) {
            try store.container(Library.second()) { $0.isMigrationCancelled = { true } }
        }
        #expect(error.coreData?.constant == "NSMigrationCancelledError")
        #expect(try Data(contentsOf: store.url) == before)
    }
}
