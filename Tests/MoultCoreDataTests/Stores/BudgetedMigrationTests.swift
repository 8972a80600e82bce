import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import TestSupport
import Testing

/// An app that migrates its store before it loads it, call by call.
@Suite struct BudgetedMigrationTests {  // tier: long
    private func described(_ store: TestStore, _ versions: ModelVersions) -> PersistentContainer {
        let container = PersistentContainer(
            name: "Library", managedObjectModel: versions.versions[1].model, versions: versions)
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: store.url)]
        return container
    }

    @Test func `a store is migrated within a budget, and a budget that is too small says what is needed`() throws {
        let (store, versions) = (try TestStore(), try KillableVersions.make())
        do {
            let old = try store.container(versions.versions[0].model)
            for open in old.persistentStoreCoordinator.persistentStores {
                try old.persistentStoreCoordinator.remove(open)
            }
        }
        let count = 150_000
        _ = try store.sql(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME)
                SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'), 1, 'Item ' || value
                FROM generate_series(1, \(count));
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Item'
            """)
        let container = described(store, versions)
        for budget in [0, -1, 0.001] {
            let error = #expect(throws: MigrationError.self) { try container.migrate(budget: budget) }
            #expect(error?.code == .budgetTooSmall)
        }
        let paused = try budgetedCalls { seconds in
            do {
                guard case .unfinished(_, nil) = try container.migrate(budget: seconds) else { return true }
                return false
            } catch let error as MigrationError where error.code == .budgetTooSmall {
                return nil
            }
        }
        #expect(paused > 0)
        #expect(try store.sql("SELECT count(*), min(ZSCORE), max(ZSCORE) FROM ZITEM") == "\(count)|1|1")
        #expect(try container.migrate(budget: 10) == .finished)
        let loaded = try store.container(versions.versions[1].model, versions: versions)
        #expect(try loaded.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == count)
    }

    @Test(arguments: [true, false])
    func `a task after the migration runs once, whether the stores are compared or not`(isCompared: Bool) throws {
        let (store, versions) = (try TestStore(), try KillableVersions.make())
        try store.container(versions.versions[0].model).close()
        let (ran, verifying) = (AfterMigrationTests.Count(), AfterMigrationTests.Count())
        func container() -> PersistentContainer {
            let container = described(store, versions)
            container.persistentStoreDescriptions[0].validatesAfterMigration = isCompared
            container.persistentStoreDescriptions[0].afterMigration = { _ in ran.up() }
            container.persistentStoreDescriptions[0].migrationProgress = { if $0.phase == "verify" { verifying.up() } }
            return container
        }
        var calls = 0
        while try container().migrate(budget: 10) != .finished, calls < 20 { calls += 1 }
        for _ in 0..<2 {
            let loaded = container()
            loaded.loadPersistentStores { _, error in #expect(error == nil) }
            try loaded.close()
        }
        #expect(ran.value == 1)
        // Each comparison of rows is reported; without them, only the end is.
        #expect(isCompared ? verifying.value > 3 : verifying.value <= 1)
    }
}
