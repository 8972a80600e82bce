import Foundation
import MoultCoreData
import TestSupport
import Testing

/// The classes in Generated/Own.
@Suite("Generated classes for MoultCoreData") struct OwnRoundTripTests {
    private func container(_ folder: ScratchFolder) async throws -> PersistentContainer {
        let container = PersistentContainer(name: "Shelf", managedObjectModel: try Shelf.model(classes: "Own"))
        let url = URL(fileURLWithPath: folder.path + "/shelf.sqlite")
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        try await container.loadPersistentStores()
        try container.register(OwnBook.self, OwnAuthor.self, OwnEditor.self, OwnTag.self)
        return container
    }

    @Test func `every attribute type and kind of relationship comes back from the store`() async throws {
        let folder = try ScratchFolder()
        let id = UUID()
        do {
            let context = try await container(folder).viewContext
            try context.performAndWait {
                let book = try OwnBook(context: context)
                book.integer16 = -16
                book.integer32 = 32
                book.integer64 = .max
                book.double = 0.1
                book.float = -1.5
                book.boolean = true
                book.number = 7
                book.moment = Date(timeIntervalSinceReferenceDate: 1)
                book.date = Date(timeIntervalSinceReferenceDate: 2.5)
                book.decimal = Decimal(string: "12.345")
                book.string = "Emma"
                book.binary = Data([0, 255])
                book.uuid = id
                book.uri = URL(string: "https://example.org")
                book.transformable = Data([1, 2])
                book.default = "yes"
                let (author, second) = (try OwnEditor(context: context), try OwnBook(context: context))
                author.name = "Jane"
                author.house = "Egerton"
                second.string = "Persuasion"
                author.addToBooks([second, book])
                author.removeFromBooks(at: 0)
                author.insertIntoBooks(second, at: 1)
                let tags = try [OwnTag(context: context), OwnTag(context: context)]
                book.addToTags(tags[0])
                book.addToTags(Set(tags))
                book.removeFromTags(tags[1])
                tags[0].title = "novel"
                try context.save()
            }
        }
        let context = try await container(folder).viewContext
        try context.performAndWait {
            let books = try context.fetch(OwnBook.fetchRequest())
            let book = try #require(books.first { $0.string == "Emma" })
            #expect((book.integer16, book.integer32, book.integer64) == (-16, 32, .max))
            #expect(book.double == 0.1 && book.float == -1.5 && book.boolean && book.number == 7)
            #expect(book.moment == Date(timeIntervalSinceReferenceDate: 1))
            #expect(book.date == Date(timeIntervalSinceReferenceDate: 2.5))
            #expect(book.decimal == Decimal(string: "12.345") && book.binary == Data([0, 255]) && book.uuid == id)
            #expect(book.uri?.absoluteString == "https://example.org" && book.transformable as? Data == Data([1, 2]))
            #expect(book.default == "yes" && book.tags.map(\.title) == ["novel"])
            #expect((book.author as? OwnEditor)?.house == "Egerton")
            #expect(book.author?.books.map(\.string) == ["Emma", "Persuasion"])
            #expect(book.author?.namesakes.count == 1)
        }
    }
}
