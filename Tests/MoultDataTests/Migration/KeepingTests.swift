import MoultCoreData
import MoultData
import MoultSystem
import Synchronization
import TestSupport
import Testing

@Suite struct KeepingTests {
    private final class Log: MigrationLogger {
        let lines = Mutex<[String]>([])
        let durations = Mutex<[TimeInterval]>([])

        func logMigrationStart(from: String, to: String) { lines.withLock { $0.append("start \(from) \(to)") } }
        func logMigrationSuccess(from: String, to: String, duration: TimeInterval) {
            lines.withLock { $0.append("success \(from) \(to)") }
            durations.withLock { $0.append(duration) }
        }
        func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error) {
            lines.withLock { $0.append("failure \(from) \(to)") }
            durations.withLock { $0.append(duration) }
        }
        func take() -> [String] {
            lines.withLock {
                let all = $0
                $0 = []
                return all
            }
        }
    }

    private func store() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(BoxV1.self) { context in for name in ["a", "b"] { context.insert(BoxV1.Box(name: name)) } }
        return store
    }

    @Test func `a logger is told of a migration's start and end, with a duration that was measured, and of no more`()
        throws
    {
        let (store, log) = (try store(), Log())
        let clock = ContinuousClock.now
        let fractions = Mutex<[Double]>([])
        do {
            let container = try ModelContainer.makeContainer(
                migrationPlan: BoxPlan.self, url: store.url, logger: log,
                onProgress: { part, _ in fractions.withLock { $0.append(part) } })
            #expect(try ModelContext(container).fetch(FetchDescriptor<BoxV2.Box>()).count == 2)
        }
        let all = clock.duration(to: .now) / .seconds(1)
        #expect(log.take() == ["start 1.0.0 2.0.0", "success 1.0.0 2.0.0"])
        let duration = try #require(log.durations.withLock { $0.first })
        #expect(duration > 0 && duration < all)
        #expect(fractions.withLock { $0.last == 1 && $0 == $0.sorted() })
        _ = try ModelContainer.makeContainer(migrationPlan: BoxPlan.self, url: store.url, logger: log)
        #expect(log.take().isEmpty)
    }

    @Test func `a logger is told of a failure, and the history keeps both`() throws {
        let (store, log) = (try store(), Log())
        #expect(throws: SwiftDataError.self) {
            _ = try ModelContainer.makeContainer(migrationPlan: FailingBoxPlan.self, url: store.url, logger: log)
        }
        #expect(log.take() == ["start 1.0.0 2.0.0", "failure 1.0.0 2.0.0"])
        _ = try ModelContainer.makeContainer(migrationPlan: BoxPlan.self, url: store.url)
        let events = try MigrationHistory(storeAt: store.url).events()
        #expect(events.map(\.outcome) == [.failed, .succeeded])
        #expect(events.map(\.from) == ["1.0.0", "1.0.0"] && events.map(\.to) == ["2.0.0", "2.0.0"])
        #expect(events[0].error?.contains("didMigrate") == true && events[1].error == nil)
        #expect(events.allSatisfy { $0.duration > 0 } && events[1].backup != nil)
    }

    @Test func `a migration is cancelled from its progress, and the store is as it was`() throws {
        let store = try store()
        #expect(throws: SwiftDataError.self) {
            _ = try ModelContainer.makeContainer(migrationPlan: BoxPlan.self, url: store.url, isCancelled: { true })
        }
        #expect(try store.sql("SELECT count(*) FROM ZBOX") == "2\n")
        #expect(try MigrationHistory(storeAt: store.url).events().map(\.outcome) == [.cancelled])
    }

    @Test func `a backup is made, proven and put back, and what was there is backed up before`() throws {
        let store = try store()
        let manager = BackupManager(storeAt: store.url)
        let backup = try manager.createBackup()
        #expect(backup.version == "1.0.0" && backup.size > 0)
        try manager.verify(backup)
        try store.open(BoxV2.self, BoxPlan.self) { context in
            for box in try context.fetch(FetchDescriptor<BoxV2.Box>()) { context.delete(box) }
        }
        #expect(try store.sql("SELECT count(*) FROM ZBOX") == "0\n")
        let saved = try #require(try manager.restore(backup))
        #expect(try store.sql("SELECT ZNAME FROM ZBOX ORDER BY 1") == "a\nb\n")
        #expect(saved.version == "2.0.0")
        #expect(try manager.backups().map(\.version) == ["1.0.0", "1.0.0", "2.0.0"])
    }

    @Test func `a store that is open in this process is backed up as it was last saved, and stays open`() throws {
        let store = try store()
        let manager = BackupManager(storeAt: store.url)
        let backup = try store.open(BoxV1.self) { context in
            context.insert(BoxV1.Box(name: "saved"))
            try context.save()
            context.insert(BoxV1.Box(name: "not saved"))
            let backup = try manager.createBackup()
            #expect(try SQLiteShell.run(backup.url.path, "SELECT group_concat(ZNAME) FROM ZBOX") == "a,b,saved\n")
            // Nobody's locks are lost: another process cannot take the store.
            try context.save()
            let other = try SQLiteProcess(store.path)
            #expect(try other.run("PRAGMA journal_mode = DELETE;").contains("locked"))
            #expect(throws: MigrationError.self) { try manager.restore(backup) }
            context.insert(BoxV1.Box(name: "later"))
            return backup
        }
        #expect(backup.version == "1.0.0")
        try manager.verify(backup)
        #expect(try store.sql("SELECT count(*) FROM ZBOX") == "5\n")
        try manager.restore(backup)
        #expect(try store.sql("SELECT count(*) FROM ZBOX") == "3\n")
        #expect(try manager.backups().map(\.version) == ["1.0.0", "1.0.0"])
    }

    @Test func `a backup waits for a save that another thread is in, and saves wait for it`() throws {
        let store = try store()
        try store.open(BoxV1.self) { _ in
            let process = try SQLiteProcess(store.path)
            try process.run("BEGIN IMMEDIATE; UPDATE ZBOX SET ZNAME = 'c' WHERE ZNAME = 'a';")
            let error = #expect(throws: MigrationError.self) { try BackupManager(storeAt: store.url).createBackup() }
            #expect(error?.code == .locked)
            try process.run("COMMIT;")
            let backup = try BackupManager(storeAt: store.url).createBackup()
            #expect(try SQLiteShell.run(backup.url.path, "SELECT min(ZNAME) FROM ZBOX") == "b\n")
        }
    }

    @Test func `code over a data model runs with either face`() throws {
        func names<Model: DataModel>(_ model: Model, name: (Model.Record) throws -> String) throws -> [String] {
            let context = model.createContext()
            let names = try model.fetch(model.all, in: context).map(name)
            try model.save(context)
            return names.sorted()
        }
        let store = try store()
        do {
            let container = try ModelContainer(
                for: Schema(versionedSchema: BoxV1.self), configurations: ModelConfiguration(url: store.url))
            #expect(try names(SwiftDataModel(container, for: BoxV1.Box.self)) { $0.name } == ["a", "b"])
        }
        let coordinator = PersistentContainer(
            name: "Boxes", managedObjectModel: try Schema(versionedSchema: BoxV1.self).managedObjectModel())
        _ = try coordinator.persistentStoreCoordinator.addPersistentStore(at: store.url)
        let boxes = CoreDataModel<ManagedObject>(coordinator, entityName: "Box")
        #expect(try names(boxes) { try $0.value(forKey: "name") as? String ?? "" } == ["a", "b"])
    }
}

private enum BoxV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Box.self] }
    @Model final class Box {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum BoxV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Box.self] }
    @Model final class Box {
        var name: String
        var size = 1
        init(name: String) { self.name = name }
    }
}

private enum BoxPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BoxV1.self, BoxV2.self] }
    static var stages: [MoultData.MigrationStage] { [.lightweight(fromVersion: BoxV1.self, toVersion: BoxV2.self)] }
}

private struct BoxIsWrong: Error {}

private enum FailingBoxPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BoxV1.self, BoxV2.self] }
    static var stages: [MoultData.MigrationStage] {
        [
            .custom(
                fromVersion: BoxV1.self, toVersion: BoxV2.self, willMigrate: nil,
                didMigrate: { _ in throw BoxIsWrong() })
        ]
    }
}
