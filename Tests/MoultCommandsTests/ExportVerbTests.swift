import Foundation
import TestSupport
import Testing

@Suite("moult diagram, views, query and export")
struct ExportVerbTests {  // tier: long
    private let model = ["--model", "Forum.xcdatamodeld"]

    @Test func `a diagram shows a model, a difference, a plan or a history, and does not change the store`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.contents()
        #expect(try moult("diagram", "Forum.xcdatamodeld").output.contains("  class e0[\"Forum\"]\n"))
        #expect(try moult("diagram", "forum.sqlite").output.contains("e1 : text String\n"))
        let difference = ["diagram", "Forum.xcdatamodeld", "--difference", "Forum"]
        let (named, newest) = try (moult.run(Tool.path, difference + ["Forum 3"]), moult.run(Tool.path, difference))
        #expect(named.output == newest.output && named.output.contains("%% Forum → Forum 3\n"))
        let plan = try moult.run(Tool.path, ["diagram", "forum.sqlite", "--plan"] + model)
        #expect(plan.output.contains("[\"Post<br>200 rows\"]"), "\(plan)")
        let dot = try moult("diagram", "Forum.xcdatamodeld", "--version", "Forum", "--format", "dot")
        #expect(dot.output.hasPrefix("digraph moult {\n") && !dot.output.contains("Moderator"))
        let part = try moult("diagram", "Forum.xcdatamodeld", "--entity", "Tag", "--depth", "0", "--json").document
        #expect(
            (part["text"] as? String)?.components(separatedBy: "class e").count == 2
                && part["language"] as? String == "mermaid")
        #expect(try moult.contents() == before)
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        let history = try moult.run(Tool.path, ["diagram", "forum.sqlite", "--history"] + model)
        #expect(history.output.contains("migrate<br>Forum #8594; Forum 3<br>done"), "\(history)")
        for wrong in [
            ["--format", "png"], ["--plan", "--history"], ["--depth", "2"], ["--entity", "Nobody"], ["Forum 2"],
            ["--difference", "Nothing"],
        ] {
            #expect(try moult.run(Tool.path, ["diagram", "Forum.xcdatamodeld"] + wrong).exit == 2, "\(wrong)")
        }
    }

    @Test func `a large model is drawn by its names, and each of its entities on request`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let folder = moult.folder.path + "/Large.xcdatamodel"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let entities = (0..<31).map { number in
            "<entity name=\"E\(number)\"><attribute name=\"a\(number)\" attributeType=\"String\"/></entity>"
        }
        try "<model>\(entities.joined())</model>".write(
            toFile: folder + "/contents", atomically: true, encoding: .utf8)
        func run(_ more: String...) throws -> Tool.Result {
            try moult.run(Tool.path, ["diagram", "Large.xcdatamodel"] + more)
        }
        let overview = try run()
        #expect(overview.exit == 0 && overview.output.contains("[\"E30\"]") && !overview.output.contains("a30"))
        #expect(overview.errors.contains("31 entities") && overview.errors.contains("--whole"))
        // Both ways on that the message names.
        let (whole, part) = (try run("--whole"), try run("--entity", "E30"))
        #expect(whole.output.contains("a30 String") && whole.errors.isEmpty)
        #expect(part.output.contains("a30 String") && !part.output.contains("E29"))
        guard ChildProcess.hasGraphviz else { return }
        let page = try run("--format", "html")
        #expect(page.output.hasPrefix("<!DOCTYPE html>") && page.output.contains(">a30</text>"), "\(page.errors)")
        #expect(page.output.contains("data-title=\"E30\""))
    }

    @Test func `a store without a model is drawn by its tables`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        _ = try SQLiteShell.run(moult.folder.path + "/forum.sqlite", "DROP TABLE Z_MODELCACHE")
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Forum.xcdatamodeld")
        let drawn = try moult("diagram", "forum.sqlite")
        #expect(
            drawn.exit == 0 && drawn.output.contains("ZWRITTENAT Date") && drawn.errors.contains("The tables are drawn")
        )
        #expect(
            try moult(
                "query", "forum.sqlite", "SELECT count(*) FROM Post WHERE ZWRITTENAT LIKE '____-%'", "--format", "csv"
            ).output.hasSuffix("\n200\n"))
        #expect(try moult("export", "forum.sqlite", "--entity", "Post", "--where", "text != nil").exit == 4)
    }

    @Test func `a query prints the rows in four forms, and a steering character never reaches a table`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite", "UPDATE ZUSER SET ZNAME = '=1+2' || char(27) WHERE Z_PK = 1")
        let sql = "SELECT Z_PK AS key, name, x'01' AS bytes, NULL AS none FROM User WHERE Z_PK = 1"
        func run(_ more: String...) throws -> Tool.Result {
            try moult.run(Tool.path, ["query", "forum.sqlite", sql] + more)
        }
        #expect(try run().output == "key  name        bytes  none\n1    =1+2\\u{1B}  x'01'\n")
        let csv = try run("--format", "csv")
        #expect(csv.output == "key,name,bytes,none\n1,'=1+2\u{1B},x'01',\n" && csv.errors.contains("1 text"), "\(csv)")
        #expect(try run("--format", "csv", "--exact").output == "key,name,bytes,none\n1,=1+2\u{1B},x'01',\n")
        #expect(
            try run("--format", "jsonl").output
                == "{\"key\":1,\"name\":\"=1+2\\u001b\",\"bytes\":\"AQ==\",\"none\":null}\n")
        let document =
            try JSONSerialization.jsonObject(with: Data(try run("--json").output.utf8)) as? [String: any Sendable]
        #expect(document?["columns"] as? [String] == ["key", "name", "bytes", "none"])
        #expect((document?["rows"] as? [[any Sendable]])?.first?.first as? Int == 1)
        let refused = try moult("query", "forum.sqlite", "DELETE FROM ZPOST")
        #expect(refused.exit == 2 && refused.errors.contains("no query that only reads"), "\(refused)")
        let unknown = try moult("query", "forum.sqlite", "SELECT * FROM Pots")
        #expect(unknown.exit == 2 && unknown.errors.contains("no such table: Pots"), "\(unknown)")
        #expect(try moult("query", "forum.sqlite", "SELECT 1 WHERE 0").output == "There are no rows.\n")
    }

    @Test
    func `an export is whole or not there: a full disk leaves nothing, and a path that is taken is refused`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let folder = moult.folder.path
        #expect(try moult("export", "forum.sqlite", "-o", "csv").exit == 0)
        let posts = try String(contentsOfFile: folder + "/csv/Post.csv", encoding: .utf8)
        #expect(posts.split(separator: "\n").count == 201)
        #expect(try moult("export", "forum.sqlite", "-o", "csv").exit == 2)
        #expect(try moult("export", "forum.sqlite").exit == 2)
        let printed = try moult("export", "forum.sqlite", "--entity", "Post")
        #expect(printed.output == posts)
        let limited = try moult.shell("ulimit -f 4; trap '' XFSZ; moult export forum.sqlite -o limited")
        #expect(limited.exit == 5 || limited.exit == 3, "\(limited)")
        let database = try moult.shell(
            "ulimit -f 4; trap '' XFSZ; moult export forum.sqlite --format sqlite -o plain.sqlite")
        #expect(database.exit != 0, "\(database)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!left.contains { $0.hasPrefix("limited") || $0.hasPrefix("plain") }, "\(left)")
    }

    @Test func `a profile has every phase and every statement of a run, and refuses a path that is taken`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--profile", "trace.json"] + model)
        #expect(result.exit == 0 && result.errors.contains("takes longest"), "\(result)")
        let data = try Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/trace.json"))
        let trace = try #require(try JSONSerialization.jsonObject(with: data) as? [String: any Sendable])
        let events = try #require(trace["traceEvents"] as? [[String: any Sendable]])
        let phases = events.filter { $0["cat"] as? String == "phase" }.compactMap { $0["name"] as? String }
        #expect(Set(phases).isSuperset(of: ["backup", "copy", "change", "verify", "commit"]), "\(phases)")
        let statements = events.filter { $0["cat"] as? String == "statement" }.compactMap { $0["name"] as? String }
        let store = try StoreVerbTests.besideForumStore()
        let plan = try store.run(Tool.path, ["plan", "forum.sqlite", "--sql", "--json"] + model).document
        let planned = (plan["statements"] as? [[String: any Sendable]])?.compactMap { $0["sentence"] as? String } ?? []
        #expect(!planned.isEmpty && Set(statements).isSuperset(of: planned), "\(statements) \(planned)")
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite", "--profile", "trace.json"] + model).exit == 2)
        let both = ["migrate", "forum.sqlite", "--profile", "x.json", "--budget", "1s"]
        #expect(try moult.run(Tool.path, both + model).exit == 2)
    }

    @Test func `the profile of a rehearsal gives each phase the time that the rehearsal reports`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult.run(
            Tool.path, ["migrate", "forum.sqlite", "--dry-run", "--profile", "trace.json", "--json"] + model)
        let data = try Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/trace.json"))
        let trace = try #require(try JSONSerialization.jsonObject(with: data) as? [String: any Sendable])
        let events = (trace["traceEvents"] as? [[String: any Sendable]] ?? []).filter {
            $0["cat"] as? String == "phase"
        }
        let phases = events.compactMap { $0["name"] as? String }
        #expect(Set(phases).isSuperset(of: ["backup", "copy", "change", "verify"]), "\(phases)")
        let reported = try result.document["phases"] as? [[String: any Sendable]] ?? []
        let seconds = reported.filter { $0["phase"] as? String == "verify" }.compactMap { $0["seconds"] as? Double }
        let verified = events.first { $0["name"] as? String == "verify" }?["dur"] as? Double ?? 0
        #expect(verified / 1e6 > 0.5 * seconds.reduce(0, +) && !seconds.isEmpty, "\(result)")
    }

    @Test func `what is made of a store is readable to no more users than the store`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let made = try moult.shell(
            "chmod 600 forum.sqlite; moult export forum.sqlite -o csv && moult export forum.sqlite --format sqlite -o p.sqlite"
                + " && moult views forum.sqlite -o v.sqlite && stat -c %a csv csv/Post.csv p.sqlite v.sqlite")
        #expect(made.output.hasSuffix("700\n600\n600\n600\n"), "\(made)")
    }
}

