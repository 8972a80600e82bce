import Foundation
import MoultData
import TestSupport
import Testing

// The code blocks of Documentation/SwiftData.md, compiled and run. A test compares the page with this file.

private enum Page {
    @Model final class Note {
        @Attribute(.unique) var title: String
        var text: String
        @Attribute(.preserveValueOnDeletion) var number: Int
        @Relationship(deleteRule: .cascade, inverse: \Attachment.note) var attachments: [Attachment] = []

        init(title: String, text: String = "", number: Int = 0) {
            self.title = title
            self.text = text
            self.number = number
        }
    }

    @Model final class Attachment {
        var name: String
        var note: Note?

        init(name: String) { self.name = name }
    }

    @ModelActor actor Importer {
        func add(_ titles: [String]) throws -> [PersistentIdentifier] {
            let notes = titles.map { Note(title: $0) }
            for note in notes { modelContext.insert(note) }
            try modelContext.save()
            return notes.map(\.persistentModelID)
        }
    }
}

@Suite struct SwiftDataPageTests {
    private typealias Note = Page.Note
    private typealias Attachment = Page.Attachment
    private typealias Importer = Page.Importer

    @Test func `the page's program runs`() async throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/notes.store")

        let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let note = Note(title: "Shopping")
        note.attachments.append(Attachment(name: "list.txt"))
        context.insert(note)
        try context.save()

        let found = try context.fetch(
            FetchDescriptor<Note>(
                predicate: #Predicate { $0.title.contains("Shop") }, sortBy: [SortDescriptor(\.title)]))
        try context.delete(model: Note.self, where: #Predicate { $0.number > 100 })
        try context.transaction {
            for note in found { note.number += 1 }
        }
        #expect(found == [note] && note.number == 1 && !context.hasChanges)

        var counts: [String: Int] = [:]
        let observer = try ResultsObserver<Attachment, String>(sectionBy: \.name, modelContext: context)
        if let sections = observer.sections {
            for section in sections { counts[section.title] = section.count }
        }
        #expect(counts == ["list.txt": 1])

        let ids = try await Importer(modelContainer: container).add(["Milk", "Bread"])
        #expect(ids.compactMap { (context.model(for: $0) as? Note)?.title } == ["Milk", "Bread"])

        var deleted: [Int?] = []
        context.author = "importer"
        let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
        context.delete(note)
        try context.save()
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        if let last { descriptor.predicate = #Predicate { $0.token > last } }
        for transaction in try context.fetchHistory(descriptor) {
            for case .delete(let change as DefaultHistoryDelete<Note>) in transaction.changes {
                deleted.append(change.tombstone[\.number] as? Int)
            }
        }
        #expect(deleted == [1])
        let titles = "SELECT group_concat(ZTITLE) FROM (SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK)"
        #expect(try SQLiteShell.run(url.path, titles) == "Milk,Bread\n")
        #expect(try SQLiteShell.run(url.path, "SELECT COUNT(*) FROM ZATTACHMENT") == "0\n")
    }

    @Test func `every code block of the page is in this file`() throws {
        let page = try DocumentationPage("SwiftData.md")
        #expect(page.blocks.count == 7 && page.missingBlocks.isEmpty, "\(page.missingBlocks)")
    }
}
