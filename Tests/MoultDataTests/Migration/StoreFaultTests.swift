import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

@Suite struct StoreFaultTests {
    private func store(_ titles: [String?]) throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(Loose.self) { context in for title in titles { context.insert(Loose.Item(title: title)) } }
        return store
    }

    @Test func `duplicates of what becomes unique are counted on the real store`() throws {
        let store = try store(["a", "a", "a", "b", "b", "c"])
        let error = #expect(throws: MigrationError.self) { try StrictPlan.validate(storeAt: store.url) }
        #expect(error?.code == .dataConflict)
        let told = "2 values of Item.title, which becomes unique, occur more than once."
        #expect(error?.message.contains(told) == true, "\(error!)")
        #expect(throws: SwiftDataError.self) { try store.open(Strict.self, StrictPlan.self) { _ in } }
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == "6\n")
        #expect(error?.remedy.contains("in the willMigrate of a custom stage") == true, "\(error!)")
        let sound = try self.store(["a", "b"])
        try StrictPlan.validate(storeAt: sound.url)
        // The remedy.
        try store.open(Strict.self, MergingPlan.self) { _ in }
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM ORDER BY 1") == "a\nb\nc\n")
    }

    @Test func `values that are missing where they become required are counted`() throws {
        let store = try store([nil, nil, "c"])
        let error = #expect(throws: MigrationError.self) { try RequiredPlan.validate() }
        #expect(error?.message.contains("becomes required and has no default value") == true, "\(error!)")
        let told = "Of 3 objects of Item in the store, 2 have no value."
        let counted = #expect(throws: MigrationError.self) { try RequiredPlan.validate(storeAt: store.url) }
        #expect(counted?.message.contains(told) == true, "\(counted!)")
        let refused = #expect(throws: SwiftDataError.self) { try store.open(Required.self, RequiredPlan.self) { _ in } }
        #expect(refused?.message.contains(told) == true, "\(refused!)")
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == "3\n")
    }

    @Test func `a required property that is new is refused with the number of objects that would lack it`() throws {
        let store = try store(["a", "b"])
        let refused = #expect(throws: SwiftDataError.self) { try store.open(Wider.self, WiderPlan.self) { _ in } }
        #expect(refused?.message.contains("The store has 2 objects of Item, which would be without it.") == true)
    }

    @Test func `a store from before the plan is adopted where a version has its tables`() throws {
        // Released without a version, and with a hash modifier that was taken away later.
        let store = try VersionedStore()
        try store.open(Unversioned.self) { $0.insert(Unversioned.Item(title: "old")) }
        let found = try store.open(Strict.self, StrictPlan.self) {
            try $0.fetch(FetchDescriptor<Strict.Item>()).map(\.title)
        }
        #expect(found == ["old"])
    }

    @Test func `a store of a build in between is refused, with what it has and the nearest version has not`() throws {
        let store = try VersionedStore()
        try store.open(InBetween.self) { $0.insert(InBetween.Item(title: "old")) }
        do {
            try store.open(Strict.self, StrictPlan.self) { _ in }
            Issue.record("it was opened")
        } catch {
            #expect(error as? SwiftDataError == .unknownSchema)
            #expect("\(error)".contains("no version of StrictPlan") && "\(error)".contains("colour"), "\(error)")
        }
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM") == "old\n")
    }

    /// The versions differ in a uniqueness constraint alone, so their tables are the same.
    @Test func `a store of a version later than the plan's is refused as that, and the remedy goes back`() throws {
        let store = try VersionedStore()
        try store.open(Loose.self) { $0.insert(Loose.Item(title: "old")) }
        try store.open(Strict.self, StrictPlan.self) { $0.insert(Strict.Item(title: "new")) }
        let before = try store.sql("SELECT * FROM ZITEM; SELECT hex(Z_PLIST) FROM Z_METADATA")
        let error = try #require(throws: SwiftDataError.self) { try store.open(Loose.self, LoosePlan.self) { _ in } }
        #expect(error == .backwardMigration)
        #expect(error.message.hasPrefix("The store is of the later version 2.0.0. The newest of LoosePlan is 1.0.0."))
        #expect(error.message.contains(" From 1.0.0 to the store: "), "\(error)")
        #expect(error.remedy.contains("BackupManager(storeAt:).restore(_:)"), "\(error)")
        let checked = try #require(throws: MigrationError.self) { try LoosePlan.validate(storeAt: store.url) }
        #expect(checked.message == error.message && checked.remedy == error.remedy)
        #expect(try store.sql("SELECT * FROM ZITEM; SELECT hex(Z_PLIST) FROM Z_METADATA") == before)
        // The remedy.
        let manager = BackupManager(storeAt: store.url)
        try manager.restore(#require(try manager.backups().first))
        let titles = try store.open(Loose.self, LoosePlan.self) {
            try $0.fetch(FetchDescriptor<Loose.Item>()).map(\.title)
        }
        #expect(titles == ["old"])
    }

    @Test func `a released version that was edited is told from the store to the edit`() throws {
        let store = try VersionedStore()
        try store.open(Loose.self) { $0.insert(Loose.Item(title: "old")) }
        let error = try #require(throws: SwiftDataError.self) { try store.open(Edited.self, EditedPlan.self) { _ in } }
        #expect(error == .unknownSchema)
        #expect(
            error.message.hasPrefix("The store is of no version of EditedPlan. It names the version 1.0.0, which has"),
            "\(error)")
        #expect(error.message.contains("From the store to 1.0.0: An attribute Item.extra is added"), "\(error)")
        #expect(error.remedy.hasPrefix("Leave the models of a released version as they are"), "\(error)")
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM") == "old\n")
    }

    @Test func `what an older schema that the plan lacks has is told as removed since`() throws {
        let store = try VersionedStore()
        try store.open(InBetween.self) { $0.insert(InBetween.Item(title: "old")) }
        let error = try #require(throws: SwiftDataError.self) { try store.open(Strict.self, StrictPlan.self) { _ in } }
        #expect(error.message.contains("From the store to 2.0.0: "), "\(error)")
        #expect(error.message.contains("The attribute Item.colour is removed"), "\(error)")
        #expect(error.remedy.hasPrefix("Every build that reached users needs its version"), "\(error)")
    }

    @Test func `a damaged store is restored as the remedy says`() throws {
        let store = try VersionedStore()
        try store.open(Loose.self) { $0.insert(Loose.Item(title: "old")) }
        let manager = BackupManager(storeAt: store.url)
        let backup = try manager.createBackup()
        let bytes = try Data(contentsOf: store.url)
        try (bytes.prefix(100) + Data(repeating: 0xA5, count: bytes.count - 100)).write(to: store.url)
        let error = try #require(throws: SwiftDataError.self) { try store.open(Loose.self) { _ in } }
        #expect(error.underlyingError.code == .storeCorrupted)
        let told = "BackupManager(storeAt:).restore(_:) restores a sound backup"
        #expect(error.remedy.contains(told) && error.remedy.contains("(product Moult)"), "\(error)")
        try manager.restore(backup)
        let titles = try store.open(Loose.self) { try $0.fetch(FetchDescriptor<Loose.Item>()).map(\.title) }
        #expect(titles == ["old"])
    }

    @Test func `a store that is out of WAL mode is read without a file next to it`() throws {
        let store = try VersionedStore()
        try store.open(Loose.self) { $0.insert(Loose.Item(title: "old")) }
        #expect(try store.sql("PRAGMA journal_mode = DELETE") == "delete\n")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Loose.self),
            configurations: ModelConfiguration(url: store.url, allowsSave: false))
        let titles = try ModelContext(container).fetch(FetchDescriptor<Loose.Item>()).map(\.title)
        let files = ["-wal", "-shm", "-journal"].filter { FileManager.default.fileExists(atPath: store.path + $0) }
        #expect(titles == ["old"] && files == [])
        #expect(try store.sql("PRAGMA journal_mode") == "delete\n")
        withExtendedLifetime(container) {}
    }

    @Test func `a store of other models is refused without a plan too, and keeps what it has`() throws {
        let store = try VersionedStore()
        try store.open(Strict.self) { $0.insert(Strict.Item(title: "kept")) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(Elsewhere.self) { _ in } }
        #expect(error == .unknownSchema && "\(error!)".contains("Item") && "\(error!)".contains("Place"), "\(error!)")
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM") == "kept\n")
    }

    @Test func `a store of a later version is refused and not changed`() throws {
        let store = try VersionedStore()
        try store.open(Strict.self) { $0.insert(Strict.Item(title: "new")) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(Loose.self, StrictPlan.self) { _ in } }
        #expect(error?.underlyingError.code == .incompatibleVersion && error == .backwardMigration, "\(error!)")
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM") == "new\n")
    }

    @Test func `a file that is no store is refused, whatever the plan, and Foundation has the words`() throws {
        let store = try VersionedStore()
        try Data("not a store at all, but a text".utf8).write(to: store.url)
        let error = try #require(throws: SwiftDataError.self) { try store.open(Strict.self, StrictPlan.self) { _ in } }
        #expect(error.underlyingError.code == .notAStore, "\(error)")
        for told: any Error in [error, error.underlyingError] {
            #expect(told.localizedDescription == error.message && !error.message.isEmpty)
            let localized = try #require(told as? any LocalizedError)
            #expect(localized.recoverySuggestion == error.remedy && !error.remedy.isEmpty)
            #expect(localized.failureReason == error.underlyingError.cause)
        }
        // A file of no bytes becomes a store, unless a log next to it may hold everything.
        try Data().write(to: store.url)
        let log = URL(fileURLWithPath: store.path + "-wal")
        try Data([1]).write(to: log)
        let logged = try #require(throws: SwiftDataError.self) { try store.open(Strict.self, StrictPlan.self) { _ in } }
        #expect(!logged.remedy.contains("Remove"), "\(logged)")
        try FileManager.default.removeItem(at: log)
        try store.open(Strict.self) { $0.insert(Strict.Item(title: "new")) }
        #expect(try store.sql("SELECT ZTITLE FROM ZITEM") == "new\n")
    }
}

