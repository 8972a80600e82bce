import MoultBasics
import MoultModel
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("Queries")
struct QueryTests {
    /// What a query prints.
    private func printed(_ sql: String, _ store: SampleStore, _ format: RowFormat) throws -> String {
        var text = ""
        let output = RowOutput(style: .plain, line: { text += $0 + "\n" }, exactly: { text += $0 })
        _ = try RowPrinter.print(sql, of: store.path, versions: nil, format, isExact: false, output) { true }
        return text
    }

    /// An array with what other writers spell otherwise: blanks, and characters that are escaped.
    private static let json = #"[ "Caf\u00e9", {"url":"a\/b"} ]"#
    private static let hex = Array(json.utf8).hexadecimal

    @Test func `bytes that hold JSON are text in a query and in the shell, and other bytes stay bytes`() throws {
        let store = try SampleStore(count: 5)
        _ = try SQLiteShell.run(
            store.path,
            """
            UPDATE ZDISH SET ZABINARY = NULL, ZATRANSFORMABLE = NULL, ZPHOTO = NULL;
            UPDATE ZDISH SET ZABINARY = x'\(Self.hex)' WHERE Z_PK = 1;
            UPDATE ZDISH SET ZATRANSFORMABLE = x'\(Self.hex)' WHERE Z_PK = 2;
            UPDATE ZDISH SET ZPHOTO = x'01\(Self.hex)' WHERE Z_PK = 3;
            UPDATE ZDISH SET ZABINARY = x'5bff5d' WHERE Z_PK = 4;
            UPDATE ZDISH SET ZABINARY = CAST('12' AS BLOB) WHERE Z_PK = 5;
            UPDATE ZDISH SET ZABINARY = x'5b315d00' WHERE Z_PK = 6;
            UPDATE ZDISH SET ZABINARY = CAST('[1,' AS BLOB), ZPHOTO = x'01ffd8ff' WHERE Z_PK = 7;
            """)
        let types =
            "SELECT Z_PK, typeof(aBinary) AS b, typeof(aTransformable) AS t, typeof(photo) AS p FROM Dish "
            + "WHERE Z_PK < 8 ORDER BY 1"
        let expected = """
            1,text,null,null
            2,null,text,null
            3,null,null,text
            4,blob,null,null
            5,blob,null,null
            6,blob,null,null
            7,blob,null,blob

            """
        #expect(try printed(types, store, .csv) == "Z_PK,b,t,p\n" + expected)
        let views = try ReadOnlyStore.read(store.path) { StoreViews(try StoreContents($0, in: nil)) }
        #expect(try SQLiteShell.run(store.path, views.script + types, arguments: ["-separator", ","]) == expected)
        // The shell shows the text as it is stored, a query as an export does.
        let found = "SELECT Z_PK FROM Dish WHERE ifnull(aBinary, ifnull(aTransformable, photo)) LIKE"
        #expect(try SQLiteShell.run(store.path, views.script + found + " '%Caf%' ORDER BY 1") == "1\n2\n3\n")
        #expect(try printed(found + " '%Café%a/b%' ORDER BY 1", store, .csv) == "Z_PK\n1\n2\n3\n")
    }

    @Test func `in JSON, such a column is nested as in an export, and an expression is text`() throws {
        let store = try SampleStore(count: 5)
        let sql = "UPDATE ZDISH SET ZABINARY = x'\(Self.hex)', ZASTRING = CAST(x'\(Self.hex)' AS TEXT)"
        _ = try SQLiteShell.run(store.path, sql)
        let nested = #""aBinary":["Café",{"url":"a/b"}]"#
        let row = try printed("SELECT aBinary, aBinary || '' AS text FROM Dish LIMIT 1", store, .jsonl)
        #expect(row == "{\(nested)," + #""text":"[\"Café\",{\"url\":\"a/b\"}]"}"# + "\n")
        // A String attribute is a string, whatever it holds.
        #expect(try printed("SELECT aString FROM Dish LIMIT 1", store, .jsonl).hasPrefix(#"{"aString":"[ \""#))
        var exported = ""
        _ = try ExportReport.write(
            store.path, ExportSelection(entities: ["Dish"]), .jsonl, isExact: false, versions: nil
        ) {
            exported += $0
            return true
        }
        let lines = exported.split(separator: "\n")
        #expect(lines.count == 5 && lines.allSatisfy { $0.contains(nested) }, "\(exported.prefix(500))")
        // Digits that a number cannot keep are kept as text.
        let large = Array("[18446744073709551616]".utf8).hexadecimal
        _ = try SQLiteShell.run(store.path, "UPDATE ZDISH SET ZABINARY = x'\(large)'")
        let kept = try printed("SELECT aBinary FROM Dish LIMIT 1", store, .jsonl)
        #expect(kept == #"{"aBinary":"[18446744073709551616]"}"# + "\n")
    }

