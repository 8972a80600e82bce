import Foundation
import MoultData
import TestSupport
import Testing

/// A container of a later version over a store that an older one of this process still has.
@Suite struct OlderContainerTests {
    enum Before {
        @Model final class Note {
            var title: String
            init(title: String) { self.title = title }
        }
    }

    enum After {
        @Model final class Note {
            var title: String
            var isPinned = false
            init(title: String) { self.title = title }
        }
    }

    /// Nobody knows the hash that SwiftData gives a struct with a dictionary.
    enum AfterWithStruct {
        struct Entry: Codable { var text = "" }
        struct History: Codable { var entries: [Date: Entry] = [:] }
        @Model final class Note {
            var title: String
            var history: History?
            init(title: String) { self.title = title }
        }
    }

    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Before.Note.self] }
    }

    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [AfterWithStruct.Note.self] }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MoultData.MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self)] }
    }

    private let folder: ScratchFolder
    private let configuration: ModelConfiguration

    init() throws {
        folder = try ScratchFolder()
        configuration = ModelConfiguration(url: URL(fileURLWithPath: folder.path + "/notes.store"))
    }

    @Test func `the store is migrated, and the older container says so`() throws {
        let older = try ModelContainer(for: Before.Note.self, configurations: configuration)
        let context = ModelContext(older)
        let note = Before.Note(title: "one")
        context.insert(note)
        try context.save()

        let identifier = try #require(older.storeIdentifier(forConfigurationNamed: configuration.name))
        #expect(note.persistentModelID.storeIdentifier == identifier)
        let newer = try ModelContainer(for: After.Note.self, configurations: configuration)
        #expect(older.storeIdentifier(forConfigurationNamed: configuration.name) == identifier)
        #expect(older.configurationName(forStoreIdentifier: identifier) == configuration.name)
        let found = try ModelContext(newer).fetch(FetchDescriptor<After.Note>())
        #expect(found.map(\.title) == ["one"] && found.map(\.isPinned) == [false])

        #expect(note.title == "one")
        let refusals: [() throws -> Void] = [
            { _ = try context.fetch(FetchDescriptor<Before.Note>()) },
            { _ = try context.fetchCount(FetchDescriptor<Before.Note>()) },
            { _ = try ModelContext(older).fetchIdentifiers(FetchDescriptor<Before.Note>()) },
            { try context.delete(model: Before.Note.self) },
            {
                note.title = "changed"
                try context.save()
            },
            {
                let context = ModelContext(older)
                context.insert(Before.Note(title: "new"))
                try context.save()
            },
            { _ = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) },
            { try older.erase() },
        ]
        for (number, refused) in refusals.enumerated() {
            let error = #expect(throws: MigrationError.self, "\(number)") { try refused() }
            #expect(error?.remedy.contains("the container that was made last") == true, "\(number) \(error as Any)")
        }
        let again = try ModelContext(newer).fetch(FetchDescriptor<After.Note>())
        #expect(again.map(\.title) == ["one"])
    }

    @Test func `a later version whose hash is uncertain is no excuse to leave the store as it is`() throws {
        let older = try ModelContainer(for: Before.Note.self, configurations: configuration)
        let context = ModelContext(older)
        context.insert(Before.Note(title: "one"))
        try context.save()
        let newer = try ModelContainer(for: AfterWithStruct.Note.self, configurations: configuration)
        let found = try ModelContext(newer).fetch(FetchDescriptor<AfterWithStruct.Note>())
        #expect(found.map(\.title) == ["one"] && found.allSatisfy { $0.history == nil })
        withExtendedLifetime(older) {}
    }

    @Test func `a plan accepts a store for a version whose hash is uncertain, as the container does`() throws {
        do {
            let context = ModelContext(try ModelContainer(for: Before.Note.self, configurations: configuration))
            context.insert(Before.Note(title: "one"))
            try context.save()
        }
        try Plan.validate(storeAt: configuration.url)
        let container = try ModelContainer(
            for: Schema(versionedSchema: V2.self), migrationPlan: Plan.self, configurations: configuration)
        let found = try ModelContext(container).fetch(FetchDescriptor<AfterWithStruct.Note>())
        #expect(found.map(\.title) == ["one"])
    }

    @Test func `unsaved changes refuse the migration until they are saved`() throws {
        let older = try ModelContainer(for: Before.Note.self, configurations: configuration)
        let context = ModelContext(older)
        context.insert(Before.Note(title: "one"))
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: After.Note.self, configurations: configuration)
        }
        #expect(error?.message.contains("unsaved changes") == true)
        try context.save()
        let newer = try ModelContainer(for: After.Note.self, configurations: configuration)
        #expect(try ModelContext(newer).fetchCount(FetchDescriptor<After.Note>()) == 1)
    }

    @Test func `a container of the same version leaves the older one as it is`() throws {
        let older = try ModelContainer(for: Before.Note.self, configurations: configuration)
        let newer = try ModelContainer(for: Before.Note.self, configurations: configuration)
        let context = ModelContext(newer)
        context.insert(Before.Note(title: "one"))
        try context.save()
        #expect(try ModelContext(older).fetchCount(FetchDescriptor<Before.Note>()) == 1)
    }
}
