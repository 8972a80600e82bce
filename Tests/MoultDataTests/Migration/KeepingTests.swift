import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects
import Synchronization
import TestSupport
import Testing

@testable import MoultData
@testable import MoultEngine

@Suite struct KeepingTests {  // tier: long
    private final class Log: MigrationLogging {
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
        let told = Mutex<[MoultData.MigrationProgress]>([])
        do {
            let container = try ModelContainer.makeContainer(
                migrationPlan: BoxPlan.self, url: store.url, logger: log,
                onProgress: { progress in told.withLock { $0.append(progress) } })
            #expect(try ModelContext(container).fetch(FetchDescriptor<BoxV2.Box>()).count == 2)
        }
        let all = clock.duration(to: .now) / .seconds(1)
        #expect(log.take() == ["start 1.0.0 2.0.0", "success 1.0.0 2.0.0"])
        let duration = try #require(log.durations.withLock { $0.first })
        #expect(duration > 0 && duration < all)
        let fractions = told.withLock { $0.map(\.fractionCompleted) }
        #expect(fractions.last == 1 && fractions == fractions.sorted())
        let left = told.withLock { $0.map(\.estimatedTimeRemaining) }
        #expect(left.last == 0 && left.contains { ($0 ?? 0) > 0 })
        _ = try ModelContainer.makeContainer(migrationPlan: BoxPlan.self, url: store.url, logger: log)
        #expect(log.take().isEmpty)
    }

    @Test func `a container tells what the engine told, on a clock that moves with each report`() throws {
        let registry = MigrationRegistry(plan: BoxPlan.self)
        let engine = Mutex<[MoultEngine.MigrationProgress]>([])
        let first = try store()
        do {
            let system = HandSystem()
            let versions = try #require(try registry.models?())
            let prepared = try PreparedMigration(
                first.path, versions: versions, options: .init(registry: registry), system: system)
            let observer = MigrationObserver(onProgress: { progress in
                engine.withLock { $0.append(progress) }
                system.advance(by: 0.1)
            })
            _ = try Migrator(system: system).run(prepared, observer)
        }
        let container = Mutex<[MoultData.MigrationProgress]>([])
        let second = try store()
        do {
            let system = HandSystem()
            _ = try ModelContainer(
                Schema(versionedSchema: BoxV2.self), BoxPlan.self, [ModelConfiguration(url: second.url)]
            ) { opener in
                opener.system = system
                opener.onProgress = { progress in
                    container.withLock { $0.append(progress) }
                    system.advance(by: 0.1)
                }
            }
        }
        let (told, expected) = (container.withLock { $0 }, engine.withLock { $0 })
        #expect(told.count > 5 && told.map(\.fractionCompleted) == expected.map(\.fraction))
        #expect(told.map(\.phase) == expected.map(\.phase.rawValue) && told.map(\.rows) == expected.map(\.rows))
        #expect(told.map(\.message) == expected.map(\.message))
        #expect(told.map(\.estimatedTimeRemaining) == expected.map(\.estimatedTimeRemaining))
        #expect(expected.count { ($0.estimatedTimeRemaining ?? 0) > 0.05 } > 3)
    }

    @Test func `a closure of two parameters is told the part and the sentence`() throws {
        let store = try store()
        let told = Mutex<[(Double, String?)]>([])
        _ = try ModelContainer.makeContainer(
            migrationPlan: BoxPlan.self, url: store.url,
            onProgress: { part, sentence in told.withLock { $0.append((part, sentence)) } })
        let all = told.withLock { $0 }
        #expect(all.last?.0 == 1 && all.contains { $0.1?.hasPrefix("Made the backup") == true })
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

    @Test func `a backup whose manifest cannot be read is listed with its error, and is not put back`() throws {
        let store = try store()
        let manager = BackupManager(storeAt: store.url)
        let backup = try manager.createBackup()
        let manifest = backup.url.deletingLastPathComponent().appendingPathComponent("manifest.json")
        try Data(contentsOf: manifest).dropLast(20).write(to: manifest)
        let listed = try #require(try manager.backups().first)
        #expect(listed.name == backup.name && listed.url == backup.url && listed.createdAt == backup.createdAt)
        #expect(listed.error?.code == .backupInvalid)
        for use in [{ try manager.verify(listed) }, { _ = try manager.restore(listed) }] {
            #expect(#expect(throws: MigrationError.self) { try use() }?.code == .backupInvalid)
        }
        #expect(try store.sql("SELECT ZNAME FROM ZBOX ORDER BY 1") == "a\nb\n")
    }

    @Test func `a backup in a folder that the store's history names is listed, verified and put back`() throws {
        let store = try store()
        let manager = BackupManager(storeAt: store.url)
        #expect(try manager.backups().isEmpty)
        let first = try manager.createBackup()
        _ = try store.sql("DELETE FROM ZBOX WHERE ZNAME = 'b'")
        let folder = store.url.deletingLastPathComponent().appendingPathComponent("elsewhere")
        let migrator = Migrator(options: MigrationOptions(backupFolder: folder.path))
        _ = try migrator.rollback(store.path, to: Migrator().backups(of: store.path).backup(named: first.name))
        let backup = try #require(try manager.backups().last)
        #expect(backup.url.path.hasPrefix(folder.path))
        try manager.verify(backup)
        try manager.restore(backup)
        #expect(try store.sql("SELECT ZNAME FROM ZBOX ORDER BY 1") == "a\n")
        // What is damaged on the way is not restored.
        let file = try FileHandle(forWritingTo: backup.url)
        try file.seek(toOffset: 200)
        try file.write(contentsOf: [1, 2, 3])
        try file.close()
        #expect(#expect(throws: MigrationError.self) { try manager.restore(backup) }?.code == .backupInvalid)
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
