import MoultData

/// Models with every kind of relationship and delete rule, a unique value, an enum and a transient property.
enum Bookshop: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Shelf.self, Book.self, Tag.self, Author.self] }

    enum Genre: String, Codable, CaseIterable { case novel, essay, poem }

    @Model final class Shelf {
        @Attribute(.unique) var code: String
        var room: String
        @Relationship(deleteRule: .cascade, inverse: \Book.shelf) var books: [Book] = []

        init(code: String, room: String = "hall") {
            self.code = code
            self.room = room
        }
    }

    @Model final class Book {
        var title: String
        var pages: Int
        var genre = Genre.novel
        var price: Decimal?
        @Attribute(.preserveValueOnDeletion) var isbn: String?
        var shelf: Shelf?
        var tags: [Tag] = []
        var author: Author?
        @Transient var isOpen = false

        init(_ title: String, pages: Int = 100, shelf: Shelf? = nil) {
            self.title = title
            self.pages = pages
            self.shelf = shelf
        }
    }

    @Model final class Tag {
        @Attribute(.unique) var name: String
        var books: [Book] = []

        init(_ name: String) { self.name = name }
    }

    @Model final class Author {
        var name: String
        @Relationship(deleteRule: .deny, inverse: \Book.author) var books: [Book] = []

        init(_ name: String) { self.name = name }
    }

    static func container() throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self), configurations: .init(isStoredInMemoryOnly: true))
    }
}

extension ModelContext {
    /// Everything there is of a class.
    func all<Model: PersistentModel>(_ type: Model.Type = Model.self) throws -> [Model] {
        try fetch(FetchDescriptor<Model>())
    }
}
