import Foundation
import SwiftData

@Model
final class Author {
    @Attribute(.unique) var name: String
    var born: Date?
    @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []

    init(name: String, born: Date? = nil) {
        self.name = name
        self.born = born
    }
}

@Model
final class Book {
    #Index<Book>([\.title], [\.title, \.pages])

    var title: String
    var pages: Int = 0
    var price: Decimal = 0
    var genre: Genre = Genre.novel
    var published: Date = Date.distantPast
    var rating: Double?
    var isRead: Bool = false
    var tags: [String] = []
    var format: Format = Format()
    @Attribute(.externalStorage) var cover: Data?
    var author: Author?
    @Relationship(inverse: \Shelf.books) var shelves: [Shelf] = []

    enum Genre: String, Codable, CaseIterable { case novel, crime, essay }
    struct Format: Codable, Hashable { var width = 10.0, isBound = true }

    init(title: String, pages: Int = 0, author: Author? = nil) {
        self.title = title
        self.pages = pages
        self.author = author
    }
}

@Model
final class Shelf {
    var label: String
    @Relationship(minimumModelCount: 0, maximumModelCount: 3) var books: [Book]? = []
    init(label: String) { self.label = label }
}

@Model
class Vehicle {
    var wheels: Int
    init(wheels: Int) { self.wheels = wheels }
}

@available(macOS 26, iOS 26, *)
@Model
final class Car: Vehicle {
    var brand: String
    init(brand: String) {
        self.brand = brand
        super.init(wheels: 4)
    }
}

struct Store {
    let container: ModelContainer
    let context: ModelContext

    init(isFilled: Bool = true) throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        container = try ModelContainer(for: Author.self, Book.self, Shelf.self, configurations: configuration)
        context = ModelContext(container)
        guard isFilled else { return }
        let jane = Author(name: "Jane", born: Date(timeIntervalSince1970: -6_106_060_800))
        let emile = Author(name: "Émile")
        context.insert(jane)
        context.insert(emile)
        for (title, pages, author) in [("Emma", 400, jane), ("Persuasion", 250, jane), ("Germinal", 500, emile)] {
            context.insert(Book(title: title, pages: pages, author: author))
        }
        try context.save()
    }

    func titles(_ predicate: Predicate<Book>? = nil, _ sorts: SortDescriptor<Book>...) throws -> [String] {
        try context.fetch(
            FetchDescriptor(predicate: predicate, sortBy: sorts.isEmpty ? [SortDescriptor(\.title)] : sorts)
        )
        .map(\.title)
    }

    func book(_ title: String) throws -> Book {
        guard let book = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })).first
        else { throw CocoaError(.fileNoSuchFile) }
        return book
    }

    static func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "idioms-\(UUID().uuidString).store")
    }
}
