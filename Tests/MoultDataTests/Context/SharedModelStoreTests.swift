import Foundation
import MoultData
import TestSupport
import Testing

/// Two contexts, and two processes, on one store.
@Suite struct SharedModelStoreTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book

    private let folder: ScratchFolder
    private let container: ModelContainer
    private var path: String { folder.path + "/books.store" }

    init() throws {
        folder = try ScratchFolder()
        container = try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self),
            configurations: .init(url: URL(fileURLWithPath: folder.path + "/books.store")))
        let context = ModelContext(container)
        let shelf = Shelf(code: "A")
        shelf.books = [Book("Emma"), Book("Persuasion")]
        context.insert(shelf)
        try context.save()
    }

    private func emma(_ context: ModelContext) throws -> Book {
        try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 100 })).min {
                $0.persistentModelID < $1.persistentModelID
            })
    }

    @Test func `what another context changed since is not overwritten`() throws {
        let (one, two) = (ModelContext(container), ModelContext(container))
        let (here, there) = (try emma(one), try emma(two))
        here.title = "here"
        there.title = "there"
        try two.save()
        let error = #expect(throws: SwiftDataError.saveConflict) { try one.save() }
        // It names the property, and no value: a message may end in a log.
        #expect(error?.message.contains("(title)") == true && error?.message.contains("there") == false)
        #expect(here.title == "here" && here.hasChanges)
        one.rollback()
        #expect(here.title == "there")
        here.title = "after all"
        try one.save()
        #expect(try SQLiteShell.run(path, "SELECT Z_OPT FROM ZBOOK WHERE ZTITLE = 'after all'") == "3\n")
    }

    @Test func `what another process changed or deleted is not overwritten either`() throws {
        let context = ModelContext(container)
        let book = try emma(context)
        let title = book.title
        _ = try SQLiteShell.run(path, "UPDATE ZBOOK SET ZTITLE = 'theirs', Z_OPT = Z_OPT + 1 WHERE ZTITLE = '\(title)'")
        book.pages = 1
        #expect(throws: SwiftDataError.saveConflict) { try context.save() }
        context.rollback()
        #expect(book.title == "theirs" && book.pages == 100)
        _ = try SQLiteShell.run(path, "DELETE FROM ZBOOK WHERE ZTITLE = 'theirs'")
        book.pages = 2
        #expect(throws: SwiftDataError.saveConflict) { try context.save() }
        context.rollback()
        #expect(!context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 1)
    }

    @Test func `rollback reads what another process saved, also of what has no changes`() throws {
        let context = ModelContext(container)
        let (book, shelf) = (try emma(context), try #require(try context.all(Shelf.self).first))
        let titles = shelf.books.map(\.title).sorted()
        let here = book.title
        let other = ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: Bookshop.self), configurations: .init(url: URL(fileURLWithPath: path))))
        let there = try emma(other)
        there.title = "theirs"
        try #require(try other.all(Shelf.self).first).books.append(Book("new there"))
        try other.save()
        #expect(book.title == here)
        context.rollback()
        #expect(book.title == "theirs")
        #expect(shelf.books.map(\.title).sorted() == (titles.filter { $0 != here } + ["new there", "theirs"]).sorted())
        // What it reads is what the next save is made over.
        book.pages = 7
        try context.save()
        #expect(try SQLiteShell.run(path, "SELECT ZPAGES FROM ZBOOK WHERE ZTITLE = 'theirs'") == "7\n")
        other.delete(there)
        other.rollback()
        other.delete(there)
        try other.save()
        context.rollback()
        #expect(book.modelContext == nil && book.title == "theirs")
    }

    @Test func `a save waits for a writer, and is whole or nothing`() throws {
        let context = ModelContext(container)
        let shelf = try #require(try context.all(Shelf.self).first)
        shelf.books.append(Book("Third"))
        let author = Bookshop.Author("Austen")
        context.insert(author)
        let process = try SQLiteProcess(path)
        try process.run("BEGIN IMMEDIATE; UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 10 WHERE Z_NAME = 'Book';")
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { [process = Unchecked(process)] in
            _ = try? process.value.run("COMMIT;")
        }
        try context.save()
        #expect(try SQLiteShell.run(path, "SELECT MAX(Z_PK) FROM ZBOOK") == "13\n")
    }

    @Test func `a row with NULL where a value has to be is refused with its name`() throws {
        _ = try SQLiteShell.run(path, "UPDATE ZBOOK SET ZTITLE = NULL WHERE Z_PK = 2")
        let context = ModelContext(container)
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.all(Book.self) }
        #expect(error?.underlyingError.place == "Book.title" && error?.message.contains("/Book/p2") == true)
        #expect(throws: SwiftDataError.self) {
            try context.enumerate(FetchDescriptor<Book>()) { _ in }
        }
        _ = try SQLiteShell.run(path, "UPDATE ZBOOK SET ZTITLE = 'x', ZGENRE = 'cookery' WHERE Z_PK = 2")
        let other = #expect(throws: SwiftDataError.self) { try ModelContext(container).all(Book.self) }
        #expect(other?.underlyingError.place == "Book.genre")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 2)
    }

    private struct Unchecked: @unchecked Sendable {
        let value: SQLiteProcess
        init(_ value: SQLiteProcess) { self.value = value }
    }
}
