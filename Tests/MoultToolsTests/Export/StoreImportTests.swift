import Foundation
import MoultBasics
import MoultModel
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("Imports")
struct StoreImportTests {  // tier: long
    private struct Empty {
        let path: String
        let version: ModelVersion

        init(_ model: ManagedObjectModel, in folder: ScratchFolder, _ name: String = "new.sqlite") throws {
            version = ModelVersion(names: ["sample"], model: model)
            path = folder.path + "/" + name
            try StoreCreator(version).make(at: path)
        }

        func take(_ path: String, entity: String? = nil, isExact: Bool = true) throws -> [String: Int] {
            let run = try StoreImport(into: self.path, at: version, isExact: isExact)
            defer { run.confirm() }
            return try run.run(path, entity: entity)
        }
    }

    @Test(arguments: [ExportWriter.Format.csv, .jsonl])
    func `what an export has written comes back as it was, in both forms`(format: ExportWriter.Format) throws {
        let store = try SampleStore()
        let folder = store.folder.path
        // No document has a date outside the calendar and a number that is none.
        let new = try Empty(store.model, in: store.folder)
        func export(_ path: String, _ name: String) throws -> String {
            let written = folder + "/" + name
            _ = try ExportWriter(format, isExact: true).write(path, .init(), versions: nil, to: written)
            return written
        }
        let first = try export(store.path, "first")
        let counts = try new.take(first)
        #expect(counts == ["Dish": 40, "Soup": 40, "Ingredient": 40, "Tag": 40, "ZDISH": 40])
        let second = try export(new.path, "second")
        for file in try FileManager.default.contentsOfDirectory(atPath: first) {
            let texts = try [first, second].map { written in
                // The files of external data have names of their own, and the same contents.
                let text = try String(contentsOfFile: "\(written)/\(file)", encoding: .utf8)
                return try text.replacing(/\/[^",\n]*_EXTERNAL_DATA\/[0-9A-F-]*/) { match in
                    try Data(contentsOf: URL(fileURLWithPath: String(match.output))).base64EncodedString()
                }
            }
            for (line, other) in zip(texts[0].split(separator: "\n"), texts[1].split(separator: "\n"))
            where line != other {
                let same = line.commonPrefix(with: other)
                Issue.record(
                    "\(file): \(same.suffix(80))[\(line.dropFirst(same.count).prefix(80))][\(other.dropFirst(same.count).prefix(80))]"
                )
            }
            #expect(texts[0] == texts[1])
        }
    }

    @Test func `attributes named like the columns of an export keep their values`() throws {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Thing",
                attributes: [
                    .init(name: "entity", type: .string), .init(name: "bytes", type: .binary),
                    .init(name: "title", type: .string),
                ])
        ])
        let new = try Empty(model, in: folder)
        let file = folder.path + "/Thing.csv"
        // A carriage return inside a line belongs to its field.
        try Data("entity,entity_2,title,bytes\r\nThing,foo,a\rb,x'0aFF'\r\nThing,bar,c\r,\r\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        #expect(try new.take(file) == ["Thing": 2])
        let rows = try SQLiteShell.run(
            new.path, "SELECT ZENTITY, hex(ZTITLE), hex(ZBYTES) FROM ZTHING ORDER BY Z_PK")
        #expect(rows == "foo|610D62|0AFF\nbar|630D|\n")
        for text in ["entity,entity_2,entity_2\nThing,a,b\n", "title,bytes\nx,x'+1-0'\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let error = #expect(throws: MigrationError.self) { try new.take(file) }
            #expect(error?.code == .usage)
        }
    }

    /// A store as SwiftData makes it: structs as JSON, lists of strings as archives, an enum, and a date far from now.
    private static func drinks(in folder: ScratchFolder) throws -> (path: String, model: ManagedObjectModel) {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Drink",
                attributes: [
                    .init(name: "tags", type: .binary), .init(name: "styles", type: .transformable),
                    .init(name: "parts", type: .transformable), .init(name: "picture", type: .binary),
                    .init(name: "made", type: .date),
                    .init(name: "ice", type: .composite, elements: [.init(name: "ice", type: .string)]),
                    .init(
                        name: "author", type: .composite,
                        elements: [.init(name: "name", type: .string), .init(name: "year", type: .integer16)]),
                ])
        ])
        let path = folder.path + "/drinks.sqlite"
        try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
        // `["Sour","Shaken"]`, archived by Python's plistlib.
        let archive =
            "62706c6973743030d4010203040506171a5924617263686976657258246f626a656374735424746f70582476657273696f6e5f100f4e"
            + "534b657965644172636869766572a507080f151655246e756c6cd2090a0b0c5624636c6173735a4e532e6f626a656374738002a2"
            + "0d0e80038004d2101112135824636c61737365735a24636c6173736e616d65a21314574e534172726179584e534f626a65637454"
            + "536f7572565368616b656ed1181954726f6f74800112000186a008111b242932444a50555c67696c6e70757e898c949da2a9acb1"
            + "b30000000000000101000000000000001b000000000000000000000000000000b8"
        // 10000-01-01 is 252,423,993,600 seconds after 2001-01-01 (Python's datetime, from 9999-12-31 on).
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZDRINK (Z_PK, Z_ENT, Z_OPT, ZTAGS, ZSTYLES, ZPARTS, ZPICTURE, ZMADE, ZICE, ZNAME, ZYEAR) VALUES
                (1, 1, 1, CAST('[{"step":1,"method":"stir"}]' AS BLOB), x'\(archive)', CAST('{"a":[1,2.5]}' AS BLOB),
                    x'FFD8FF00', 252423993600.5, 'crushed', 'Tuck', 1937),
                (2, 1, 1, CAST('["a","=1"]' AS BLOB), NULL, x'\(archive)', x'', -99999999999, NULL, NULL, NULL);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Drink'
            """)
        return (path, model)
    }

    @Test func `JSON, archives and enums are read as what they are by Python, in every form`() throws {
        let folder = try ScratchFolder()
        let (path, _) = try Self.drinks(in: folder)
        for format in ExportWriter.Format.allCases {
            _ = try ExportWriter(format).write(
                path, .init(), versions: nil, to: "\(folder.path)/out-\(format.rawValue)")
        }
        let run = try ChildProcess.run(
            "python3",
            [
                "-c",
                """
                import csv, json, sqlite3, sys
                f = sys.argv[1]
                a = [json.loads(l) for l in open(f + '/out-jsonl/Drink.jsonl')]
                assert a[0]['tags'] == [{'step': 1, 'method': 'stir'}] and a[0]['styles'] == ['Sour', 'Shaken'], a
                assert a[0]['parts'] == {'$json': {'a': [1, 2.5]}} and a[0]['ice'] == 'crushed', a
                assert a[0]['author.name'] == 'Tuck' and a[0]['author.year'] == 1937 and 'ice.ice' not in a[0], a
                assert a[0]['picture'] == '/9j/AA==' and a[0]['made'] == '+010000-01-01T00:00:00.500Z', a
                assert a[1]['tags'] == ['a', '=1'] and a[1]['styles'] is None and a[1]['ice'] is None, a
                c = list(csv.DictReader(open(f + '/out-csv/Drink.csv')))
                d = sqlite3.connect(f + '/out-sqlite')
                d.row_factory = sqlite3.Row
                d = d.execute('SELECT * FROM Drink').fetchall()
                for x, y, z in zip(a, c, d):
                    for k in ['tags', 'styles', 'parts']:
                        if x[k] is None: assert y[k] == '' and z[k] is None
                        else: assert json.loads(y[k]) == x[k] and json.loads(z[k]) == x[k], (y[k], z[k])
                    assert (x['ice'] or '') == y['ice'] and x['ice'] == z['ice']
                """, folder.path,
            ])
        #expect(run.exit == 0, "\(run.output)")
    }

    @Test(arguments: [ExportWriter.Format.csv, .jsonl])
    func `what was written readably comes back as the same values`(format: ExportWriter.Format) throws {
        let folder = try ScratchFolder()
        let (path, model) = try Self.drinks(in: folder)
        let new = try Empty(model, in: folder)
        let written = folder.path + "/out"
        _ = try ExportWriter(format).write(path, .init(), versions: nil, to: written)
        #expect(try new.take(written, isExact: false) == ["Drink": 2])
        let queries = [
            "SELECT ZMADE, ZICE, ZNAME, ZYEAR, hex(ZPICTURE) FROM ZDRINK ORDER BY Z_PK",
            "SELECT json(CAST(ZTAGS AS TEXT)) FROM ZDRINK ORDER BY Z_PK",
            "SELECT json(CAST(ZPARTS AS TEXT)) FROM ZDRINK WHERE Z_PK = 1",
        ]
        for query in queries { #expect(try SQLiteShell.run(new.path, query) == SQLiteShell.run(path, query)) }
        let archives = try ChildProcess.run(
            "python3",
            [
                "-c",
                """
                import plistlib, sqlite3, sys
                d = sqlite3.connect(sys.argv[1])
                for b, in d.execute('SELECT ZSTYLES FROM ZDRINK WHERE Z_PK = 1 UNION ALL SELECT ZPARTS FROM ZDRINK WHERE Z_PK = 2'):
                    a = plistlib.loads(b); o = a['$objects']; r = o[a['$top']['root'].data]
                    assert o[r['$class'].data]['$classname'] == 'NSArray'
                    assert [o[u.data] for u in r['NS.objects']] == ['Sour', 'Shaken'], o
                """, new.path,
            ])
        #expect(archives.exit == 0, "\(archives.output)")
    }

    @Test func `a text that a spreadsheet takes for a formula comes back as it was, even with apostrophes`() throws {
        let store = try SampleStore(count: 12)
        let texts = ["=1", "'=1", "''=1", "'", "'a", "\r\n=", "=\u{301}", "\u{FF1D}1", "\n", "-", "'\r\n", "''"]
        for (place, text) in texts.enumerated() {
            let literal = text.utf8.map { String(format: "%02x", $0) }.joined()
            _ = try SQLiteShell.run(
                store.path, "UPDATE ZINGREDIENT SET ZNAME = CAST(x'\(literal)' AS TEXT) WHERE Z_PK = \(place + 1)")
        }
        let written = store.folder.path + "/written"
        let outcome = try ExportWriter(.csv).write(store.path, .init(), versions: nil, to: written)
        let new = try Empty(store.model, in: store.folder)
        _ = try new.take(written, isExact: false)
        let names = try [store.path, new.path].map {
            try SQLiteShell.run($0, "SELECT hex(ZNAME) FROM ZINGREDIENT ORDER BY Z_PK")
        }
        #expect(names[0] == names[1] && outcome.guarded >= 9)
    }

    @Test func `a destination is named by its key in the store, by a unique value, or in a list`() throws {
        let store = try SampleStore(count: 1)
        let new = try Empty(store.model, in: store.folder)
        func take(_ name: String, _ text: String) throws -> [String: Int] {
            let path = store.folder.path + "/" + name
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return try new.take(path, isExact: false)
        }
        _ = try take(
            "Dish.csv", "Z_PK,aString,aDate\n7,\"a \"\"b\"\"\n, c\",2021-03-04T05:06:07.250000000Z\n8,'=1+2,\n")
        _ = try take("Ingredient.csv", "name,dish\nsalt,1\npepper,2\n")
        _ = try take("Ingredient.jsonl", "{\"name\":\"oil\",\"dish.aString\":\"=1+2\"}\n\n{\"dish\":null}\n")
        _ = try take("Soup.jsonl", "{\"aString\":\"soup\",\"tags\":[],\"isHot\":true,\"aBinary\":\"AQI=\"}\n")
        #expect(
            try SQLiteShell.run(
                new.path,
                "SELECT i.ZNAME, d.ZASTRING FROM ZINGREDIENT i LEFT JOIN ZDISH d ON d.Z_PK = i.ZDISH ORDER BY i.Z_PK")
                == "salt|a \"b\"\n, c\npepper|=1+2\noil|=1+2\n|\n")
        #expect(try SQLiteShell.run(new.path, "SELECT ZADATE FROM ZDISH WHERE Z_PK = 1") == "636527167.25\n")
        #expect(try SQLiteShell.run(new.path, "SELECT hex(ZABINARY), ZISHOT FROM ZDISH WHERE Z_PK = 3") == "0102|1\n")
    }

    /// A machine that ends before the objects are saved.
    private struct Dying: ForwardingSystem {
        struct End: Error {}
        let isSaved: Bool

        func rename(_ path: String, to newPath: String) throws {
            try real.rename(path, to: newPath)
            if !isSaved, newPath.hasSuffix("import.json") { throw End() }
        }
    }

    @Test(arguments: [true, false])
    func `an import that is repeated after an end that nobody saw adds its objects once`(isSaved: Bool) throws {
        let store = try SampleStore(count: 1)
        let new = try Empty(store.model, in: store.folder)
        func file(_ name: String, _ text: String) throws -> String {
            try Data(text.utf8).write(to: URL(fileURLWithPath: store.folder.path + "/" + name))
            return store.folder.path + "/" + name
        }
        func count() throws -> String { try SQLiteShell.run(new.path, "SELECT count(*) FROM ZINGREDIENT") }
        let salt = try file("Ingredient.csv", "name\nsalt\npepper\n")
        let oil = try file("Ingredient.jsonl", "{\"name\":\"oil\"}\n")
        _ = try? StoreImport(into: new.path, at: new.version, isExact: false, Dying(isSaved: isSaved)).run(salt)
        #expect(try count() == (isSaved ? "2\n" : "0\n"))
        let again = try StoreImport(into: new.path, at: new.version, isExact: false)
        #expect(try again.run(salt) == (isSaved ? [:] : ["Ingredient": 2]))
        again.confirm()
        #expect(again.earlier?.isSaved == isSaved && again.earlier?.isRepeated == isSaved)
        #expect(try count() == "2\n")
        // What was known is no repetition.
        let third = try StoreImport(into: new.path, at: new.version, isExact: false)
        #expect(try third.run(salt) == ["Ingredient": 2] && third.earlier == nil)
        third.confirm()
        // Another import is run, and told of the earlier one.
        _ = try? StoreImport(into: new.path, at: new.version, isExact: false, Dying(isSaved: isSaved)).run(salt)
        let other = try StoreImport(into: new.path, at: new.version, isExact: false)
        #expect(try other.run(oil) == ["Ingredient": 1])
        #expect(other.earlier?.isSaved == isSaved && other.earlier?.isRepeated == false)
        #expect(try count() == (isSaved ? "7\n" : "5\n"))
    }

    /// A system on which a file grows after it was read for the first time.
    private struct Growing: ForwardingSystem {
        func digest(of path: String) throws -> [UInt8] {
            defer {
                if let file = FileHandle(forWritingAtPath: path) {
                    _ = try? file.seekToEnd()
                    try? file.write(contentsOf: Data("oil\n".utf8))
                    try? file.close()
                }
            }
            return try real.digest(of: path)
        }
    }

    @Test func `a file that changes while it is imported is refused, and nothing is imported`() throws {
        let store = try SampleStore(count: 1)
        let new = try Empty(store.model, in: store.folder)
        let path = store.folder.path + "/Ingredient.csv"
        try Data("name\nsalt\n".utf8).write(to: URL(fileURLWithPath: path))
        let run = try StoreImport(into: new.path, at: new.version, isExact: false, Growing())
        let error = #expect(throws: MigrationError.self) { try run.run(path) }
        #expect(error?.message == "A file has changed while it was imported.")
        #expect(try SQLiteShell.run(new.path, "SELECT count(*) FROM ZINGREDIENT") == "0\n")
        let again = try StoreImport(into: new.path, at: new.version, isExact: false)
        #expect(try again.run(path) == ["Ingredient": 3])
    }

    @Test func `a file may be larger than the memory for one, and values lie across its pieces`() throws {
        let model = try ManagedObjectModel("Note = text String, rank Integer64")
        let folder = try ScratchFolder()
        let new = try Empty(model, in: folder)
        let path = folder.path + "/Note.csv"
        #expect(FileManager.default.createFile(atPath: path, contents: Data("text,rank\r\n".utf8)))
        let file = try #require(FileHandle(forWritingAtPath: path))
        _ = try file.seekToEnd()
        // A part has 12 bytes in the file, so that pieces of a power of two end inside one.
        let part = "a\"\"é,\r\n…."
        let (count, rows) = (100_000, 117)
        let text = Data((String(repeating: part, count: count)).utf8)
        for rank in 0..<rows { try file.write(contentsOf: Data("\"".utf8) + text + Data("\",\(rank)\r\n".utf8)) }
        try file.close()
        #expect(try POSIXSystem().status(of: path)?.size ?? 0 > 128 << 20)
        #expect(try new.take(path) == ["Note": rows])
        let whole = part.replacing("\"\"", with: "\"")
        #expect(
            try SQLiteShell.run(
                new.path,
                """
                SELECT count(*), min(length(CAST(ZTEXT AS BLOB))), max(length(CAST(ZTEXT AS BLOB))), sum(ZRANK),
                    sum(replace(ZTEXT, '\(whole)', '') = '') FROM ZNOTE
                """)
                == "\(rows)|\(whole.utf8.count * count)|\(whole.utf8.count * count)|\(rows * (rows - 1) / 2)|\(rows)\n")
    }

    @Test func `a row that does not fit is named by its line, and nothing is imported`() throws {
        let model = try ManagedObjectModel(
            """
            User unique=name = name String required min=2, age Integer16, friend > User
            """)
        let folder = try ScratchFolder()
        let new = try Empty(model, in: folder)
        for (name, text, code, says) in [
            ("User.csv", "name,age\nann,1\nbob,many\n", MigrationError.Code.usage, "User.csv:3"),
            ("User.csv", "name,age\nann,1,2\n", .usage, "User.csv:2"),
            ("User.csv", "name,agee\nann,1\n", .usage, "Did you mean age"),
            // It begins with a byte of a byte order mark.
            ("User.csv", "\u{FB01}eld\nann\n", .usage, "no property \u{FB01}eld"),
            ("User.csv", "name\n\"ann\n", .usage, "User.csv:2"),
            ("User.csv", "name,friend\nann,5\n", .usage, "User.csv:2"),
            ("User.csv", "Z_PK,name\n1,ann\n1,bob\n", .usage, "User.csv:3"),
            ("User.csv", "name,age\nann,40000\n", .usage, "from -32768 to 32767"),
            ("User.csv", "name\nx\n", .rulesBroken, "User.csv:2"),
            ("User.csv", "age\n1\n", .rulesBroken, "User.csv:2"),
            ("User.csv", "name\nann\nann\n", .dataConflict, "User.csv:"),
            ("User.csv", "name\n\u{FFFD}\u{FFFD}\n", .usage, ""),
            ("User.jsonl", "{\"name\":\"ann\"}\n[1]\n", .usage, "User.jsonl:2"),
            ("User.jsonl", "{\"name\":3}\n", .usage, "User.jsonl:1"),
            ("User.csv", "name,age\nann,x\n", .usage, "It takes a whole number"),
            ("Usr.csv", "name\nann\n", .usage, "Did you mean User"),
            ("User.txt", "name\nann\n", .usage, "User.txt"),
        ] {
            let path = folder.path + "/" + name
            var bytes = Data(text.utf8)
            if text.contains("\u{FFFD}") { bytes = Data("name\n".utf8) + Data([0xFF, 0xFE, 0x0A]) }
            try bytes.write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: MigrationError.self, "\(text)") { try new.take(path) }
            #expect(error?.code == code, "\(text): \(String(describing: error))")
            let said = "\(error?.place ?? "") \(error?.message ?? "") \(error?.remedy ?? "")"
            #expect(says.isEmpty || said.contains(says), "\(said)")
            #expect(try SQLiteShell.run(new.path, "SELECT count(*) FROM ZUSER") == "0\n")
        }
        let path = folder.path + "/people.csv"
        try Data("name,friend.name\nann,bob\nbob,\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try new.take(path, entity: "User") == ["User": 2])
        #expect(try SQLiteShell.run(new.path, "SELECT ZNAME, ZFRIEND FROM ZUSER") == "ann|2\nbob|\n")
    }
}
