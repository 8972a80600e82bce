import MoultModel
import Testing

@testable import MoultStore

@Suite("The layout of a fresh store")
struct StoreLayoutTests {
    /// A book, its pages, its author who is a writer; the shape of a public sample model.
    static func library() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Book",
                attributes: [
                    AttributeDescription(
                        name: "pagesCount", type: .integer64, derivation: .init(expression: "pages.@count")),
                    AttributeDescription(name: "title", type: .string),
                    AttributeDescription(name: "price", type: .decimal),
                    AttributeDescription(name: "publishedAt", type: .date),
                    AttributeDescription(name: "uniqueID", type: .uuid),
                    AttributeDescription(name: "cover", type: .transformable),
                ],
                relationships: [
                    RelationshipDescription(name: "author", destinationEntityName: "Author", inverseName: "books"),
                    RelationshipDescription(
                        name: "pages", destinationEntityName: "Page", inverseName: "book", maxCount: 0),
                ],
                uniquenessConstraints: [["uniqueID"]]),
            EntityDescription(
                name: "GraphicNovel", superentityName: "Book",
                attributes: [AttributeDescription(name: "isBlackAndWhite", type: .boolean)]),
            EntityDescription(
                name: "Page",
                attributes: [AttributeDescription(name: "number", type: .integer32)],
                relationships: [
                    RelationshipDescription(name: "book", destinationEntityName: "Book", inverseName: "pages")
                ]),
            EntityDescription(
                name: "Writer", isAbstract: true, attributes: [AttributeDescription(name: "age", type: .integer16)]),
            EntityDescription(
                name: "Author", superentityName: "Writer",
                attributes: [AttributeDescription(name: "alias", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "books", destinationEntityName: "Book", inverseName: "author", maxCount: 0)
                ]),
        ])
    }

    @Test func `columns stand in Core Data's groups and order`() throws {
        let layout = try StoreLayout(model: Self.library(), framework: 1344)
        #expect(
            layout.table(forEntity: "GraphicNovel")?.sql
                == "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGESCOUNT INTEGER, "
                + "ZAUTHOR INTEGER, ZISBLACKANDWHITE INTEGER, ZPUBLISHEDAT TIMESTAMP, ZPRICE DECIMAL, ZTITLE VARCHAR, "
                + "ZUNIQUEID BLOB, ZCOVER BLOB )")
        #expect(layout.entityNumbers == ["Book": 1, "GraphicNovel": 2, "Page": 3, "Writer": 4, "Author": 5])
    }

    @Test func `a relationship is found from both of its ends`() throws {
        let layout = try StoreLayout(model: Self.library())
        let page = try #require(layout.model.entity("Page"))
        let novel = try #require(layout.model.entity("GraphicNovel"))
        #expect(
            layout.storage(ofRelationship: "book", in: page)
                == .foreignKey(table: "ZPAGE", column: "ZBOOK", entityColumn: "Z1_BOOK"))
        #expect(
            layout.storage(ofRelationship: "pages", in: novel)
                == .inverseForeignKey(table: "ZPAGE", column: "ZBOOK", entityColumn: "Z1_BOOK", orderColumn: nil))
        #expect(layout.column(forAttribute: "title", in: novel) == "ZTITLE")
    }
}
