import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Derived attributes in saves")
struct DerivedSaveTests {
    private static func derived(_ name: String, _ type: AttributeType, _ expression: String, filter: String? = nil)
        -> AttributeDescription
    {
        AttributeDescription(name: name, type: type, derivation: .init(expression: expression, filter: filter))
    }

    /// Derivations of every kind that no trigger of Core Data's is known for, over both kinds of to-many.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Page",
                attributes: [
                    AttributeDescription(name: "words", type: .integer64),
                    AttributeDescription(name: "text", type: .string),
                    derived("bookTitle", .string, "canonical:(book.title)"),
                ],
                relationships: [
                    RelationshipDescription(name: "book", destinationEntityName: "Book", inverseName: "pages"),
                    RelationshipDescription(
                        name: "tags", destinationEntityName: "Tag", inverseName: "pages", maxCount: 0),
                ]),
            EntityDescription(
                name: "Book",
                attributes: [
                    AttributeDescription(name: "title", type: .string),
                    derived("search", .string, "canonical:(title)"),
                    derived("copy", .string, "title"),
                    derived("words", .integer64, "pages.@sum.words"),
                    derived("pageCount", .integer64, "pages.@count"),
                    derived("odd", .integer64, "pages.@max.words"),
                    derived("filtered", .integer64, "pages.@count", filter: "words > 1"),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "pages", destinationEntityName: "Page", inverseName: "book", maxCount: 0)
                ]),
            EntityDescription(
                name: "Tag", attributes: [derived("words", .integer64, "sum:(pages.words)")],
                relationships: [
                    RelationshipDescription(
                        name: "pages", destinationEntityName: "Page", inverseName: "tags", maxCount: 0)
                ]),
        ])
    }

    private static let wrong = """
        SELECT count(*) FROM ZBOOK b WHERE ZWORDS IS NOT (SELECT ifnull(sum(ZWORDS), 0) FROM ZPAGE WHERE ZBOOK = b.Z_PK)
          OR ZPAGECOUNT IS NOT (SELECT count(*) FROM ZPAGE WHERE ZBOOK = b.Z_PK) OR ZCOPY IS NOT ZTITLE
          OR ZSEARCH IS NOT lower(replace(ZTITLE, 'É', 'e'));
        SELECT count(*) FROM ZTAG t WHERE ZWORDS IS NOT (SELECT ifnull(sum(p.ZWORDS), 0) FROM Z_2TAGS j
          JOIN ZPAGE p ON p.Z_PK = j.Z_2PAGES WHERE j.Z_3TAGS = t.Z_PK);
        SELECT count(*) FROM ZPAGE p WHERE ZBOOKTITLE IS NOT
          (SELECT lower(replace(ZTITLE, 'É', 'e')) FROM ZBOOK WHERE Z_PK = p.ZBOOK)
        """

    @Test func `what no trigger of the store keeps is right after every kind of change`() throws {
        let fixture = try StoreFixture(Self.model())
        let right = "0\n0\n0\n"
        let book = try fixture.new("Book", ["title": .text("ÉTÉ")])
        let pages = try (0..<4).map {
            try fixture.new("Page", ["words": .integer(Int64($0 + 1)), "book": .toOne(book.id)])
        }
        let tag = try fixture.new("Tag", ["pages": .toMany(pages.map(\.id))])
        let other = try fixture.new("Book")
        let ids = try fixture.insert(pages[0], pages[1], tag, book, other, pages[2], pages[3])
        #expect(try fixture.shell(Self.wrong) == right)
        #expect(try fixture.shell("SELECT ZWORDS, ZSEARCH FROM ZBOOK; SELECT ZWORDS FROM ZTAG") == "10|ete\n0|\n10\n")
        let outcome = try fixture.update(ids[0], ["words": .integer(100)])
        #expect(try fixture.shell(Self.wrong) == right)
        #expect(outcome.recomputed == [ids[2], ids[3]])
        try fixture.update(ids[3], ["title": .text("ÉX"), "pages": .toMany([ids[0]])])
        #expect(try fixture.shell(Self.wrong) == right)
        try fixture.update(ids[1], ["book": .toOne(ids[4]), "tags": .toMany([])])
        #expect(try fixture.shell(Self.wrong) == right)
        try fixture.delete(ids[0])
        #expect(try fixture.shell(Self.wrong) == right)
        #expect(try fixture.shell("SELECT ZWORDS, ZPAGECOUNT FROM ZBOOK; SELECT ZWORDS FROM ZTAG") == "0|0\n2|1\n7\n")
        try fixture.delete(ids[3])
        #expect(try fixture.shell(Self.wrong) == right)
    }

    @Test func `a derivation that is not known stays as it is and is told`() throws {
        let fixture = try StoreFixture(Self.model())
        let told = fixture.store.findings.filter { $0.code == "derived-not-kept" }.map(\.place)
        #expect(told == ["Book.filtered", "Book.odd"])
        try fixture.insert(try fixture.new("Book", ["odd": .integer(3)]))
        #expect(
            try fixture.shell("SELECT ZODD FROM ZBOOK; SELECT count(*) FROM sqlite_master WHERE name LIKE '%TEMP%'")
                == "\n0\n")
    }

    @Test func `now() is the moment of each save`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let id = try fixture.insert(try fixture.new("Dish", ["title": .text("Pie")]))[0]
        let first = try fixture.value("touched", of: id)
        try fixture.update(id, ["title": .text("Tart")])
        guard case .attribute(.date(let early)?) = first,
            case .attribute(.date(let late)?) = try fixture.value("touched", of: id)
        else {
            Issue.record("no dates")
            return
        }
        #expect(early < late && late < early + 60)
        #expect(try fixture.shell("SELECT abs(ZTOUCHED + 978307200 - strftime('%s', 'now')) < 60 FROM ZDISH") == "1\n")
    }
}