@Suite("moult anonymise and import")
struct AnonymiseVerbTests {  // tier: long
    @Test
    func `an anonymous copy is whole or not there, and the rules of moult.json and of the command line apply`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let folder = moult.folder.path
        let before = try moult.contents()
        let made = try moult("anonymise", "forum.sqlite", "-o", "copy.sqlite", "--seed", "3", "--json")
        #expect(try made.exit == 0 && made.document["seed"] as? Int == 3, "\(made)")
        #expect(try moult.contents() == before)
        let names = try [folder + "/forum.sqlite", folder + "/copy.sqlite"].map {
            try SQLiteShell.run($0, "SELECT ZNAME FROM ZUSER ORDER BY Z_PK")
        }
        #expect(names[0] != names[1] && names[0].count == names[1].count)
        #expect(try moult("validate", "copy.sqlite").exit == 0)
        let migrated = try moult.run(Tool.path, ["migrate", "copy.sqlite", "--model", "Forum.xcdatamodeld"])
        #expect(migrated.exit == 0, "\(migrated)")
        try Data("{\"anonymise\": {\"User.name\": \"keep\", \"Post\": \"erase\"}}".utf8).write(
            to: URL(fileURLWithPath: folder + "/moult.json"))
        #expect(try moult("anonymise", "forum.sqlite", "-o", "kept.sqlite", "--rule", "Post=replace").exit == 0)
        #expect(try SQLiteShell.run(folder + "/kept.sqlite", "SELECT ZNAME FROM ZUSER ORDER BY Z_PK") == names[0])
        #expect(try SQLiteShell.run(folder + "/kept.sqlite", "SELECT count(*) FROM ZPOST WHERE ZTEXT = ''") == "0\n")
        for wrong in [
            [], ["-o", "copy.sqlite"], ["-o", "x.sqlite", "--rule", "Post"],
            ["-o", "x.sqlite", "--rule", "Nobody=keep"],
            ["-o", "x.sqlite", "--rule", "Post.text=hide"], ["-o", "x.sqlite", "--seed", "-1"],
        ] {
            #expect(try moult.run(Tool.path, ["anonymise", "forum.sqlite"] + wrong).exit == 2, "\(wrong)")
        }
        let full = try moult.shell("ulimit -f 8; trap '' XFSZ; moult anonymise forum.sqlite -o full.sqlite")
        #expect([3, 5].contains(full.exit), "\(full)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!left.contains { $0.hasPrefix("full") || $0.hasPrefix("x.sqlite") || $0.hasSuffix(".part") }, "\(left)")
    }

    @Test func `a store in use is copied as it is, with what is only in the log`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let writer = try SQLiteProcess(moult.folder.path + "/forum.sqlite")
        try writer.run(
            "PRAGMA journal_mode = WAL; BEGIN; UPDATE ZUSER SET ZNAME = 'In the log only' WHERE Z_PK = 1; COMMIT;")
        #expect(try moult("anonymise", "forum.sqlite", "-o", "copy.sqlite", "--seed", "1").exit == 0)
        let copy = moult.folder.path + "/copy.sqlite"
        #expect(
            try SQLiteShell.run(copy, "SELECT length(ZNAME), ZNAME = 'In the log only' FROM ZUSER WHERE Z_PK = 1")
                == "15|0\n")
    }

    @Test func `what was exported is imported, and a store that another process writes to is left alone`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("export", "forum.sqlite", "--format", "jsonl", "-o", "objects").exit == 0)
        let create = ["create", "new.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum"]
        #expect(try moult.run(Tool.path, create).exit == 0)
        let made = try moult("import", "new.sqlite", "objects", "--json")
        #expect(made.exit == 0, "\(made)")
        #expect(try moult("export", "new.sqlite", "--format", "jsonl", "-o", "again").exit == 0)
        #expect(
            try ChildProcess.run("diff", ["-r", moult.folder.path + "/objects", moult.folder.path + "/again"]).exit == 0
        )
        #expect(try moult("validate", "new.sqlite").exit == 0)
        let before = try SQLiteShell.run(moult.folder.path + "/new.sqlite", "SELECT count(*) FROM ZUSER")
        for wrong in [["new.sqlite"], ["new.sqlite", "nothing.csv"], ["new.sqlite", "Forum.xcdatamodeld"]] {
            #expect([2, 4].contains(try moult.run(Tool.path, ["import"] + wrong).exit), "\(wrong)")
        }
        let writer = try SQLiteProcess(moult.folder.path + "/new.sqlite")
        try writer.run("BEGIN IMMEDIATE;")
        #expect(try moult("import", "new.sqlite", "objects").exit == 3)
        try writer.run("ROLLBACK;")
        #expect(try SQLiteShell.run(moult.folder.path + "/new.sqlite", "SELECT count(*) FROM ZUSER") == before)
    }

    @Test func `to-many relationships are lists of keys in one file, and no column is left out silently`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let path = moult.folder.path + "/forum.sqlite"
        let keys = try SQLiteShell.run(
            path,
            "SELECT json_group_array(Z_PK) FROM "
                + "(SELECT Z_PK FROM ZPOST WHERE ZTHREAD = 1 ORDER BY Z_FOK_THREAD, Z_PK)")
        #expect(keys.count > 3)
        let thread = ["export", "forum.sqlite", "--entity", "Thread", "--columns"]
        let printed = try moult.run(Tool.path, thread + ["Z_PK,posts", "--format", "JSONL", "--limit", "1"])
        #expect(printed.output == "{\"Z_PK\":1,\"posts\":\(keys.dropLast())}\n", "\(printed)")
        let csv = try moult.run(Tool.path, thread + ["Z_PK,posts"])
        #expect(csv.exit == 2 && csv.output.isEmpty && csv.errors.contains("Thread.posts is to-many"), "\(csv)")
        let none = try moult.run(Tool.path, thread + [""])
        #expect(none.exit == 2 && none.errors.contains("--columns takes the names of columns"), "\(none)")
        // In a folder, the file of pairs needs the keys of the objects.
        #expect(try moult.run(Tool.path, thread + ["subject,posts", "-o", "pairs"]).exit == 0)
        let file = try String(contentsOfFile: moult.folder.path + "/pairs/Thread.csv", encoding: .utf8)
        #expect(file.hasPrefix("Z_PK,subject\n"), "\(file.prefix(100))")
    }

    @Test func `the extension of the new file gives the format, and - is the standard output`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: moult.folder.path + "/" + name, encoding: .utf8)
        }
        let users = ["export", "forum.sqlite", "--entity", "User", "-o"]
        let printed = try moult("export", "forum.sqlite", "--entity", "User")
        #expect(try moult.run(Tool.path, users + ["u.csv"]).exit == 0)
        #expect(try text("u.csv") == printed.output)
        #expect(try moult.run(Tool.path, users + ["-"]).output == printed.output)
        #expect(try moult.run(Tool.path, users + ["u.jsonl"]).exit == 0)
        #expect(try text("u.jsonl").hasPrefix("{\"Z_PK\":1,"))
        #expect(try moult("export", "forum.sqlite", "-o", "all.db").exit == 0)
        #expect(
            try SQLiteShell.run(moult.folder.path + "/all.db", "SELECT count(*) FROM User")
                == SQLiteShell.run(moult.folder.path + "/forum.sqlite", "SELECT count(*) FROM ZUSER"))
        for wrong in [["u2.csv", "--format", "jsonl"], ["u2.db", "--format", "csv"]] {
            let refused = try moult.run(Tool.path, users + wrong)
            #expect(refused.exit == 2 && refused.errors.contains("contradicts the extension"), "\(refused)")
        }
        let several = try moult("export", "forum.sqlite", "-o", "all.csv")
        #expect(several.exit == 2 && several.errors.contains("is one file"), "\(several)")
        let left = try FileManager.default.contentsOfDirectory(atPath: moult.folder.path)
        #expect(!left.contains { $0.hasPrefix("all.csv") }, "\(left)")
        let query = ["query", "forum.sqlite", "SELECT Z_PK FROM User WHERE Z_PK = 1", "-o"]
        for (name, contents) in [("q.csv", "Z_PK\n1\n"), ("q.jsonl", "{\"Z_PK\":1}\n")] {
            #expect(try moult.run(Tool.path, query + [name]).exit == 0)
            #expect(try text(name) == contents)
        }
        #expect(try moult.run(Tool.path, query + ["-"]).output == "Z_PK\n1\n")
        #expect(try moult("diagram", "Forum.xcdatamodeld", "-o", "f.dot").exit == 0)
        #expect(try text("f.dot").hasPrefix("digraph moult"))
        let copy = try moult("anonymise", "forum.sqlite", "-o", "-")
        #expect(copy.exit == 2 && copy.errors.contains("-o takes a path here"), "\(copy)")
        // A file of another format would be a folder of CSV, or text in a picture.
        for wrong in [["export", "forum.sqlite", "-o", "all.json"], ["diagram", "Forum.xcdatamodeld", "-o", "f.png"]] {
            let refused = try moult.run(Tool.path, wrong)
            #expect(refused.exit == 2 && refused.errors.contains(", and no ."), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/" + wrong[3]))
        }
        #expect(try moult("diagram", "Forum.xcdatamodeld", "--json", "-o", "f.json").exit == 0)
        #expect(try text("f.json").hasPrefix("{\"format\":1,"))
    }

    @Test func `an export says that files of external data are not there`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let name = "E0B0A9B8-9F5A-4C0E-9A63-0B1D7E3B9F10".utf8.map { String($0, radix: 16) }.joined()
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite", "UPDATE ZPOST SET ZATTACHMENT = x'02\(name)00' WHERE Z_PK = 1")
        let said = "1 file of external data is not there, although the store names it."
        for arguments in [["--entity", "Post"], ["-o", "csv"]] {
            let result = try moult.run(Tool.path, ["export", "forum.sqlite"] + arguments)
            #expect(result.exit == 0 && result.errors.contains(said), "\(result)")
        }
        let others = try moult("export", "forum.sqlite", "--entity", "User")
        #expect(others.exit == 0 && !others.errors.contains("external data"), "\(others)")
    }

    @Test func `inspect shows the columns of an entity, and an error of a query names the nearest one`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let shown = try moult("inspect", "forum.sqlite", "--entity", "Post")
        #expect(
            shown.exit == 0 && shown.output.contains("writtenAt") && shown.output.contains("to-one User"), "\(shown)")
        let document = try moult("inspect", "forum.sqlite", "--entity", "User", "--json").document
        let names = (document["columns"] as? [[String: any Sendable]])?.compactMap { $0["name"] as? String }
        let header = try moult("query", "forum.sqlite", "SELECT * FROM User LIMIT 1", "--format", "csv").output
        #expect(names?.joined(separator: ",") == header.split(separator: "\n").first.map(String.init))
        #expect((document["toMany"] as? [[String: any Sendable]])?.first?["name"] as? String == "posts")
        let wrong = try moult("inspect", "forum.sqlite", "--entity", "Usr")
        #expect(wrong.exit == 2 && wrong.errors.contains("Did you mean User?"), "\(wrong)")
        let column = try moult("query", "forum.sqlite", "SELECT u.nmae FROM User AS u")
        #expect(column.exit == 2 && column.errors.contains("Did you mean name?"), "\(column)")
        #expect(column.errors.contains("--entity User` shows"), "\(column)")
        let table = try moult("query", "forum.sqlite", "SELECT * FROM Pots")
        #expect(table.errors.contains("Did you mean Post?"), "\(table)")
        #expect(table.errors.contains("moult views forum.sqlite"), "\(table)")
    }

    @Test func `a plan that changes nothing is drawn with the rows of the store`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        let drawn = try moult("diagram", "forum.sqlite", "--plan", "--model", "Forum.xcdatamodeld")
        #expect(drawn.exit == 0 && !drawn.output.contains("<br>0 rows"), "\(drawn)")
    }

    @Test func `damage is named by the entity, and doctor and the screen name the same command`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let path = moult.folder.path + "/forum.sqlite"
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Forum.xcdatamodeld")
        let root = try SQLiteShell.run(path, "SELECT rootpage FROM sqlite_master WHERE name = 'ZPOST'")
        let page = try #require(UInt64(root.dropLast()))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: (page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let exported = try moult("export", "forum.sqlite", "--entity", "Post")
        #expect(exported.exit == 4 && exported.errors.contains("not every row of Post can be read"), "\(exported)")
        #expect(!exported.errors.contains("SELECT"), "\(exported)")
        let (screen, doctor) = try (moult("forum.sqlite"), moult("doctor", "forum.sqlite"))
        for text in [screen.output, doctor.output] {
            #expect(text.contains("moult salvage forum.sqlite SAVED.sqlite"), "\(text)")
            #expect(!text.contains("--model MODEL"), "\(text)")
        }
        #expect([0, 1].contains(try moult("salvage", "forum.sqlite", "SAVED.sqlite").exit))
    }

    @Test func `a wrong option, a key in a predicate and a folder that takes no files have their own words`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("--verson").errors.contains("Did you mean `moult --version`?"))
        let key = try moult("export", "forum.sqlite", "--entity", "User", "--where", "Z_PK == 1")
        #expect(key.exit != 0 && key.errors.contains("chooses rows by key"), "\(key)")
        let folder = try moult("export", "forum.sqlite", "-o", "/proc/x")
        #expect(folder.errors.contains("Nothing can be made at /proc/x"), "\(folder)")
    }

    @Test func `a query can come from standard input`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let sql = "SELECT count(*) AS posts\nFROM Post\n"
        try Data(sql.utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/q.sql"))
        let given = try moult("query", "forum.sqlite", sql)
        #expect(given.output == "posts\n200\n")
        for command in ["query forum.sqlite - < q.sql", "query forum.sqlite < q.sql"] {
            #expect(try moult.shell("moult \(command)").output == given.output, "\(command)")
        }
        #expect(try moult.shell("cat q.sql | moult query forum.sqlite").output == given.output)
        let none = try moult.shell("moult query forum.sqlite < /dev/null")
        #expect(none.exit == 2 && none.errors.contains("needs SQL"), "\(none)")
    }
}
