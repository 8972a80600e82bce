import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultTools
import TestSupport
import Testing

/// Views give what the witness in Python gives, which knows nothing of them.
@Suite("Views")
struct ViewsTests {  // tier: long
    @Test func `a store with every type and hostile names reads through its views as the witness reads it`() throws {
        let store = try SampleStore()
        let compared = try ViewComparison(store.path, original: store.path, model: store.model).run()
        #expect(compared > 1_500)
    }

    @Test func `an entity with a name that SQLite reserves has a view and an exported table of another name`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/s.sqlite"
        let entity = EntityDescription(name: "sqlite_thing", attributes: [.init(name: "word", type: .string)])
        let version = ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [entity]))
        try StoreCreator(version).make(at: path)
        _ = try SQLiteShell.run(
            path, "INSERT INTO ZSQLITE_THING (Z_PK, Z_ENT, Z_OPT, ZWORD) VALUES (1, 1, 1, 'a')")
        let script = try ReadOnlyStore.read(path) { probe in
            try StoreViews(StoreContents(probe, in: ModelVersions(versions: [version]))).script
        }
        #expect(script.contains("SQLite reserves names that begin with sqlite_."))
        #expect(try SQLiteShell.run(path, script + "SELECT word FROM _sqlite_thing") == "a\n")
        let written = folder.path + "/out.sqlite"
        _ = try ExportWriter(.sqlite).write(path, .init(), versions: ModelVersions(versions: [version]), to: written)
        #expect(try SQLiteShell.run(written, "SELECT word FROM _sqlite_thing") == "a\n")
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `real stores read through their views as the witness reads them`() throws {
        let stores = CorpusStores.distinct
        let chosen = Corpus.sample(stores, every: 6)
        var compared = 0
        for original in chosen {
            let folder = try ScratchFolder()
            compared += try ViewComparison(try folder.copyStore(original), original: original).run()
        }
        print("VIEWS: \(compared) values of \(chosen.count) stores")
        #expect(compared > 100)
    }

    @Test func `the script runs in a session that has the store open, and in one that has it attached`() throws {
        let store = try SampleStore(count: 5)
        let views = try ReadOnlyStore.read(store.path) { StoreViews(try StoreContents($0, in: nil)) }
        let script = store.folder.path + "/views.sql"
        try Data(views.script.utf8).write(to: URL(fileURLWithPath: script))
        let query = "SELECT count(*), sum(entity = 'Soup') FROM Dish;"
        let opened = try SQLiteShell.run(store.path, query, arguments: ["-readonly", "-cmd", ".read \(script)"])
        #expect(opened == "10|5\n")
        let other = store.folder.path + "/other.sqlite"
        let attached = try SQLiteShell.run(
            other, query, arguments: ["-cmd", "ATTACH '\(store.path)' AS s", "-cmd", ".read \(script)"])
        #expect(attached == "10|5\n")
        let names = views.views.map(\.name)
        #expect(names.contains("Dish_only") && names.contains("ZDISH_2") && names.contains("Dish_ingredients"))
        let columns = try #require(views.views.first { $0.name == "ZDISH_2" }?.columns)
        #expect(columns == ["Z_PK", "entity", "Entity_2", "z_pk_2"])
    }

    @Test func `a copy is whole, in one file, and has the views for good; a path that is taken is refused`() throws {
        let store = try SampleStore(count: 5)
        // A store in use: what is only in the log is in the copy.
        let writer = try SQLiteProcess(store.path)
        try writer.run(
            "PRAGMA journal_mode = WAL; INSERT INTO ZINGREDIENT (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 900, Z_ENT, 1, 'late' FROM ZINGREDIENT LIMIT 1;"
        )
        let path = store.folder.path + "/copy.sqlite"
        try ReadableCopy(of: store.path, versions: nil).make(at: path)
        #expect(
            try SQLiteShell.run(path, "SELECT name FROM Ingredient WHERE Z_PK = 900; PRAGMA quick_check")
                == "late\nok\n")
        let files = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(files.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
        #expect(throws: MigrationError.self) { try ReadableCopy(of: store.path, versions: nil).make(at: path) }
        writer.end()
    }

    @Test func `a store without a model has views with its own column names`() throws {
        let store = try SampleStore(count: 5)
        _ = try SQLiteShell.run(store.path, "DROP TABLE Z_MODELCACHE; UPDATE ZDISH SET ZADATE = 0.5 WHERE Z_PK = 1")
        let path = store.folder.path + "/copy.sqlite"
        try ReadableCopy(of: store.path, versions: nil).make(at: path)
        let shown = try SQLiteShell.run(
            path,
            "SELECT entity, ZADATE FROM Dish WHERE Z_PK = 1; SELECT count(*) FROM Soup; SELECT count(ZNAME) > 0 FROM Ingredient"
        )
        #expect(shown == "Dish|2001-01-01T00:00:00.500Z\n5\n1\n")
    }

    @Test func `on a terminal a row that does not fit has a line for each value, and nothing is wider`() throws {
        let store = try SampleStore(count: 5)
        func lines(_ sql: String, width: Int?) throws -> [String] {
            var lines: [String] = []
            let style = TextStyle(hasColour: false, width: width)
            let output = RowOutput(style: style, line: { lines.append($0) }, exactly: { lines.append($0) })
            _ = try RowPrinter.print(sql, of: store.path, versions: nil, .table, isExact: false, output) { true }
            return lines
        }
        let long = "SELECT 1 AS key, 'two' || char(10) || 'lines' AS text, hex(zeroblob(100)) AS long"
        let narrow = try lines(long, width: 40)
        #expect(narrow.prefix(3) == ["row 1", "key   1", "text  two↵lines"], "\(narrow)")
        #expect(narrow.last?.hasPrefix("long  000") == true && narrow.last?.hasSuffix("0…") == true, "\(narrow)")
        #expect(narrow.allSatisfy { $0.columns <= 40 }, "\(narrow)")
        let wide = try lines(long, width: 100)
        #expect(wide.count == 2 && wide[0].hasPrefix("key  text"), "\(wide)")
        #expect(wide.allSatisfy { $0.columns <= 100 }, "\(wide)")
        // A file gets every value whole.
        #expect(try lines(long, width: nil)[1].hasSuffix(String(repeating: "0", count: 200)))
    }

    @Test
    func `a query reads; what writes, attaches, or is more than one statement is refused with SQLite's words`() throws {
        let store = try SampleStore(count: 5)
        func rows(_ sql: String) throws -> [[SQLiteValue]] {
            let probe = try ReadOnlyStore(store.path)
            defer { probe.close() }
            var rows: [[SQLiteValue]] = []
            try StoreQuery(sql, over: probe, versions: nil).forEachRow {
                rows.append($0)
                return rows.count < 7
            }
            return rows
        }
        #expect(try rows("SELECT count(*) FROM Soup -- all\n;") == [[.integer(5)]])
        #expect(try rows("SELECT Z_PK FROM Dish ORDER BY 1").count == 7)
        for sql in [
            "", "  -- nothing", "DELETE FROM ZDISH", "DELETE FROM ZDISH RETURNING 1", "ATTACH 'x.sqlite' AS x", "BEGIN",
            "SELECT 1; SELECT 2", "SELEC 1", "SELECT * FROM Nothing", "PRAGMA journal_mode = DELETE",
            "CREATE TEMP TABLE t (a)", "SELECT json('{')", "VACUUM INTO 'x.sqlite'", "SELECT 1\u{0}", "SELECT 1; \u{0}",
            "\u{0}",
        ] {
            do {
                _ = try rows(sql)
                Issue.record("\(sql) is taken")
            } catch let error as MigrationError {
                #expect(error.code == .usage, "\(sql): \(error)")
            }
        }
        #expect(try SQLiteShell.run(store.path, "SELECT count(*) FROM ZDISH") == "10\n")
    }
}

