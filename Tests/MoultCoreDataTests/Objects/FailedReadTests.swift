import Foundation
import MoultCoreData
import TestSupport
import Testing

/// Values that cannot be read for a while, through properties and keys that cannot throw. The sqlite3 shell tells what is
/// stored.
@Suite struct FailedReadTests {
    private let store: TestStore
    private let disk: UnreadableDisk
    private let container: PersistentContainer
    private let id: ManagedObjectID

    init() throws {
        store = try TestStore()
        try store.populate(4)
        disk = try UnreadableDisk(store.folder.path)
        container = try store.container(Library.first())
        try container.register(Author.self, Book.self, Shelf.self)
        id = try #require(try container.viewContext.all("Author", by: "name").first).objectID
    }

    private func rows() throws -> String {
        try store.sql("SELECT * FROM ZAUTHOR ORDER BY 1; SELECT * FROM ZBOOK ORDER BY 1; SELECT * FROM ZSHELF")
    }

    /// An author who has not been read, and a new book.
    private func unread() throws -> (context: ManagedObjectContext, author: Author, new: Book) {
        let context = container.newBackgroundContext()
        return (context, try #require(try context.object(with: id) as? Author), try Book(context: context))
    }

    /// Changes as an app makes them: each sets what it makes of what it reads.
    static let changes: [(key: String, change: @Sendable (Author, Book) -> Void)] = [
        ("books", { author, new in author.books.insert(new) }),
        ("books", { author, _ in author.books = author.books.filter { $0.pages == 7 } }),
        (
            "books",
            { author, new in
                let books = author["books"] as? Set<ManagedObject>
                author["books"] = (books ?? []).union([new])
            }
        ),
        (
            "books",
            { author, new in
                let books = author.mutableSetValue(forKey: "books")
                if books.isEmpty { author.books = [new] }
            }
        ), ("name", { author, _ in author.name += "!" }),
        (
            "name",
            { author, _ in
                let name = author["name"] as? String
                author["name"] = (name ?? "") + "!"
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func `what could not be read is not replaced, and each save says so`(_ number: Int) throws {
        let (key, change) = Self.changes[number]
        let before = try rows()
        let (context, author, new) = try unread()
        disk.failing { change(author, new) }
        for _ in 0..<3 {
            let error = try #require(throws: MigrationError.self) { try context.save() }
            #expect(error.code == .inputOutput && error.message.hasPrefix("Author.\(key) of "), "\(error)")
        }
        #expect(try rows() == before)
        #expect(author.name == "Austen" && author.books.count == 2)
        author.name += "!"
        author.books.insert(new)
        try context.save()
        #expect(try store.sql("SELECT ZNAME FROM ZAUTHOR WHERE Z_PK = \(id.description.suffix(1))") == "Austen!")
        #expect(try store.sql("SELECT count(ZAUTHOR) FROM ZBOOK") == "5")
    }

    @Test func `what could not be set is thrown, and the other end stays`() throws {
        let (context, author, new) = try unread()
        disk.failing { new.author = author }
        #expect(throws: MigrationError.self) { try context.save() }
        #expect(new.author == nil)
        new.author = author
        try context.save()
        #expect(try store.sql("SELECT count(ZAUTHOR) FROM ZBOOK") == "5")
    }

    @Test func `a rollback forgets what could not be read`() throws {
        let context = container.newBackgroundContext()
        let author = try #require(try context.object(with: id) as? Author)
        disk.failing { #expect(author.books.isEmpty) }
        #expect(context.hasChanges)
        context.rollback()
        #expect(!context.hasChanges)
        try context.save()
        author.books = []
        try context.save()
        #expect(try store.sql("SELECT count(ZAUTHOR) FROM ZBOOK") == "2")
    }
}
