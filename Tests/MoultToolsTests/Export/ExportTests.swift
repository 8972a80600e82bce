import Foundation
import MoultBasics
import MoultModel
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("Exports")
struct ExportTests {
    /// Prints what the three forms of an export hold, read by Python alone: `name rows`, then the rows that differ.
    private static let comparison = """
        import base64, csv, json, os, sqlite3, sys
        csv.field_size_limit(10 ** 9)
        folder = sys.argv[1]
        db = sqlite3.connect(folder + '/plain.sqlite')
        tables = [name for (name,) in db.execute('SELECT name FROM sqlite_master WHERE type = "table" ORDER BY 1')]
        print(len(tables), len(os.listdir(folder + '/csv')), len(os.listdir(folder + '/jsonl')))
        def shown(value):
            if value is None: return ''
            if value is True or value is False: return str(int(value))
            if isinstance(value, bytes): return "x'" + value.hex() + "'"
            return repr(value) if isinstance(value, float) else str(value)
        def number(text):
            try: return float(text)
            except ValueError: return text
        for name in tables:
            columns = [row[1] for row in db.execute('SELECT * FROM pragma_table_info(?)', (name,))]
            rows = db.execute('SELECT * FROM "%s"' % name).fetchall()
            lines = list(csv.reader(open(folder + '/csv/' + name + '.csv', newline='')))
            objects = [json.loads(line) for line in open(folder + '/jsonl/' + name + '.jsonl')]
            assert lines[0] == columns, (name, lines[0], columns)
            assert len(lines) - 1 == len(rows) == len(objects), name
            for row, line, object in zip(rows, lines[1:], objects):
                assert list(object) == columns, name
                for value, text, column in zip(row, line, columns):
                    same = shown(value) == text or number(shown(value)) == number(text)
                    assert same, (name, column, value, text)
                    plain = object[column]
                    if isinstance(plain, (dict, list)): value = json.loads(value)
                    if isinstance(value, bytes): plain = base64.b64decode(plain)
                    if isinstance(value, float) and isinstance(plain, str): plain = float(plain.replace('Infinity', 'inf'))
                    if isinstance(plain, str) and isinstance(value, (int, float)): plain = float(plain)
                    assert plain == value, (name, column, value, plain)
            print(name, len(rows))
        print(len(db.execute('PRAGMA foreign_key_check').fetchall()), db.execute('PRAGMA integrity_check').fetchone()[0])
        """

    private func write(
        _ store: String, _ format: ExportWriter.Format, _ path: String, _ selection: StoreExport.Selection = .init()
    ) throws
        -> ExportWriter.Outcome
    {
        try ExportWriter(format, isExact: true).write(store, selection, versions: nil, to: path)
    }

    @Test func `an export of an entity names the sub-entities that it leaves out`() throws {
        let store = try SampleStore(count: 2)
        func leftOut(_ entities: [String], _ name: String) throws -> [String] {
            try ExportWriter(.csv).write(
                store.path, .init(entities: entities), versions: nil, to: store.folder.path + "/" + name
            ).leftOut
        }
        #expect(try leftOut(["Dish"], "a") == ["Soup"])
        #expect(try leftOut(["Soup"], "b").isEmpty)
        #expect(try leftOut(["Dish", "Soup"], "c").isEmpty)
        #expect(try leftOut([], "d").isEmpty)
        let printed = try ExportReport.write(
            store.path, ExportSelection(entities: ["Dish"]), .csv, isExact: false, versions: nil
        ) { _ in true }
        #expect(printed.leftOut == ["Soup"])
    }

