import Foundation
import MoultCoreData
import TestSupport

/// A small world in three versions: authors and their books, and shelves that keep books in order.
enum Library {
    /// Version 1.
    static func first() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Author = name String required =, books >> Book.author cascade
            Book class=Book = title String required, pages Integer32 min=0 max=10000 =0, price Decimal, published Date,
                isRead Boolean required =false, author > Author.books, shelves >> Shelf.books
            Shelf = place String, books >> Book.shelves ordered
            """)
    }

    /// Version 2: a book has a rating with a default and an ISBN; an author's `name` is called `fullName`.
    static func second() throws -> ManagedObjectModel {
        var model = try first()
        try model.updateEntity("Book") { book in
            book.properties +=
                [
                    AttributeDescription(name: "rating", type: .integer16, isOptional: false, defaultValue: 3),
                    AttributeDescription(name: "isbn", type: .string),
                ] as [any PropertyDescription]
        }
        try model.updateEntity("Author") { author in
            author.attributes[0].name = "fullName"
            author.attributes[0].renamingIdentifier = "name"
        }
        return model
    }

    /// Version 3: `pages` is gone, and there are loans.
    static func third() throws -> ManagedObjectModel {
        var model = try second()
        try model.updateEntity("Book") { $0.attributes.removeAll { $0.name == "pages" } }
        let loan = EntityDescription("Loan = day Date")
        try model.setEntities(model.entities + [loan])
        return model
    }

    /// Version 1 where a book's `title` is called `heading`, and nothing says that it is the same.
    static func renamed() throws -> ManagedObjectModel {
        var model = try first()
        try model.updateEntity("Book") { book in
            book.attributes.removeAll { $0.name == "title" }
            book.attributes.append(AttributeDescription(name: "heading", type: .string))
        }
        return model
    }

    /// Version 2 with a change that no mapping can be inferred for.
    static func impossible() throws -> ManagedObjectModel {
        var model = try first()
        try model.updateEntity("Book") {
            $0.properties.append(AttributeDescription(name: "shelfMark", type: .string, isOptional: false))
        }
        return model
    }

    static func versions() throws -> ModelVersions {
        ModelVersions([("Library", try first()), ("Library 2", try second()), ("Library 3", try third())])
    }
}

/// A store in a folder of its own, which goes with it.
struct TestStore {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/Library.sqlite")
    }

    /// A container over the store, loaded.
    func container(
        _ model: ManagedObjectModel, versions: ModelVersions? = nil,
        _ change: (PersistentStoreDescription) -> Void = { _ in }
    ) throws -> PersistentContainer {
        let container = PersistentContainer(name: "Library", managedObjectModel: model, versions: versions)
        let description = PersistentStoreDescription(url: url)
        change(description)
        container.persistentStoreDescriptions = [description]
        let failures = Failures()
        container.loadPersistentStores { _, error in failures.note(error) }
        if let error = failures.errors.first.flatMap(\.self) { throw error }
        return container
    }

    /// Version 1 with `count` books of two authors on one shelf, closed.
    func populate(_ count: Int = 10, history: Bool = false) throws {
        let container = try container(Library.first()) { description in
            if history { description.setOption(true, forKey: PersistentStoreOption.historyTracking) }
        }
        let context = container.viewContext
        try context.performAndWait {
            let authors = try ["Austen", "Borges"].map { name in
                let author = try context.insertNewObject(forEntityName: "Author")
                try author.setValue(name, forKey: "name")
                return author
            }
            let shelf = try context.insertNewObject(forEntityName: "Shelf")
            try shelf.setValue("hall", forKey: "place")
            for number in 0..<count {
                let book = try context.insertNewObject(forEntityName: "Book")
                try book.setValue("Book \(number)", forKey: "title")
                try book.setValue(100 + number, forKey: "pages")
                try book.setValue(Decimal(string: "9.90"), forKey: "price")
                try book.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "published")
                try book.setValue(authors[number % 2], forKey: "author")
                try shelf.mutableOrderedSetValue(forKey: "books").insert(book, at: 0)
            }
            try context.save()
        }
        try container.close()
    }

    /// What the sqlite3 shell prints.
    func sql(_ text: String) throws -> String {
        try SQLiteShell.run(url.path, text).trimmingCharacters(in: .newlines)
    }

    /// Every byte of the store's files, by name.
    func files() throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                (try? Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))).map { (name, $0) }
            })
    }
}

extension PersistentContainer {
    /// Removes every store.
    func close() throws {
        for store in persistentStoreCoordinator.persistentStores { try persistentStoreCoordinator.remove(store) }
    }
}

/// What completion handlers were told.
final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [(any Error)?] = []

    func note(_ error: (any Error)?) { lock.withLock { list.append(error) } }
    var errors: [(any Error)?] { lock.withLock { list } }
}

extension ManagedObjectContext {
    /// All objects of an entity in the order of a key.
    func all(_ entity: String, by key: String) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.sortDescriptors = [FetchSortDescriptor(key: key)]
        return try fetch(request)
    }
}
