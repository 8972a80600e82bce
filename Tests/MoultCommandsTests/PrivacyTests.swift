import Foundation
import TestSupport
import Testing

/// What a person has put into a store is printed and kept by the verbs that are asked for it, and by no other: neither on
/// the streams, nor in any file that is no copy of the store.
@Suite("No value of a row leaves the store unless it is asked for")
struct PrivacyTests {  // tier: long
    @Test(arguments: [true, false])
    func `every verb, those that fail too, over texts, blobs, metadata, history and an app's own objects`(
        isFaulty: Bool
    ) throws {
        let planted = try PlantedStore(isFaulty: isFaulty)
        // What is asked for is found: the search sees what it has to see.
        for asked in [["dump"], ["inspect", "--values"], ["plan", "--sql", "--values"]] {
            #expect(try planted.leaks(asked) != [], "\(asked)")
        }
        if isFaulty { #expect(try planted.leaks(["validate", "--values"]) != []) }
        var leaks: [String] = []
        for (position, verb) in PlantedStore.verbs(isFaulty: isFaulty) {
            // The other store has the other form.
            let isJSON = position.isMultiple(of: 2) == isFaulty
            leaks += try planted.leaks(isJSON ? verb + ["--json"] : verb)
            leaks += try planted.leaksInFiles(after: verb)
        }
        #expect(leaks == [], "\(leaks.joined(separator: "\n"))")
        // The faulty store shows what verbs say when they fail, the other one what they do.
        #expect(planted.exits.isSuperset(of: isFaulty ? [0, 1, 2, 4, 5] : [0, 1, 2, 3, 5]), "\(planted.exits)")
        print("PRIVACY: \(planted.runs) runs, \(planted.bytes) bytes searched, exits \(planted.exits.sorted())")
        if ProcessInfo.processInfo.environment["MOULT_SHOWS_RUNS"] != nil {
            print(planted.told.joined(separator: "\n"))
        }
    }

    @Test func `objects that a repair has put aside are listed and put back without their values`() throws {
        let planted = try PlantedStore(isFaulty: false)
        try planted.dropTrigger()
        let fix = ["validate", "--rules", "own.rules.json", "--fix", "--allow-large-quarantine"]
        let restore = ["quarantine", "restore", "--all"]
        var leaks: [String] = []
        let list = ["quarantine", "list"]
        for verb in [fix, ["repair"], list, restore + ["--dry-run"], restore, fix, restore + ["--json"]] {
            leaks += try planted.leaks(verb)
            leaks += try planted.leaksInFiles(after: verb)
        }
        leaks += try planted.leaks(list + ["--json"])
        #expect(leaks == [], "\(leaks.joined(separator: "\n"))")
        let isPutBack = planted.told.contains { $0.hasPrefix("0 ") && $0.contains("restore") && !$0.contains("dry") }
        #expect(isPutBack, "\(planted.told)")
    }

    @Test func `a bundle that is asked for values has them`() throws {
        let planted = try PlantedStore(isFaulty: true)
        _ = try planted.leaks(["doctor", "--bundle", "whole.tar", "--values"])
        #expect(try planted.leaksInFiles(after: []) != [])
    }
}

/// A store of the forum with a mark in everything that a person or an app can have written.
private final class PlantedStore {
    /// Letters alone, so that quoting cannot change them, and each part of a value has them.
    private static let mark = "zqPLANTEDqz"
    private static let number = "7734009917"
    private static let value =
        "\(mark)'\(mark)\"\(mark)\n\(mark)\\\(mark)\t%\(mark)%@{\"\(mark)\": [\(mark)]}--\(mark)/*\(mark)*/;“\(mark)” é\u{1F426}\(mark)"

    /// What a store is asked for, with its places: in the quick tests each store answers half of the verbs that only look,
    /// and one of them is copied.
    static func verbs(isFaulty: Bool) -> [(place: Int, verb: [String])] {
        (looking + copying + repairing + migrating).enumerated().filter { place, verb in
            if Tier.faults.isAsked { return true }
            return place < looking.count
                ? (place / 2).isMultiple(of: 2) == isFaulty : !isFaulty || !copying.contains(verb)
        }
        .map { ($0.offset, $0.element) }
    }