private enum Loose: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        var title: String?
        init(title: String?) { self.title = title }
    }
}

private enum Strict: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        @Attribute(.unique) var title: String?
        init(title: String?) { self.title = title }
    }
}

private enum MergingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Loose.self, Strict.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Loose.self, toVersion: Strict.self,
                willMigrate: { context in
                    var seen: Set<String> = []
                    for item in try context.fetch(FetchDescriptor<Loose.Item>()) {
                        if let title = item.title, !seen.insert(title).inserted { context.delete(item) }
                    }
                }, didMigrate: nil)
        ]
    }
}

private enum LoosePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Loose.self] }
    static var stages: [MigrationStage] { [] }
}

private enum Edited: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        var title: String?
        var extra: String?
        init(title: String?) { self.title = title }
    }
}

private enum EditedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Edited.self] }
    static var stages: [MigrationStage] { [] }
}

private enum Required: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        var title: String
        init(title: String) { self.title = title }
    }
}

private enum Wider: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        var title: String?
        var size: Int
        init(size: Int) { self.size = size }
    }
}

private enum WiderPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Loose.self, Wider.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Loose.self, toVersion: Wider.self)] }
}

private enum Unversioned: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        @Attribute(hashModifier: "first") var title: String?
        init(title: String?) { self.title = title }
    }
}

private enum InBetween: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 5, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }
    @Model final class Item {
        var title: String?
        var colour: String?
        init(title: String?) { self.title = title }
    }
}

private enum Elsewhere: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Place.self] }
    @Model final class Place {
        var name: String?
        init(name: String?) { self.name = name }
    }
}

private enum StrictPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Loose.self, Strict.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Loose.self, toVersion: Strict.self)] }
}

private enum RequiredPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Loose.self, Required.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Loose.self, toVersion: Required.self)] }
}
