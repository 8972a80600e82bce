import Foundation
import MoultBasics
import MoultPlan
import MoultTools
import Testing

@Suite("The text of CloudKit's schemas")
struct CloudKitSchemaFileTests {
    private func read(_ text: String) throws -> CloudKitSchemaFile {
        try CloudKitSchemaFile(Array(text.utf8), path: "Production.ckdb")
    }

    @Test(arguments: [CloudKitExample.whole] + CloudKitExample.genuine)
    func `an export that is read and written again has the same bytes`(example: CloudKitExample) throws {
        let text = try example.text()
        #expect(try read(text).text == text)
    }

    @Test(arguments: [CloudKitExample.whole, .behind] + CloudKitExample.pairs)
    func `a text that is written and read again is the same schema`(example: CloudKitExample) throws {
        let file = try read(example.text())
        let again = try read(file.text)
        #expect(again.schema == file.schema && again.text == file.text)
        #expect(!file.schema.types.isEmpty)
    }

    @Test func `everything that the language has is read, in any order and case`() throws {
        let file = try read(
            """
            define schema // a comment
              Create Role Keeper; -- another
            /* and
               one more */
            record type "cloudkit.share" ( "cloudkit.title" string, );
            RECORD TYPE A (
              list LIST<STRING> QUERYABLE, secrets LIST<ENCRYPTED INT64>, hidden encrypted bytes,
              place LOCATION, n NUMBER, i NUMBER PREFERRED AS INT64, d number preferred as double,
              grant_ REFERENCE, "grant" ASSET SORTABLE SEARCHABLE, GRANT READ, write TO "_world", GRANT CREATE TO Keeper
            );
            """)
        let type = try #require(file.schema.types["A"])
        let types = type.fields.mapValues(\.type.description)
        #expect(
            types == [
                "list": "LIST<STRING>", "secrets": "LIST<ENCRYPTED INT64>", "hidden": "ENCRYPTED BYTES",
                "place": "LOCATION", "n": "NUMBER", "i": "NUMBER PREFERRED AS INT64",
                "d": "NUMBER PREFERRED AS DOUBLE", "grant_": "REFERENCE", "grant": "ASSET",
            ])
        #expect(type.fields["grant"]?.indexes == [.sortable, .searchable])
        #expect(type.grants == [.init([.read, .write], to: "_world"), .init([.create], to: "Keeper")])
        #expect(file.schema.roles == ["Keeper"])
        #expect(
            file.text == """
                DEFINE SCHEMA

                    CREATE ROLE Keeper;

                    RECORD TYPE A (
                        d       NUMBER PREFERRED AS DOUBLE,
                        "grant" ASSET SORTABLE SEARCHABLE,
                        grant_  REFERENCE,
                        hidden  ENCRYPTED BYTES,
                        i       NUMBER PREFERRED AS INT64,
                        list    LIST<STRING> QUERYABLE,
                        n       NUMBER,
                        place   LOCATION,
                        secrets LIST<ENCRYPTED INT64>,
                        GRANT READ, WRITE TO "_world",
                        GRANT CREATE TO Keeper
                    );

                    RECORD TYPE "cloudkit.share" (
                        "cloudkit.title" STRING
                    );

                """)
    }

    @Test(arguments: [
        ("", "1:1", "DEFINE"), ("DEFINE SCHEMA\nRECORD TYPE A (\n  b STRNG\n);", "3:5", "STRNG"),
        ("DEFINE SCHEMA RECORD TYPE A ( b STRING )", "1:41", "the end"),
        ("DEFINE SCHEMA RECORD TYPE A ( b STRING, b INT64 );", "1:41", "b of A is defined twice"),
        ("DEFINE SCHEMA\nRECORD TYPE A ();\nRECORD TYPE A ();", "3:13", "A is defined twice"),
        ("DEFINE SCHEMA\n/* é */ % RECORD", "2:9", "%"), ("DEFINE SCHEMA /* no end", "1:15", "no end"),
        ("DEFINE SCHEMA RECORD TYPE \"A\n\" ();", "1:27", "no end on its line"),
        ("DEFINE SCHEMA RECORD TYPE A ( b ENCRYPTED ASSET );", "1:43", "ASSET cannot be encrypted"),
        ("DEFINE SCHEMA RECORD TYPE A ( GRANT OWN TO x );", "1:37", "OWN"),
        ("import Swift", "1:1", "import"),
    ])
    func `an error names the line and the column, and what is there`(text: String, place: String, words: String) throws
    {
        let error = try #require(throws: MigrationError.self) { try read(text) }
        #expect(error.code == .modelInvalid && error.place == "Production.ckdb:\(place)", "\(error)")
        #expect(error.message.contains(words) && !error.remedy.isEmpty, "\(error.message)")
    }
}
