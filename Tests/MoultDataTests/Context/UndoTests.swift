import Foundation
import MoultData
import TestSupport
import Testing

// Apple's UndoManager is bound to the main actor.
#if !canImport(Darwin)
    /// What changes in a context is undone and redone, before and after its save.
    @Suite struct UndoTests {
        typealias Shelf = Bookshop.Shelf
        typealias Book = Bookshop.Book

        let container: ModelContainer
        let context: ModelContext
        let manager = UndoManager()

        init() throws {
            container = try Bookshop.container()
            context = ModelContext(container)
            context.undoManager = manager
            manager.groupsByEvent = false
        }

        private func grouped(_ body: () -> Void) {
            manager.beginUndoGrouping()
            body()
            manager.endUndoGrouping()
        }

        @Test func `changes of values are undone in the model that is in use`() throws {
            let book = Book("Emma", pages: 474)
            grouped { context.insert(book) }
            try context.save()
            grouped { book.pages = 500 }
            grouped { book.title = "Sanditon" }
            manager.undo()
            #expect(book.title == "Emma" && book.pages == 500)
            manager.undo()
            #expect(book.pages == 474 && !context.hasChanges)
            manager.redo()
            manager.redo()
            #expect(book.title == "Sanditon" && book.pages == 500)
            try context.save()
            #expect(try ModelContext(container).all(Book.self).map(\.title) == ["Sanditon"])
        }

        @Test func `an insertion and a deletion are undone with their relationships`() throws {
            let shelf = Shelf(code: "A")
            grouped { context.insert(shelf) }
            grouped { context.insert(Book("Emma", shelf: shelf)) }
            #expect(shelf.books.count == 1)
            manager.undo()
            #expect(shelf.books.isEmpty)
            manager.redo()
            try context.save()
            let book = try #require(try context.all(Book.self).first)
            let id = book.persistentModelID
            grouped { context.delete(book) }
            try context.save()
            #expect(try context.all(Book.self).isEmpty && shelf.books.isEmpty)
            manager.undo()
            #expect(shelf.books.map(\.title) == ["Emma"])
            try context.save()
            let found = try ModelContext(container).all(Book.self)
            #expect(found.map(\.persistentModelID) == [id] && found.first?.shelf?.code == "A")
        }

        @Test func `an insertion that changed a row by its unique value is undone as a whole`() throws {
            let folder = try ScratchFolder()
            let path = folder.path + "/shop.store"
            let container = try ModelContainer(
                for: Schema(versionedSchema: Bookshop.self), configurations: .init(url: URL(fileURLWithPath: path)))
            let context = ModelContext(container)
            let sql = {
                try SQLiteShell.run(
                    path,
                    "SELECT ZCODE, ZROOM FROM ZSHELF ORDER BY ZCODE; "
                        + "SELECT ZTITLE, ZCODE FROM ZBOOK LEFT JOIN ZSHELF ON ZSHELF.Z_PK = ZBOOK.ZSHELF ORDER BY ZTITLE"
                )
            }
            let (shelf, other) = (Shelf(code: "A", room: "cellar"), Shelf(code: "B"))
            let moved = Book("Sanditon")
            shelf.books = [Book("Emma")]
            other.books = [moved]
            context.insert(shelf)
            context.insert(other)
            try context.save()
            let before = try sql()
            #expect(before == "A|cellar\nB|hall\nEmma|A\nSanditon|B\n")
            context.undoManager = manager
            let again = Shelf(code: "A", room: "roof")
            grouped {
                again.books = [Book("Persuasion"), moved]
                context.insert(again)
            }
            try context.save()
            let after = "A|roof\nB|hall\nEmma|A\nPersuasion|A\nSanditon|A\n"
            #expect(try sql() == after)
            manager.undo()
            #expect(shelf.room == "cellar" && shelf.books.map(\.title) == ["Emma"] && other.books == [moved])
            try context.save()
            #expect(try sql() == before)
            manager.redo()
            try context.save()
            #expect(try sql() == after && again.room == "roof")
            manager.undo()
            try context.save()
            #expect(try sql() == before)
        }

        @Test func `an observer is told of what an undo changes`() throws {
            let book = Book("Emma", pages: 474)
            context.insert(book)
            try context.save()
            grouped { book.pages = 500 }
            nonisolated(unsafe) var isTold = false
            withObservationTracking {
                _ = book.pages
            } onChange: {
                isTold = true
            }
            manager.undo()
            #expect(isTold && book.pages == 474)
        }

        @Test func `rollback forgets what could be undone, and so does another manager`() throws {
            grouped { context.insert(Book("Emma")) }
            context.rollback()
            #expect(!manager.canUndo)
            grouped { context.insert(Book("Emma")) }
            let other = UndoManager()
            context.undoManager = other
            #expect(!manager.canUndo && context.undoManager === other)
            context.insert(Book("Persuasion"))
            #expect(other.canUndo)
            other.undo()
            #expect(try context.all(Book.self).map(\.title) == ["Emma"])
            context.undoManager = nil
            context.insert(Book("Persuasion"))
            #expect(!other.canUndo)
        }

        @MainActor @Test func `the main context ends the group of an event when the main actor is free`() async throws {
            let context = container.mainContext
            let manager = UndoManager()
            context.undoManager = manager
            context.autosaveEnabled = false
            context.insert(Book("Emma"))
            context.insert(Book("Persuasion"))
            for _ in 0..<1_000 where manager.undoCount == 0 { await Task.yield() }
            context.insert(Book("Sanditon"))
            manager.undo()
            #expect(try context.fetchCount(FetchDescriptor<Book>()) == 2)
            manager.undo()
            #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        }

        @Test func `the state of editing names the author`() throws {
            context.editingState.author = "import"
            #expect(context.author == "import" && context.editingState.id == context.editingState.id)
            #expect(ModelContext(container).editingState.id != context.editingState.id)
        }
    }
#endif