    private static let looking: [[String]] = [
        ["status"], ["status", "--check"], ["inspect"], ["doctor"], ["doctor", "--bundle", "report.tar"], ["validate"],
        ["validate", "--full"], ["validate", "--rules", "own.rules.json"],
        ["validate", "--rules", "own.rules.json", "--fix", "--dry-run"], ["plan"], ["plan", "--sql"],
        ["plan", "--sql", "--in-place"], ["plan", "--deferred"], ["repair", "--dry-run"], ["migrate", "--dry-run"],
        ["migrate", "--dry-run", "--rules", "new.rules.json"], ["runs"], ["log"], ["finish"],
        ["quarantine", "list"], ["downgrade", "--to", "Forum", "--dry-run"], ["salvage", "copy-salvaged.sqlite"],
        ["test", "--crash", "--seconds", "1"], ["views"], ["query", "SELECT * FROM APPBROKEN"],
        ["diagram", "--history"], ["diagram", "--plan"], ["coexist"], ["generate", "-o", "generated"],
        ["decompile", "-o", "decompiled.xcdatamodel"],
        ["schema", "export", "schema", "--model", "forum.sqlite"],
        ["checklist", "Forum.xcdatamodeld", "--for", "forum.sqlite"],
        ["migrate", "--dry-run", "--accept-losses", "--profile", "trace.json"],
        ["anonymise", "-o", "copy-anonymous.sqlite"], ["views", "-o", "copy-views.sqlite"],
        ["export", "--format", "sqlite", "-o", "copy-plain.sqlite"],
        ["migrate", "--accept-losses", "--into", "copy-newest.sqlite"],
        ["import", "kind.csv", "--entity", "User"], ["import", "date.csv", "--entity", "Post"],
        ["import", "link.csv", "--entity", "Post"], ["import", "key.csv", "--entity", "Post"],
        ["import", "lines.jsonl", "--entity", "User"], ["import", "twice.csv", "--entity", "User"],
    ]
    private static let copying: [[String]] = [
        ["backup", "create"], ["backup", "list"], ["backup", "verify"],
        ["mirror", "start", "--at", "copy-second.sqlite"],
        ["mirror", "status"], ["mirror", "sync"], ["mirror", "verify"], ["mirror", "stop"],
    ]
    private static let repairing: [[String]] = [
        ["migrate", "--rules", "broken.rules.json"], ["validate", "--rules", "own.rules.json", "--fix"],
        ["validate", "--rules", "own.rules.json", "--fix", "--allow-large-quarantine"], ["repair"],
        ["quarantine", "list"], ["quarantine", "restore", "--all", "--dry-run"], ["quarantine", "restore", "--all"],
    ]
    private static let migrating: [[String]] = [
        ["migrate", "--to", "Forum 2", "--events"], ["migrate"], ["resume"], ["validate"],
        ["downgrade", "--to", "Forum"], ["downgrade", "--to", "Forum", "--restore"], ["rollback"],
        ["migrate", "--deferred", "--accept-losses"], ["finish"], ["doctor"], ["doctor", "--bundle", "report.tar"],
        ["runs"], ["log"],
    ]

    private let moult: Tool
    private(set) var exits: Set<Int32> = []
    private(set) var runs = 0
    /// What each run said first.
    private(set) var told: [String] = []
    private(set) var bytes = 0
    /// The files that have the mark because the test has written them.
    private var inputs: Set<String> = []
    /// The mark in each form in which it could leave.
    private let forms: [(name: String, bytes: Data)]

    /// - Parameter isFaulty: whether some values cannot be read, and a trigger of the app refuses what a repair does.
    init(isFaulty: Bool) throws {
        var tool = try StoreVerbTests.besideForumStore()
        try FileManager.default.createDirectory(atPath: tool.folder.path + "/tmp", withIntermediateDirectories: false)
        tool.environment["TMPDIR"] = tool.folder.path + "/tmp"
        moult = tool
        forms = Self.forms()
        try plant(isFaulty: isFaulty)
    }

    // MARK: - What is planted

