import Foundation
import MoultCoreData

final class Author: ManagedObject {
    @Managed("name") var name: String
    @Managed("books") var books: Set<Book>
}

final class Book: ManagedObject {
    @Managed("title") var title: String
    @Managed("pages") var pages: Int
    @Managed("price") var price: Decimal?
    @Managed("published") var published: Date?
    @Managed("isRead") var isRead: Bool
    @Managed("author") var author: Author?
    @Managed("shelves") var shelves: Set<Shelf>

    /// Not the store's business: lives as long as the object has changes.
    var note = ""
    private(set) var calls: [String] = []

    override func awakeFromInsert() {
        calls.append("insert")
        title = "untitled"
    }
    override func awakeFromFetch() { calls.append("fetch") }
    override func willSave() {
        calls.append("willSave")
        if title.hasPrefix(" ") { title = String(title.dropFirst()) }
    }
    override func didSave() { calls.append("didSave") }
    override func prepareForDeletion() { calls.append("delete") }

    override func validateValue(_ value: Any?, forKey key: String) throws {
        if key == "title", (value as? String)?.contains("forbidden") == true {
            throw ValidationFailure("A title may not contain that word.")
        }
        try super.validateValue(value, forKey: key)
    }
}

final class Shelf: ManagedObject {
    @Managed("place") var place: String?
    @Managed("books") var books: [Book]
}

/// A loaded container in memory, whose objects have classes.
func libraryInMemory() throws -> PersistentContainer {
    let container = PersistentContainer(name: "Library", managedObjectModel: try Library.first())
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
    try container.register(Author.self, Book.self, Shelf.self)
    let failures = Failures()
    container.loadPersistentStores { failures.note($1) }
    if let error = failures.errors.first.flatMap(\.self) { throw error }
    return container
}
