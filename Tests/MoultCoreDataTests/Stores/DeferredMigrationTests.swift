import Foundation
import MoultCoreData
import MoultModel
import Synchronization
import TestSupport
import Testing

/// `NSPersistentStoreDeferredLightweightMigrationOptionKey` and the two calls that finish what it puts off.
@Suite struct DeferredMigrationTests {
    private let key = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// A container over a store of the second of ``DeferrableVersions``, which was migrated from the first just now.
    private func container(_ store: TestStore) throws -> PersistentContainer {
        let versions = try DeferrableVersions.make()
        do {
            let old = try store.container(versions.versions[0].model)
            for number in 0..<20 {
                let item = try old.viewContext.insertNewObject(forEntityName: "Item")
                try item.setValue("Item \(number)", forKey: "name")
                try item.setValue(Double(number), forKey: "rate")
            }
            try old.viewContext.save()
            for open in old.persistentStoreCoordinator.persistentStores {
                try old.persistentStoreCoordinator.remove(open)
            }
        }
        return try store.container(versions.versions[1].model, versions: versions) { description in
            description.setOption(true, forKey: PersistentStoreOption.deferredLightweightMigration)
        }
    }

    private func isPending(_ coordinator: PersistentStoreCoordinator) throws -> Bool {
        let store = try #require(coordinator.persistentStores.first)
        return try coordinator.metadata(for: store)[key] as? Bool ?? false
    }

    @Test func `one task at a time until the metadata say that nothing is pending, with contexts in use`() throws {
        #expect(PersistentStoreOption.deferredLightweightMigration == key)
        let store = try TestStore()
        let container = try container(store)
        let coordinator = container.persistentStoreCoordinator
        #expect(try isPending(coordinator))
        #expect(try store.sql("SELECT count(ZRATE) FROM ZITEM") == "20")
        let item = try #require(try container.viewContext.all("Item", by: "title").first)
        #expect(try item.value(forKey: "score") as? Int == 7)
        var calls = 0
        while try isPending(coordinator), calls < 20 {
            let told = Mutex<[MigrationProgress]>([])
            try coordinator.finishDeferredLightweightMigrationTask { progress in told.withLock { $0.append(progress) } }
            calls += 1
            // Each call tells of its own task.
            let all = told.withLock { $0 }
            #expect(all.last?.fractionCompleted == 1 && all.last?.estimatedTimeRemaining == 0)
            #expect(all.map(\.fractionCompleted) == all.map(\.fractionCompleted).sorted())
            #expect(all.allSatisfy { $0.rows <= $0.totalRows } && (all.last?.totalRows ?? .max) <= 20)
            // Objects that were there before stay what they are.
            try item.setValue("call \(calls)", forKey: "title")
            try container.viewContext.save()
        }
        #expect(calls == 4)
        #expect(try store.sql("SELECT count(*) FROM ZITEM WHERE ZTITLE = 'call 4'") == "1")
        #expect(try store.sql("SELECT count(*) FROM pragma_table_info('ZITEM') WHERE name = 'ZRATE'") == "0")
        try coordinator.finishDeferredLightweightMigrationTask()
    }

    @Test func `the migration tells how far it is as a sequence, which ends when the store is open`() async throws {
        let store = try TestStore()
        try store.populate()
        let description = PersistentStoreDescription(url: store.url)
        let container = PersistentContainer(name: "Library", managedObjectModel: try Library.second())
        container.persistentStoreDescriptions = [description]
        let updates = description.migrationUpdates()
        try await container.loadPersistentStores()
        var fractions: [Double] = []
        for await update in updates { fractions.append(update.fractionCompleted) }
        #expect(fractions.count > 3 && fractions == fractions.sorted() && fractions.last == 1)
        // A store that needs no migration has nothing to tell.
        let again = PersistentStoreDescription(url: store.url)
        for open in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(open)
        }
        container.persistentStoreDescriptions = [again]
        let none = again.migrationUpdates()
        try await container.loadPersistentStores()
        for await update in none { Issue.record("told \(update)") }
    }

    @Test func `it can be cancelled, also by the task that does it, and is done later`() async throws {
        let store = try TestStore()
        let coordinator = try container(store).persistentStoreCoordinator
        let one = #expect(throws: MigrationError.self) {
            try coordinator.finishDeferredLightweightMigrationTask(isCancelled: { true })
        }
        let all = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return #expect(throws: MigrationError.self) { try coordinator.finishDeferredLightweightMigration() }
        }.value
        #expect(one?.code == .cancelled && all?.code == .cancelled)
        #expect(try isPending(coordinator) && store.sql("SELECT count(ZRATE) FROM ZITEM") == "20")
        try coordinator.finishDeferredLightweightMigration()
        #expect(try !isPending(coordinator))
    }

    @Test func `all of it in one call`() throws {
        let store = try TestStore()
        let coordinator = try container(store).persistentStoreCoordinator
        try coordinator.finishDeferredLightweightMigration()
        #expect(try !isPending(coordinator))
        #expect(try store.sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'Z_DEFERRED%'") == "0")
    }
}
