import MoultData
import Testing

@Suite struct SchemasTests {
    @Model final class Author {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var pages: Int?
        var author: Author?
        init(title: String) { self.title = title }
    }

    enum LibraryV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 2, 3)
        static var models: [any PersistentModel.Type] { [Shelf.self] }

        @Model final class Shelf {
            var label: String
            init(label: String) { self.label = label }
        }
    }

    @Test func `a schema is made of a list of models`() {
        let schema = Schema([Author.self, Book.self])
        #expect(schema.entities.map(\.name).sorted() == ["Author", "Book"])
        #expect(schema.version == Schema.Version(1, 0, 0))
        #expect(Schema([Book.self], version: Schema.Version(2, 0, 0)).version.description == "2.0.0")
    }

    @Test func `a versioned schema names its version, and its models are named without it`() {
        let schema = Schema(versionedSchema: LibraryV1.self)
        #expect(schema.version == LibraryV1.versionIdentifier && schema.entities.map(\.name) == ["Shelf"])
        #expect(Schema.entityName(for: LibraryV1.Shelf.self) == "Shelf")
    }

    @Test func `entities tell what the source says of their properties`() throws {
        let schema = Schema([Author.self])
        let author = try #require(schema.entitiesByName["Author"])
        #expect(author.attributesByName["name"]?.isUnique == true)
        let books = try #require(author.relationshipsByName["books"])
        #expect(books.destination == "Book" && books.deleteRule == .cascade && books.inverseName == "author")
        #expect(!books.isToOneRelationship && schema.entity(for: Book.self)?.attributes.count == 2)
        let pages = schema.entity(for: Book.self)?.attributesByName["pages"]
        #expect(pages?.isOptional == true && pages?.valueType == Int?.self)
    }

    @Test func `versions are in order`() {
        let versions = [Schema.Version(1, 10, 0), Schema.Version(1, 2, 9), Schema.Version(0, 9, 9)]
        #expect(versions.sorted().map(\.description) == ["0.9.9", "1.2.9", "1.10.0"])
    }

    @Test func `a version survives encoding`() throws {
        let version = Schema.Version(3, 1, 4)
        #expect(try JSONDecoder().decode(Schema.Version.self, from: JSONEncoder().encode(version)) == version)
    }

    @Test func `a schema says what it is when it is printed`() {
        #expect(String(reflecting: Schema([Book.self])).contains("Author, Book"))
    }
}