    private func plant(isFaulty: Bool) throws {
        let text = "CAST(x'\(hex(Self.value))' AS TEXT)"
        let literal = "'" + Self.value.replacingOccurrences(of: "'", with: "''") + "'"
        let store = moult.folder.path + "/forum.sqlite"
        try writeMetadata(store)
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZPOST SET ZTEXT = \(text) || Z_PK, ZATTACHMENT = CAST(x'01' || \(text) AS BLOB);
            UPDATE ZPOST SET ZTHREAD = 999999 WHERE Z_PK = 3;
            UPDATE ZUSER SET ZNAME = \(text), ZEMAIL = \(text), ZAVATAR = CAST(x'01' || \(text) AS BLOB);
            UPDATE ZTHREAD SET ZSUBJECT = \(text), ZISPINNED = \(Self.number) WHERE Z_PK % 2;
            UPDATE ZFORUM SET ZTITLE = \(text), ZPARENT = Z_PK, ZPOSITION = \(Self.number);
            CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
            INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, \(text));
            CREATE TABLE APPNOTES (note TEXT DEFAULT \(literal) CHECK (note <> \(literal) OR note = note),
                size INTEGER DEFAULT \(Self.number), word DEFAULT \(Self.mark),
                twice TEXT GENERATED ALWAYS AS (note || \(literal)) VIRTUAL);
            INSERT INTO APPNOTES (note) VALUES (\(text));
            CREATE VIEW APPVIEW AS SELECT \(literal) AS a, \(Self.number) AS b, ZNAME FROM ZUSER WHERE ZNAME <> \(literal);
            CREATE VIEW APPBROKEN AS SELECT ZGONE, \(literal) FROM ZPOST;
            CREATE INDEX APPINDEX ON ZPOST (ZTEXT) WHERE ZTEXT <> \(literal);
            CREATE TRIGGER APPGONE AFTER INSERT ON ZPOST BEGIN UPDATE ZPOST SET ZGONE = \(literal); END;
            """)
        if isFaulty {
            _ = try SQLiteShell.run(
                store,
                """
                UPDATE ZPOST SET ZWRITTENAT = \(text) WHERE Z_PK = 1;
                UPDATE ZPOST SET ZTEXT = CAST(\(text) || x'ff' AS TEXT) WHERE Z_PK = 2;
                UPDATE ZPOST SET ZATTACHMENT = CAST(x'02' || \(text) AS BLOB) WHERE Z_PK = 4;
                CREATE TRIGGER APPTRIGGER BEFORE UPDATE ON ZFORUM WHEN NEW.ZPARENT IS NULL
                    BEGIN SELECT RAISE(ABORT, \(literal)); END;
                """)
        }
        for (file, text) in [("own", "text"), ("new", "body")] {
            try write(
                """
                {"format": 1, "rules": [
                  {"name": "short", "severity": "warning", "entity": "User", "predicate": "name == ''",
                    "fix": {"set": {"name": "''"}}},
                  {"name": "loops", "severity": "warning", "entity": "Forum", "noCycle": "parent",
                    "fix": {"nullify": "parent"}},
                  {"name": "posts", "severity": "warning", "entity": "Post", "predicate": "\(text) == ''",
                    "fix": "quarantine"}
                ]}
                """, "\(file).rules.json")
        }
        try write(
            """
            {"format": 1, "rules": [
              {"name": "short", "severity": "error", "entity": "User", "predicate": "name == ''"}]}
            """, "broken.rules.json")
        try writeImports()
    }

    /// Files that no import takes; each has the value where something else is expected.
    private func writeImports() throws {
        let field = "\"" + Self.value.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        inputs = ["kind.csv", "date.csv", "link.csv", "key.csv", "lines.jsonl", "twice.csv"]
        try write("entity,name\n\(field),\(field)\n", "kind.csv")
        try write("text,writtenAt\n\(field),\(field)\n", "date.csv")
        try write("text,author.name\n\(field),\(field)x\n", "link.csv")
        try write("text,author\n\(field),\(field)\n", "key.csv")
        try write("{\"name\": \"\(Self.mark)\", \"email\": \(Self.mark)}\n", "lines.jsonl")
        try write("Z_PK,name,email\n1,\(field),\(field)\n1,\(field),\(field)\n", "twice.csv")
    }

    /// An app's own entries, by Python's plistlib.
    private func writeMetadata(_ store: String) throws {
        let script = """
            import plistlib, sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            p = plistlib.loads(c.execute('SELECT Z_PLIST FROM Z_METADATA').fetchone()[0])
            p['AppName'] = bytes.fromhex(sys.argv[2]).decode()
            p['AppData'] = bytes.fromhex(sys.argv[2])
            p['AppList'] = [{'inner': bytes.fromhex(sys.argv[2]).decode()}]
            c.execute('UPDATE Z_METADATA SET Z_PLIST = ?', (plistlib.dumps(p, fmt=plistlib.FMT_BINARY),))
            c.commit()
            """
        let made = try moult.run("/usr/bin/env", ["python3", "-c", script, store, hex(Self.value)])
        try #require(made.exit == 0, "\(made.errors)")
    }

    /// Drops the app's own trigger that refuses every new post.
    func dropTrigger() throws { _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "DROP TRIGGER APPGONE") }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/" + name))
    }

    // MARK: - What is searched

    /// The marks on both streams of a verb.
    func leaks(_ arguments: [String]) throws -> [String] {
        try? FileManager.default.removeItem(atPath: moult.folder.path + "/report.tar")
        try? FileManager.default.removeItem(atPath: moult.folder.path + "/copy-salvaged.sqlite")
        let verb = arguments.first == "backup" || arguments.first == "quarantine" || arguments.first == "mirror" ? 2 : 1
        let isComplete = arguments.contains("forum.sqlite")
        var all = isComplete ? arguments : Array(arguments.prefix(verb)) + ["forum.sqlite"] + arguments.dropFirst(verb)
        let takesModel =
            !isComplete && !["runs", "log"].contains(arguments[0]) && arguments.prefix(2) != ["backup", "list"]
        if takesModel { all += ["--model", "Forum.xcdatamodeld"] }
        var result = try moult.run(Tool.path, all)
        // A verb that has no such option is asked without it.
        let said = result.errors + result.output
        if result.exit == 2, said.contains("--model") || said.contains("no further argument") {
            result = try moult.run(Tool.path, all.filter { $0 != "--model" && $0 != "Forum.xcdatamodeld" })
        }
        exits.insert(result.exit)
        runs += 1
        told.append("\(result.exit) \(arguments): \((result.errors + result.output).prefix(160))")
        // What is wrong in a file or a query that a person has written is wrong usage.
        let mayBeWrong = ["import", "query"].contains(arguments[0])
        if result.exit == 2 && !mayBeWrong || result.exit == 70 {
            return ["\(arguments): exit \(result.exit): \(result.errors)"]
        }
        let line = "moult " + arguments.joined(separator: " ")
        return found(Data(result.output.utf8), "\(line), output") + found(Data(result.errors.utf8), "\(line), errors")
    }

    /// The marks in the files that are no copies of the store.
    func leaksInFiles(after verb: [String]) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: moult.folder.path)
        return names.filter { !Self.isCopy($0) && !inputs.contains($0) }.flatMap { name -> [String] in
            guard let data = FileManager.default.contents(atPath: moult.folder.path + "/" + name) else { return [] }
            return found(data, "\(name) after \(verb.joined(separator: " "))")
        }
    }

    /// Stores with their external data, wherever they lie, and the quarantine.
    private static func isCopy(_ name: String) -> Bool {
        let file = name.split(separator: "/").last.map(String.init) ?? name
        return name.contains("_SUPPORT/")
            || ["", "-wal", "-shm", "-journal"].contains { file.hasSuffix(".sqlite" + $0) }
    }

    private func found(_ data: Data, _ place: String) -> [String] {
        bytes += data.count
        return forms.compactMap { form in
            guard let range = data.range(of: form.bytes) else { return nil }
            let start = max(data.startIndex, range.lowerBound - 150)
            let around = String(decoding: data[start..<min(range.upperBound + 60, data.endIndex)], as: UTF8.self)
            return "\(place): \(form.name): …\(around)…"
        }
    }

    private static func forms() -> [(name: String, bytes: Data)] {
        var forms: [(String, Data)] = []
        for text in [mark, number] {
            let raw = Data(text.utf8)
            forms.append(("text", raw))
            forms.append(("hexadecimal", Data(raw.map { String(format: "%02x", $0) }.joined().utf8)))
            forms.append(("HEXADECIMAL", Data(raw.map { String(format: "%02X", $0) }.joined().utf8)))
            // In base64 the mark has three forms, by where it begins; the ends depend on its neighbours.
            for offset in 0..<3 {
                let encoded = (Data(repeating: 0, count: offset) + raw).base64EncodedString().filter { $0 != "=" }
                forms.append(("base64", Data(encoded.dropFirst(4).dropLast(3).utf8)))
            }
            let wide = Data(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
            forms.append(("UTF-16", wide))
        }
        return forms
    }

    private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }
}
