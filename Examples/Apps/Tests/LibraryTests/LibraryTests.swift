import CoreData
import Foundation
import XCTest

@testable import LibraryApp

final class LibraryTests: XCTestCase {
    private func filled(_ stack: CoreDataStack) throws {
        let context = stack.viewContext
        for (name, titles) in [("Jane Austen", ["Emma", "Persuasion"]), ("Émile Zola", ["Germinal"])] {
            let author = Author(context: context)
            author.name = name
            for (number, title) in titles.enumerated() {
                let book = Book(context: context)
                book.title = title
                book.pages = Int32(100 * (number + 1))
                book.price = NSDecimalNumber(string: "12.50")
                author.addToBooks(book)
            }
        }
        try stack.save()
    }

    private func stack() throws -> CoreDataStack {
        let stack = try CoreDataStack(model: LibraryModel.version2)
        try filled(stack)
        return stack
    }

    func testSearching() throws {
        let context = try stack().viewContext
        XCTAssertEqual(try context.fetch(BookSearch(words: ["EMM"]).request()).map(\.title), ["Emma"])
        XCTAssertEqual(
            try context.fetch(BookSearch(authorName: "Jane Austen", minimumPages: 150).request()).map(\.title),
            ["Persuasion"])
        XCTAssertEqual(try context.count(for: BookSearch().request()), 3)
        XCTAssertEqual(try BookSearch.pagesByAuthor(in: context), ["Jane Austen": 300, "Émile Zola": 100])
        let objects = NSFetchRequest<NSFetchRequestResult>(entityName: "Author")
        XCTAssertEqual(try context.fetch(objects).count, 2)
    }

    func testAListFollowsTheContext() throws {
        let stack = try stack()
        let context = stack.viewContext
        let list = try BookList(context: context)
        XCTAssertEqual(list.sections.map(\.name), ["Jane Austen", "Émile Zola"])
        XCTAssertEqual(list.book(at: IndexPath(indexes: [0, 1])).title, "Persuasion")
        let emma = list.book(at: IndexPath(indexes: [0, 0]))
        emma.title = "Zemma"
        context.processPendingChanges()
        let moved = list.takeLog()
        XCTAssertTrue(moved.first == "begin" && moved.last == "end" && moved.contains { $0.hasPrefix("move") })
        XCTAssertEqual(list.sections.first?.titles, ["Persuasion", "Zemma"])
        let zola = list.book(at: IndexPath(indexes: [1, 0]))
        context.delete(zola)
        try context.save()
        XCTAssertEqual(list.takeLog(), ["begin", "section Émile Zola -", "delete", "end"])
    }

    func testValidation() throws {
        let stack = try stack()
        let book = Book(context: stack.viewContext)
        book.title = ""
        XCTAssertThrowsError(try stack.save()) { error in
            XCTAssertEqual((error as NSError).domain, NSCocoaErrorDomain)
        }
        XCTAssertFalse(stack.viewContext.hasChanges)
        let lent = try XCTUnwrap(stack.viewContext.fetch(BookSearch(words: ["Emma"]).request()).first)
        let loan = Loan(context: stack.viewContext)
        loan.reader = "Ada"
        loan.book = lent
        try stack.save()
        XCTAssertEqual(lent.loans?.count, 1)
        stack.viewContext.delete(lent)
        XCTAssertThrowsError(try stack.save())
        lent.pages = 666
        stack.viewContext.delete(loan)
        try stack.save()
        stack.viewContext.delete(lent)
        XCTAssertThrowsError(try stack.save())
    }

    func testBatches() throws {
        let stack = try stack()
        try stack.importBooks([["title": "Nana", "isbn": "1", "pages": 480], ["title": "Therese", "isbn": "2"]])
        XCTAssertEqual(try stack.viewContext.count(for: Book.fetchRequest()), 5)
        XCTAssertEqual(try stack.raisePages(by: 10, where: NSPredicate(format: "isbn IN %@", ["1", "2"])), 2)
        let nana = try XCTUnwrap(stack.viewContext.fetch(BookSearch(words: ["Nana"]).request()).first)
        XCTAssertEqual(nana.pages, 490)
        try stack.deleteAll("Book")
        XCTAssertEqual(try stack.viewContext.count(for: Book.fetchRequest()), 0)
    }

    func testChildContexts() throws {
        let stack = try stack()
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = stack.viewContext
        let author = try XCTUnwrap(child.fetch(Author.fetchRequest()).first { $0.name == "Jane Austen" })
        author.name = "J. Austen"
        try child.save()
        XCTAssertTrue(stack.viewContext.hasChanges)
        try stack.save()
        let saved = expectation(
            forNotification: .NSManagedObjectContextDidSave, object: nil, handler: nil)
        let background = stack.container.newBackgroundContext()
        background.performAndWait {
            let found = try? background.existingObject(with: author.objectID) as? Author
            found?.name = "Jane"
            try? background.save()
        }
        wait(for: [saved], timeout: 60)
        stack.viewContext.refreshAllObjects()
        XCTAssertEqual(try stack.viewContext.fetch(Author.fetchRequest()).map(\.name).sorted(), ["Jane", "Émile Zola"])
    }

    func testAStoreOfVersion1IsMigrated() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString).sqlite")
        let old = try CoreDataStack(model: LibraryModel.version1, url: url)
        try filled(old)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        XCTAssertFalse(LibraryModel.version2.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let new = try CoreDataStack(model: LibraryModel.version2, url: url)
        let books = try new.viewContext.fetch(BookSearch().request())
        XCTAssertEqual(books.map(\.title), ["Emma", "Germinal", "Persuasion"])
        XCTAssertEqual(books.map { $0.value(forKey: "rating") as? Int }, [3, 3, 3])
    }
}