    @Test(arguments: [
        ("isHot", "true"), ("s.isHot", "true"), ("(SELECT isHot FROM Soup LIMIT 1)", "true"), ("isHot + 0", "1"),
        ("+isHot", "1"), ("max(isHot)", "1"), ("CAST(isHot AS INTEGER)", "1"), ("isHot = 1", "1"), ("z.ZISHOT", "1"),
        ("s.Z_PK = z.Z_PK", "1"),
    ])
    func `in JSON, a Boolean attribute is true or false where it is a column, and an expression is a number`(
        expression: String, value: String
    ) throws {
        let store = try SampleStore(count: 2)
        _ = try SQLiteShell.run(store.path, "UPDATE ZDISH SET ZISHOT = 1")
        let sql = "SELECT \(expression) AS v FROM Soup s JOIN ZDISH z ON z.Z_PK = s.Z_PK LIMIT 1"
        #expect(try printed(sql, store, .jsonl) == "{\"v\":\(value)}\n")
        #expect(try printed(sql, store, .json) == "{\"format\":1,\"columns\":[\"v\"],\"rows\":[[\(value)]]}\n")
        #expect(try printed(sql, store, .csv) == "v\n1\n")
    }

    @Test func `the form of a column is that of the query's own names, and of 0 and 1 alone`() throws {
        let store = try SampleStore(count: 2)
        _ = try SQLiteShell.run(store.path, "UPDATE ZDISH SET ZISHOT = 0")
        func value(_ sql: String) throws -> String { try printed(sql, store, .jsonl) }
        #expect(try value("WITH x AS (SELECT * FROM Soup) SELECT isHot AS v FROM x LIMIT 1") == "{\"v\":false}\n")
        #expect(try value("SELECT isHot AS v FROM Soup ORDER BY isHot DESC LIMIT 1") == "{\"v\":false}\n")
        #expect(try value("WITH Soup AS (SELECT 1 AS isHot) SELECT isHot AS v FROM Soup") == "{\"v\":1}\n")
        // A union has rows that are no attributes.
        #expect(try value("SELECT isHot AS v FROM Soup WHERE 0 UNION ALL SELECT 1") == "{\"v\":1}\n")
        _ = try SQLiteShell.run(store.path, "UPDATE ZDISH SET ZISHOT = 2")
        #expect(try value("SELECT isHot AS v FROM Soup LIMIT 1") == "{\"v\":2}\n")
        _ = try SQLiteShell.run(store.path, "UPDATE ZDISH SET ZISHOT = NULL")
        #expect(try value("SELECT isHot AS v FROM Soup LIMIT 1") == "{\"v\":null}\n")
    }

    @Test func `a query that fails prints no half of a document`() throws {
        let store = try SampleStore(count: 2)
        var text = ""
        let output = RowOutput(style: .plain, line: { text += $0 + "\n" }, exactly: { text += $0 })
        func fails(_ sql: String) -> Bool {
            do {
                _ = try RowPrinter.print(sql, of: store.path, versions: nil, .json, isExact: false, output) { true }
                return false
            } catch {
                return (error as? MigrationError)?.code == .usage
            }
        }
        #expect(fails("SELECT json('{') AS x") && text.isEmpty)
        #expect(fails(#"SELECT json(value) AS x FROM json_each('["[]", "{"]')"#))
        #expect(text == #"{"format":1,"columns":["x"],"rows":[["[]"]]}"# + "\n")
    }

    @Test func `an unknown name is compared with the elements of composites and with the views of pairs`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/s.sqlite"
        let tags = AttributeDescription(
            name: "tags", type: .composite, elements: [.init(name: "flavors", type: .binary)])
        let drink = EntityDescription(
            name: "Drink", attributes: [.init(name: "title", type: .string), tags],
            relationships: [
                .init(name: "garnish", destinationEntityName: "Garnish", inverseName: "drinks", maxCount: 0)
            ])
        let garnish = EntityDescription(
            name: "Garnish",
            relationships: [.init(name: "drinks", destinationEntityName: "Drink", inverseName: "garnish", maxCount: 0)])
        let model = try ManagedObjectModel(entities: [drink, garnish])
        let version = ModelVersion(names: ["1"], model: model)
        try StoreCreator(version).make(at: path)
        let versions = ModelVersions(versions: [version])
        func remedy(_ sql: String) throws -> String {
            let probe = try ReadOnlyStore(path)
            defer { probe.close() }
            do {
                _ = try StoreQuery(sql, over: probe, versions: versions)
                return ""
            } catch let error as MigrationError {
                return error.remedy
            }
        }
        #expect(try remedy("SELECT flavors FROM Drink").contains(#"Did you mean "tags.flavors"?"#))
        #expect(try remedy("SELECT tags.flavors FROM Drink").contains(#"Did you mean "tags.flavors"?"#))
        #expect(try remedy("SELECT titel FROM Drink").contains("Did you mean title?"))
        #expect(try remedy("SELECT * FROM Drink_garnis").contains("Did you mean Drink_garnish?"))
        #expect(try remedy("SELECT * FROM Drink_ingredients").contains("shows the views of Drink"))
        #expect(try remedy(#"SELECT "tags.flavors" FROM Drink JOIN Drink_garnish ON Drink = Z_PK"#).isEmpty)
        let report = try EntityReport("Drink", of: path, versions: versions)
        #expect(report.lines(style: .plain).contains { $0.hasSuffix("to-many Garnish, in the view Drink_garnish") })
    }
}
