import Foundation
import MoultData
import TestSupport
import Testing

/// A container does not delete what nobody has said is to go.
@Suite struct UndeclaredLossTests {
    enum Journals: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Journal.self] }

        @Model final class Item {
            var name: String
            var note: String?
            init(name: String, note: String?) { (self.name, self.note) = (name, note) }
        }
        @Model final class Journal {
            var text: String
            init(text: String) { self.text = text }
        }
    }

    /// Another app's models, or the next version of the first one's; only the name Item is common.
    enum Tasks: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Item.self, Errand.self] }

        @Model final class Item {
            var name: String
            var visits: Int?
            init(name: String) { self.name = name }
        }
        @Model final class Errand {
            var title: String
            init(title: String) { self.title = title }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Journals.self, Tasks.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Journals.self, toVersion: Tasks.self)] }
        @TaskLocal static var told: Told?
        static func didLose(_ losses: [MigrationLoss]) { told?.losses += losses }
    }

    final class Told: @unchecked Sendable { var losses: [MigrationLoss] = [] }

    private func store() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(Journals.self) { context in
            context.insert(Journals.Item(name: "lamp", note: "red"))
            context.insert(Journals.Journal(text: "Monday"))
            context.insert(Journals.Journal(text: "Tuesday"))
        }
        #expect(try store.sql("SELECT count(ZNOTE) FROM ZITEM; SELECT count(*) FROM ZJOURNAL") == "1\n2\n")
        return store
    }

    private func configuration(_ store: VersionedStore, _ accepted: AcceptedLosses = .none) -> ModelConfiguration {
        var configuration = ModelConfiguration(url: store.url)
        configuration.acceptedLosses = accepted
        return configuration
    }

    @Test(arguments: [false, true])
    func `two apps with one default store, or a container with fewer models, lose nothing`(isShorter: Bool) throws {
        let store = try store()
        let before = try store.sql(".sha3sum --schema")
        let error = try #require(throws: SwiftDataError.self) {
            isShorter
                ? try ModelContainer(for: Journals.Item.self, configurations: configuration(store))
                : try ModelContainer(for: Tasks.Item.self, Tasks.Errand.self, configurations: configuration(store))
        }.underlyingError
        #expect(error.code == .lossNotAccepted, "\(error)")
        #expect(error.message.contains("2 objects of Journal are deleted"), "\(error)")
        #expect(error.message.contains("Item.note") == !isShorter, "\(error)")
        let places = isShorter ? #"["Journal"]"# : #"["Journal", "Item.note"]"#
        #expect(error.remedy.contains("acceptedLosses = \(places) of the ModelConfiguration"), "\(error)")
        #expect(!"\(error)".contains("--"), "an app has no command line: \(error)")
        #expect(try store.sql(".sha3sum --schema") == before)
    }

    @Test func `a container with fewer models leaves the one that is open as it is`() throws {
        let store = try store()
        let all = try ModelContainer(
            for: Journals.Item.self, Journals.Journal.self, configurations: configuration(store))
        #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Journals.Item.self, configurations: configuration(store))
        }
        let context = ModelContext(all)
        context.insert(Journals.Journal(text: "Wednesday"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Journals.Journal>()) == 3)
    }

    @Test func `what the configuration accepts goes, and is counted in the history`() throws {
        let store = try store()
        let container = try ModelContainer(
            for: Tasks.Item.self, Tasks.Errand.self, configurations: configuration(store, ["Journal", "Item.note"]))
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tasks.Item>()).map(\.name) == ["lamp"])
        let losses = try #require(try MigrationHistory(storeAt: store.url).events().last).losses
        #expect(losses.first { $0.place == "Journal" && $0.kind == .rows }?.count == 2)
        #expect(losses.first { $0.place == "Item.note" }?.count == 1)
    }

    @Test func `what a plan's own versions leave out goes as in SwiftData, and the plan is told`() throws {
        let store = try store()
        let told = Told()
        try Plan.$told.withValue(told) { try store.open(Tasks.self, Plan.self) { _ in } }
        #expect(try store.sql("SELECT ZNAME FROM ZITEM") == "lamp\n")
        #expect(told.losses.first { $0.place == "Journal" && $0.kind == .rows }?.count == 2)
        #expect(told.losses.first { $0.place == "Item.note" }?.count == 1)
    }
}
