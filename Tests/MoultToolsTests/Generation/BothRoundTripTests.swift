import Foundation
import MoultModel
import MoultModelFiles
import MoultNSCoreData
import TestSupport
import Testing

/// The classes in Generated/Both, in the form that other platforms than Apple's compile.
@Suite("Generated classes for both platforms") struct BothRoundTripTests {
    private func container(_ folder: ScratchFolder) throws -> NSPersistentContainer {
        let path = folder.path + "/Shelf.json"
        try Data(try Shelf.model(classes: "Both").json.indented.utf8).write(to: URL(fileURLWithPath: path))
        let model = try #require(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: path)))
        let container = NSPersistentContainer(name: "Shelf", managedObjectModel: model)
        container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: folder.path + "/shelf.sqlite")
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @Test func `every attribute type and kind of relationship comes back from the store`() throws {
        let folder = try ScratchFolder()
        let id = UUID()
        do {
            let container = try container(folder)
            let context = container.viewContext
            let (book, second) = (BothBook(context: context), BothBook(context: context))
            book.integer16 = -16
            book.integer32 = 32
            book.integer64 = .max
            book.double = 0.1
            book.float = -1.5
            book.boolean = true
            book.number = 7
            book.moment = 1
            book.date = Date(timeIntervalSinceReferenceDate: 2.5)
            book.decimal = NSDecimalNumber(string: "12.345")
            book.string = "Emma"
            book.binary = Data([0, 255])
            book.uuid = id
            book.uri = URL(string: "https://example.org")
            book.default = "yes"
            second.string = "Persuasion"
            let author = BothEditor(context: context)
            author.name = "Jane"
            author.house = "Egerton"
            author.addToBooks(NSOrderedSet(array: [second, book]))
            author.removeFromBooks(at: 0)
            author.insertIntoBooks(second, at: 1)
            let tags = [BothTag(context: context), BothTag(context: context)]
            book.addToTags(tags[0])
            book.addToTags(NSSet(array: tags))
            book.removeFromTags(tags[1])
            tags[0].title = "novel"
            try context.save()
        }
        let container = try container(folder)
        let books = try container.viewContext.fetch(BothBook.fetchRequest())
        let book = try #require(books.first { $0.string == "Emma" })
        #expect((book.integer16, book.integer32, book.integer64) == (-16, 32, .max))
        #expect(book.double == 0.1 && book.float == -1.5 && book.boolean && book.number == 7)
        #expect(book.moment == 1 && book.date == Date(timeIntervalSinceReferenceDate: 2.5))
        #expect(book.decimal == NSDecimalNumber(string: "12.345") && book.binary == Data([0, 255]) && book.uuid == id)
        #expect(book.uri?.absoluteString == "https://example.org" && book.default == "yes")
        #expect(book.tags?.allObjects.compactMap { ($0 as? BothTag)?.title } == ["novel"])
        #expect((book.author as? BothEditor)?.house == "Egerton")
        let titles = book.author?.books?.array.compactMap { ($0 as? BothBook)?.string }
        #expect(titles == ["Emma", "Persuasion"])
        #expect(book.author?.namesakes?.count == 1)
    }
}