/// Compares the rows of a store's views with the lines of the witness.
private struct ViewComparison {
    let path: String
    let original: String
    let model: ManagedObjectModel?

    init(_ path: String, original: String, model: ManagedObjectModel? = nil) {
        self.path = path
        self.original = original
        self.model = model
    }

    /// - Returns: how many values were compared.
    func run() throws -> Int {
        let probe = try ReadOnlyStore(path)
        defer { probe.close() }
        let snapshot = try StoreSnapshot(probe.connection)
        let model = try #require(self.model ?? snapshot.corpusModel(of: original))
        let contents = try StoreContents(snapshot, model: model, path: path)
        let views = StoreViews(contents)
        try views.make(on: probe.connection, isTemporary: true)
        var file: String?
        if snapshot.cachedModel == nil {
            file = path + ".model"
            try Data(model.witnessText.utf8).write(to: URL(fileURLWithPath: path + ".model"))
        }
        let pairs = try pairs(contents, views, probe.connection)
        var rows: [String: [String: SQLiteValue]] = [:]
        for entity in contents.entities {
            let isParent = contents.hierarchies.contains { $0.name == entity.name }
            let meaning = "entity \(entity.name)\(isParent ? ", without" : ".")"
            let view = try #require(views.views.first { $0.meaning.contains(meaning) && $0.columns.first == "Z_PK" })
            try probe.connection.forEachRow("SELECT * FROM temp.\(view.name.quotedName)") { row in
                #expect(row.value(1) == .text(entity.name))
                rows["\(entity.name) \(row.integer(0))"] = Dictionary(
                    zip(view.columns, row.row), uniquingKeysWith: { first, _ in first })
            }
        }
        var compared = 0
        let lines = try Witness.lines(of: path, model: file)
        #expect(lines.count == rows.count, "\(original)")
        for line in lines {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let names = words.dropFirst(2)
            // A name with a blank in it would be two words.
            guard names.allSatisfy({ $0.contains("=") }) else { continue }
            let row = try #require(rows["\(words[0]) \(words[1])"], "\(original): \(line)")
            for word in names {
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                let (name, value) = (parts[0], parts.count > 1 ? parts[1] : "")
                if value.hasPrefix("m:") {
                    let declaring =
                        model.entity(words[0]).flatMap { model.declaringEntity(of: name, in: $0) }?.name ?? ""
                    let found = pairs["\(declaring).\(name)"]?[Int64(words[1]) ?? 0] ?? []
                    let expected = value.dropFirst(2).split(separator: ",").compactMap {
                        Int64($0.split(separator: "/")[1])
                    }
                    #expect(found == expected, "\(original): \(words[0]).\(name)")
                } else if let shown = row[name] ?? row[name + "_2"] {
                    #expect(
                        try equals(shown, value, row[name + ".entity"]), "\(original): \(word.prefix(200)) \(shown)")
                } else {
                    Issue.record("\(original): no column \(words[0]).\(name)")
                }
                compared += 1
            }
        }
        return compared
    }

    private func pairs(
        _ contents: StoreContents, _ views: StoreViews, _ connection: Connection
    ) throws -> [String: [Int64: [Int64]]] {
        var pairs: [String: [Int64: [Int64]]] = [:]
        for join in contents.joins {
            let view = try #require(views.views.first { $0.meaning == join.meaning + "." })
            let columns = view.columns.map(\.quotedName)
            let order = ([columns[0]] + (columns.count > 2 ? [columns[2]] : []) + [columns[1]]).joined(separator: ", ")
            try connection.forEachRow("SELECT * FROM temp.\(view.name.quotedName) ORDER BY \(order)") { row in
                pairs["\(join.entity).\(join.relationship)", default: [:]][row.integer(0), default: []].append(
                    row.integer(1))
            }
        }
        return pairs
    }

    /// Whether a view shows the value of the witness.
    private func equals(_ shown: SQLiteValue, _ value: String, _ entity: SQLiteValue?) throws -> Bool {
        let text = String(value.dropFirst(2))
        switch value.prefix(2) {
        case "-": return shown == .null
        case "i:": return shown == .integer(Int64(text) ?? 0)
        case "b:": return shown == .integer(text == "1" ? 1 : 0)
        case "f:": return number(shown).bitPattern == bits(text).bitPattern || number(shown) == bits(text)
        case "n:": return abs(number(shown) - (Double(text) ?? .nan)) <= abs(number(shown)) * 1e-14
        case "s:", "u:": return shown.text.map { Array($0.utf8).hexadecimal == text } ?? false
        case "U:":
            return shown.text?.replacingOccurrences(of: "-", with: "").lowercased() == text && shown.text?.count == 36
        case "x:":
            if case .blob(let bytes) = shown { return bytes.hexadecimal == text }
            // JSON is shown as its text.
            if let json = shown.text, Array(json.utf8).hexadecimal == text { return true }
            let bytes = try shown.text.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            return bytes.map { Array($0).hexadecimal } == text
        case "o:":
            let parts = text.split(separator: "/")
            return shown == .integer(Int64(parts[1]) ?? 0) && (entity == nil || entity?.text == String(parts[0]))
        case "d:": return isDate(shown, bits(text))
        default: return true
        }
    }

    /// A date to the millisecond, and one that the calendar of SQLite does not have as the number that it is.
    private func isDate(_ shown: SQLiteValue, _ seconds: Double) -> Bool {
        guard let text = shown.text else { return number(shown) == seconds }
        let parts = text.split { "-T:Z".contains($0) }.map(String.init)
        guard text.utf8.count == 24, parts.count == 6 else { return false }
        let numbers = parts.prefix(5).compactMap(Int.init)
        guard numbers.count == 5, let second = Double(parts[5]) else { return false }
        // The Julian day number of a Gregorian date.
        let early = (14 - numbers[1]) / 12
        let (year, month) = (numbers[0] + 4800 - early, numbers[1] + 12 * early - 3)
        let day = numbers[2] + (153 * month + 2) / 5 + 365 * year + year / 4 - year / 100 + year / 400 - 32045
        let whole = ((day - 2_451_911) * 24 + numbers[3]) * 60 + numbers[4]
        return abs(Double(whole) * 60 + second - seconds) < 0.002
    }

    private func bits(_ text: String) -> Double { Double(bitPattern: UInt64(text, radix: 16) ?? 0) }

    private func number(_ value: SQLiteValue) -> Double {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .text(let text): Double(text) ?? .nan
        case .null, .blob: .nan
        }
    }
}
