import MoultModel
import TestSupport
import Testing

@testable import MoultStore

@Suite("The layout of a fresh store")
struct StoreLayoutTests {
    /// A book, its pages, its author who is a writer; the shape of a public sample model.
    static func library() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Book unique=uniqueID = pagesCount Integer64 derived=pages.@count, title String, price Decimal,
                publishedAt Date, uniqueID UUID, cover Transformable, author > Author.books, pages >> Page.book
            GraphicNovel (Book) = isBlackAndWhite Boolean
            Page = number Integer32, book > Book.pages
            Writer abstract = age Integer16
            Author (Writer) = alias String, books >> Book.author
            """)
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