    @Test func `CSV, JSON Lines and the database hold the same, with every object of the store once`() throws {
        let store = try SampleStore()
        let folder = store.folder.path
        _ = try write(store.path, .csv, folder + "/csv")
        _ = try write(store.path, .jsonl, folder + "/jsonl")
        let outcome = try write(store.path, .sqlite, folder + "/plain.sqlite")
        let compared = try ChildProcess.run("python3", ["-c", Self.comparison, folder])
        let joins = try SQLiteShell.run(
            store.path, "SELECT count(*) FROM ZINGREDIENT WHERE ZDISH IS NOT NULL"
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(compared.exit == 0, "\(compared.output)")
        let lines = compared.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "8 8 8" && lines.last == "0 ok", "\(compared.output)")
        #expect(Set(lines).isSuperset(of: ["Dish 40", "Soup 40", "Tag 40", "ZDISH 40", "Dish_ingredients \(joins)"]))
        #expect(
            outcome.parts.map(\.name) == [
                "Dish", "Ingredient", "Soup", "Tag", "ZDISH", "Dish_goesWith", "Dish_ingredients", "Dish_tags",
            ])
        // The witness has the links of a many-to-many relationship.
        let links = try Witness.lines(of: store.path).filter { $0.hasPrefix("Tag ") }.flatMap { line in
            line.split(separator: " ").first { $0.hasPrefix("dishes=m:") }?.dropFirst(9).split(separator: ",") ?? []
        }
        #expect(lines.contains("Dish_tags \(links.count)"))
        #expect(
            try SQLiteShell.run(folder + "/plain.sqlite", "SELECT count(*) FROM pragma_foreign_key_list('Dish_tags')")
                == "1\n")
    }

    @Test func `dates, UUIDs and files are as the witness has them`() throws {
        let store = try SampleStore(isHostile: false)
        _ = try write(store.path, .sqlite, store.folder.path + "/plain.sqlite")
        var dates = 0
        for line in try Witness.lines(of: store.path) where line.hasPrefix("Dish ") {
            let words = line.split(separator: " ").map(String.init)
            func value(_ name: String) -> String? {
                words.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 3)) }
            }
            let row = try SQLiteShell.run(
                store.folder.path + "/plain.sqlite",
                "SELECT replace(lower(aUUID), '-', ''), strftime('%s', aDate) - 978307200 FROM Dish WHERE Z_PK = \(words[1])"
            ).trimmingCharacters(in: .newlines).split(separator: "|", omittingEmptySubsequences: false)
            if let uuid = value("aUUID"), !uuid.isEmpty { #expect(String(row[0]) == uuid) }
            guard let bits = value("aDate").flatMap({ UInt64($0, radix: 16) }), let shown = Double(row[1]) else {
                continue
            }
            #expect(abs(shown - Double(bitPattern: bits)) <= 1, "\(line)")
            dates += 1
        }
        #expect(dates > 10)
    }

    @Test func `a selection takes the objects of a predicate, so many of them, and these columns`() throws {
        let store = try SampleStore(isHostile: false)
        _ = try SQLiteShell.run(store.path, "UPDATE ZINGREDIENT SET ZNAME = 'salt', ZDISH = 3 WHERE Z_PK IN (2, 5, 7)")
        let path = store.folder.path + "/part"
        let outcome = try write(
            store.path, .csv, path,
            .init(
                entities: ["Ingredient"], predicate: Predicate(parsing: "name == 'salt' AND dish != nil"), limit: 2,
                columns: ["name", "Z_PK"]))
        #expect(outcome.parts.map(\.place) == ["Ingredient.csv"] && outcome.parts.map(\.rows) == [2])
        #expect(try String(contentsOfFile: path + "/Ingredient.csv", encoding: .utf8) == "name,Z_PK\nsalt,2\nsalt,5\n")
        let links = try write(
            store.path, .csv, path + "2", .init(entities: ["Soup"], limit: 3, columns: ["Z_PK", "ingredients"]))
        #expect(links.parts.map(\.name) == ["Soup", "Soup_ingredients"] && links.parts[0].rows == 3)
        let owners = try SQLiteShell.run(
            store.path,
            "SELECT count(*) FROM ZINGREDIENT WHERE ZDISH IN (SELECT Z_PK FROM ZDISH WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Soup') ORDER BY 1 LIMIT 3)"
        )
        #expect("\(links.parts[1].rows)\n" == owners)
        // To-many relationships alone: their pairs, and no table without columns.
        for format in ExportFormat.allCases {
            let pairs = try write(
                store.path, format, path + "-\(format.rawValue)", .init(entities: ["Soup"], columns: ["ingredients"]))
            #expect(pairs.parts.map(\.name) == ["Soup_ingredients"] && pairs.parts[0].rows > 0)
        }
    }

    @Test func `what is not there is refused with what there is, and leaves nothing`() throws {
        let store = try SampleStore(count: 3)
        let before = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        for selection: StoreExport.Selection in [
            .init(entities: ["Nobody"]), .init(entities: ["Dish"], columns: ["nothing"]),
            .init(predicate: .constant(true)), .init(columns: ["Z_PK"]),
            .init(entities: ["Dish"], predicate: try Predicate(parsing: "nothing == 1")),
            .init(entities: ["Dish"], predicate: try Predicate(parsing: "tags.nothing == 1")),
        ] {
            #expect(throws: MigrationError.self) { try write(store.path, .csv, store.folder.path + "/out", selection) }
        }
        #expect(throws: MigrationError.self) { try write(store.path, .sqlite, store.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == before.sorted())
    }

    @Test func `a name of an entity is a plain name of a file, and two that differ in case are two files`() throws {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "../A/b", attributes: [.init(name: "=x", type: .string)]),
            EntityDescription(name: "CON.", attributes: [.init(name: "y", type: .string)]),
        ])
        let maker = try StoreCreator(ModelVersion(names: ["n"], model: model))
        try maker.make(at: folder.path + "/s.sqlite")
        let outcome = try ExportWriter(.csv).write(
            folder.path + "/s.sqlite", .init(), versions: nil, to: folder.path + "/out")
        #expect(outcome.parts.map(\.place) == ["___A_b.csv", "CON_.csv"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out").sorted() == [
                "CON_.csv", "___A_b.csv",
            ])
        #expect(try String(contentsOfFile: folder.path + "/out/___A_b.csv", encoding: .utf8) == "Z_PK,entity,'=x\n")
    }
}
