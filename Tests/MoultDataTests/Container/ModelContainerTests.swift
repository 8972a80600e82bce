import Foundation
import MoultData
import TestSupport
import Testing

/// The ways to open stores.
@Suite struct ModelContainerTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag

    private let folder: ScratchFolder
    private var url: URL { URL(fileURLWithPath: folder.path + "/books.store") }

    init() throws { folder = try ScratchFolder() }

    @Test func `every spelling opens a container of the models and those they lead to`() throws {
        let memory = ModelConfiguration(isStoredInMemoryOnly: true)
        let schema = Schema([Shelf.self, Book.self])
        let containers = [
            try ModelContainer(for: Shelf.self, configurations: memory),
            try ModelContainer(for: Shelf.self, Book.self, configurations: memory),
            try ModelContainer(for: schema, configurations: memory),
            try ModelContainer(for: schema, configurations: [memory]),
            try ModelContainer(for: schema, migrationPlan: nil, configurations: [memory]),
            try ModelContainer(
                for: schema, configurations: [ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)]),
            try ModelContainer(
                for: Shelf.self,
                configurations: ModelConfiguration(for: Shelf.self, Book.self, isStoredInMemoryOnly: true)),
        ]
        for container in containers {
            #expect(container.schema.entities.map(\.name) == ["Author", "Book", "Shelf", "Tag"])
            let context = ModelContext(container)
            context.insert(Shelf(code: "A"))
            try context.save()
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelf>()) == 1)
            #expect(context.container === container && container.configurations.count == 1)
        }
    }

    @Test func `the identifier of each configuration's store`() throws {
        let container = try ModelContainer(
            for: Schema([Shelf.self, Carts.CartModel.self]),
            configurations: [
                ModelConfiguration("books", schema: Schema([Shelf.self]), url: url),
                ModelConfiguration("more", schema: Schema([Carts.CartModel.self]), isStoredInMemoryOnly: true),
            ])
        let shelf = Shelf(code: "A")
        let context = ModelContext(container)
        context.insert(shelf)
        try context.save()
        let uuid = try SQLiteShell.run(url.path, "SELECT Z_UUID FROM Z_METADATA").trimmingCharacters(in: .newlines)
        #expect(container.storeIdentifier(forConfigurationNamed: "books") == uuid)
        #expect(shelf.persistentModelID.storeIdentifier == uuid)
        #expect(container.configurationName(forStoreIdentifier: uuid) == "books")
        let other = try #require(container.storeIdentifier(forConfigurationNamed: "more"))
        #expect(other != uuid && container.configurationName(forStoreIdentifier: other) == "more")
        #expect(container.storeIdentifier(forConfigurationNamed: "none") == nil)
        #expect(container.configurationName(forStoreIdentifier: "none") == nil)
    }

    @Test func `where a store lies`() {
        let own = ModelConfiguration()
        #expect(own.name == "default" && own.url.lastPathComponent == "default.store" && own.allowsSave)
        #expect(ModelConfiguration("Books").url.lastPathComponent == "Books.store")
        #expect(
            ModelConfiguration("Books", groupContainer: .identifier("group.a")).url.path.hasSuffix(
                "/group.a/Books.store"))
        #expect(ModelConfiguration(url: url).name == "books" && ModelConfiguration(url: url).url == url)
        #expect(ModelConfiguration(isStoredInMemoryOnly: true).url.path == "/dev/null")
        let mirrored = ModelConfiguration("Books", cloudKitDatabase: .private("iCloud.a"))
        #expect(mirrored.cloudKitExplanation?.contains("iCloud.a") == true && own.cloudKitExplanation == nil)
    }

    @Test func `a context has a container with the same plan and configurations when its own is gone`() throws {
        let configuration = ModelConfiguration("alone", isStoredInMemoryOnly: true)
        func orphan() throws -> ModelContext {
            ModelContext(try ModelContainer(for: Schema([Shelf.self]), configurations: [configuration]))
        }
        let context = try orphan()
        #expect(context.container.configurations.map(\.name) == ["alone"])
        #expect(context.container.schema.entities.count == 4)
    }

    @Test func `what is saved is there when the store is opened again`() throws {
        do {
            let container = try ModelContainer(for: Book.self, configurations: .init(url: url))
            let context = ModelContext(container)
            context.insert(Book("Emma"))
            try context.save()
        }
        let container = try ModelContainer(for: Book.self, configurations: .init(url: url, allowsSave: false))
        let context = ModelContext(container)
        #expect(try context.all(Book.self).map(\.title) == ["Emma"])
        context.insert(Book("Persuasion"))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try SQLiteShell.run(url.path, "SELECT COUNT(*) FROM ZBOOK") == "1\n")
    }

    @Test func `the models stay readable when container and context are gone`() throws {
        let book: Book
        do {
            let context = ModelContext(try ModelContainer(for: Book.self, configurations: .init(url: url)))
            book = Book("Emma", shelf: Shelf(code: "A"))
            context.insert(book)
            try context.save()
        }
        #expect(book.title == "Emma" && book.shelf?.code == "A" && book.modelContext == nil)
    }

    @Test func `each configuration holds its own models`() throws {
        let (one, two) = (URL(fileURLWithPath: folder.path + "/one"), URL(fileURLWithPath: folder.path + "/two"))
        let configurations = [
            ModelConfiguration(schema: Schema([Book.self]), url: one),
            ModelConfiguration(schema: Schema([Dog.self]), url: two),
        ]
        do {
            let container = try ModelContainer(
                for: Schema([Book.self, Dog.self]), configurations: configurations)
            let context = ModelContext(container)
            context.insert(Book("Emma"))
            context.insert(Dog(name: "Rex", tricks: 1))
            try context.save()
        }
        #expect(try SQLiteShell.run(one.path, ".tables").contains("ZBOOK"))
        #expect(
            try !SQLiteShell.run(one.path, ".tables").contains("ZDOG")
                && !SQLiteShell.run(one.path, ".tables").contains("ZANIMAL"))
        #expect(try !SQLiteShell.run(two.path, ".tables").contains("ZBOOK"))
        let container = try ModelContainer(for: Schema([Book.self, Dog.self]), configurations: configurations)
        #expect(try ModelContext(container).all(Dog.self).map(\.name) == ["Rex"])
    }

    @Test func `wrong configurations are refused by name`() throws {
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(for: Book.self, configurations: .init("a", url: url), .init("b", url: url))
        }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(for: Dog.self, configurations: .init(schema: Schema([Book.self]), url: url))
        }
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelContainer(for: Dog.self, configurations: .init("a/b"))
        }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelContainer(for: Dog.self, configurations: .init(String(repeating: "a", count: 251)))
        }
        let nowhere = URL(fileURLWithPath: folder.path + "/nowhere/books.store")
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Book.self, configurations: .init(url: nowhere))
        }
        #expect(error?.message.contains("folder") == true)
    }

    @Test func `what is no store, and a store of other models, are refused and kept as they are`() throws {
        try Data("no store".utf8).write(to: url)
        #expect(throws: SwiftDataError.self) { try ModelContainer(for: Book.self, configurations: .init(url: url)) }
        #expect(try Data(contentsOf: url) == Data("no store".utf8))
    }

    @Test func `erasing deletes everything, whatever the rules`() throws {
        let container = try ModelContainer(for: Book.self, configurations: .init(url: url))
        let context = ModelContext(container)
        let book = Book("Emma", shelf: Shelf(code: "A"))
        book.author = Bookshop.Author("Austen")
        book.tags = [Tag("old")]
        context.insert(book)
        try context.save()
        try container.erase()
        #expect(book.title == "Emma" && book.modelContext == nil)
        let counts = "SELECT (SELECT COUNT(*) FROM ZBOOK) + (SELECT COUNT(*) FROM ZSHELF) + (SELECT COUNT(*) FROM ZTAG)"
        #expect(try SQLiteShell.run(url.path, counts) == "0\n")
        context.insert(Book("Persuasion"))
        try context.save()
        #expect(try ModelContext(container).all(Book.self).map(\.title) == ["Persuasion"])
    }
}
