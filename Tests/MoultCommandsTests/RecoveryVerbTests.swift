import Foundation
import TestSupport
import Testing

@Suite("moult repair, salvage, downgrade, doctor, and backups that are carried")
struct RecoveryVerbTests {  // tier: long
    private func store(_ moult: Tool) -> String { moult.folder.path + "/forum.sqlite" }

    private func breakLinks(_ moult: Tool) throws {
        let triggers = try SQLiteShell.run(
            store(moult), "SELECT 'DROP TRIGGER \"' || name || '\";' FROM sqlite_master WHERE type = 'trigger'")
        _ = try SQLiteShell.run(store(moult), triggers + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Post'")
    }

    @Test func `repair says what it would do, does it, and has nothing left to do`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("repair", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        try breakLinks(moult)
        let model = ["--model", "Forum.xcdatamodeld"]
        #expect(try moult.run(Tool.path, ["validate", "forum.sqlite"] + model).exit == 1)
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite"] + model)
        #expect(doctor.exit == 1)
        #expect(doctor.output.contains("moult repair forum.sqlite"))
        let dry = try moult.run(Tool.path, ["repair", "forum.sqlite", "--dry-run", "--json"] + model)
        #expect(dry.exit == 0, "\(dry.errors)")
        #expect(try dry.document["count"] as? Int == 1)
        #expect(try dry.document["run"] is NSNull)
        #expect(try SQLiteShell.run(store(moult), "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Post'") == "1\n")
        let done = try moult.run(Tool.path, ["repair", "forum.sqlite", "--only", "key-counters", "--json"] + model)
        #expect(done.exit == 0)
        #expect(try done.document["backup"] is String)
        #expect(try SQLiteShell.run(store(moult), "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Post'") == "200\n")
        #expect(try moult.run(Tool.path, ["repair", "forum.sqlite"] + model).output == "Nothing to repair.\n")
        #expect(try moult.run(Tool.path, ["repair", "forum.sqlite", "--only", "everything"] + model).exit == 2)
        #expect(try moult.run(Tool.path, ["repair", "forum.sqlite", "--only", ""] + model).exit == 2)
    }

    @Test func `a repair that would clear most references says so, and does it with --accept-losses`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        _ = try SQLiteShell.run(store(moult), "UPDATE ZPOST SET ZAUTHOR = 999")
        let before = try SQLiteShell.run(store(moult), ".sha3sum")
        for dry in [["--dry-run"], []] {
            let refused = try moult.run(Tool.path, ["repair", "forum.sqlite"] + model + dry)
            #expect(refused.exit == 3 && refused.errors.contains("200 of 200 references of Post.author"), "\(refused)")
            #expect(refused.errors.contains("--accept-losses"), "\(refused.errors)")
        }
        #expect(try SQLiteShell.run(store(moult), ".sha3sum") == before)
        #expect(try moult.run(Tool.path, ["repair", "forum.sqlite", "--accept-losses"] + model).exit == 0)
        #expect(try SQLiteShell.run(store(moult), "SELECT count(ZAUTHOR) FROM ZPOST") == "0\n")
    }

    @Test func `a rehearsed repair names the room that the repair needs`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try breakLinks(moult)
        let repair = ["repair", "forum.sqlite", "--model", "Forum.xcdatamodeld"]
        let dry = try moult.run(Tool.path, repair + ["--dry-run"])
        #expect(dry.exit == 0 && dry.output.contains("The repair needs "), "\(dry)")
        #expect(dry.output.contains(" are free)"), "\(dry)")
        let foreseen = try moult.run(Tool.path, repair + ["--dry-run", "--json"]).document["space"]
        let needed = try moult.run(Tool.path, repair + ["--json"]).document["space"]
        func bytes(_ space: (any Sendable)?) -> [Int] {
            (space as? [[String: any Sendable]] ?? []).compactMap { $0["bytes"] as? Int }
        }
        #expect(!bytes(foreseen).isEmpty && bytes(foreseen) == bytes(needed))
    }

    @Test func `rollback without a name leaves out what was made by hand, and names it if it is newer`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        func made() throws -> String {
            let made = try moult.run(Tool.path, ["backup", "create", "forum.sqlite", "--json"] + model).document
            return try #require((made["backup"] as? [String: any Sendable])?["name"] as? String)
        }
        let before = try SQLiteShell.run(store(moult), ".dump")
        let first = try made()
        let refused = try moult("rollback", "forum.sqlite")
        #expect(refused.exit == 3 && refused.errors.contains("\(first), was made by hand"), "\(refused)")
        #expect(refused.errors.contains("moult rollback forum.sqlite --to \(first)"), "\(refused.errors)")
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        let newest = try made()
        let back = try moult("rollback", "forum.sqlite")
        #expect(back.exit == 0 && back.output.contains("The backup \(newest) is newer"), "\(back)")
        #expect(back.output.contains("moult rollback forum.sqlite --to \(newest)") && !back.output.contains(first))
        #expect(try SQLiteShell.run(store(moult), ".dump") == before)
        // Without the history of runs, what a backup was made for decides.
        try FileManager.default.removeItem(atPath: store(moult) + ".moult/runs.jsonl")
        let again = try moult("rollback", "forum.sqlite", "--json").document
        #expect(try SQLiteShell.run(store(moult), ".dump") == before)
        #expect((again["restored"] as? [String: any Sendable])?["reason"] as? String == "migration")
        #expect(again["newer"] as? String == newest)
    }

    @Test func `a backup goes out as an archive and comes back in another folder`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("backup", "create", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        let list =
            try moult("backup", "list", "forum.sqlite", "--json").document["backups"] as? [[String: any Sendable]]
        let backup = try #require(list?.first)
        #expect(backup["reason"] as? String == "request" && (backup["tool"] as? String)?.isEmpty == false)
        let name = try #require(backup["name"] as? String)
        #expect(try moult("backup", "export", "forum.sqlite", name, "out.tar").exit == 0)
        #expect(try moult("backup", "export", "forum.sqlite", name, "out.tar").exit == 2)
        #expect(try moult("backup", "import", "forum.sqlite", "out.tar", "--backups", "elsewhere").exit == 0)
        _ = try SQLiteShell.run(store(moult), "DELETE FROM Z_METADATA")
        #expect(try moult("backup", "restore", "forum.sqlite", "elsewhere/\(name)").exit == 0)
        #expect(try SQLiteShell.run(store(moult), "SELECT count(*) FROM ZPOST") == "200\n")
    }

    @Test(arguments: [
        ("ZPOST_ZTHREAD_INDEX", "ZFORUM", "ZPOST_ZTHREAD_INDEX"),
        ("ZTHREAD", "Z_MODELCACHE", "ZTHREAD has lost rows"),
    ])
    func `a store with a page of another b-tree is refused by plan and dry run as by migrate`(
        page: String, other: String, named: String
    ) throws {
        let moult = try StoreVerbTests.besideForumStore()
        if other == "Z_MODELCACHE" { _ = try SQLiteShell.run(store(moult), "DELETE FROM Z_MODELCACHE; VACUUM") }
        try SQLiteShell.overwritePage(of: page, with: other, in: store(moult))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store(moult)))
        for verb in [["plan"], ["migrate", "--dry-run"], ["migrate"]] {
            let result = try moult.run(
                Tool.path, [verb[0], "forum.sqlite", "--model", "Forum.xcdatamodeld"] + verb.dropFirst())
            #expect(result.exit == 4, "\(verb): \(result.output) \(result.errors)")
            #expect(result.errors.contains(named), "\(verb): \(result.errors)")
            #expect(!result.errors.contains(".part") && !result.errors.contains("rehearsal"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store(moult))) == bytes)
    }

    @Test(arguments: ["5", "NULL", "1.5"])
    func `a row with the number of no entity of its table is refused by plan and migrate, until a repair`(
        number: String
    ) throws {
        let moult = try StoreVerbTests.besideForumStore()
        _ = try SQLiteShell.run(store(moult), "UPDATE ZTHREAD SET Z_ENT = \(number) WHERE Z_PK = 2")
        let model = ["--model", "Forum.xcdatamodeld"]
        for verb in [["plan"], ["migrate", "--dry-run"], ["migrate"]] {
            let result = try moult.run(Tool.path, [verb[0], "forum.sqlite"] + model + verb.dropFirst())
            #expect(result.exit == 3 && result.errors.contains("moult repair"), "\(verb): \(result.errors)")
            #expect(result.errors.contains("The first keys: 2."), "\(verb): \(result.errors)")
        }
        #expect(try moult.run(Tool.path, ["repair", "forum.sqlite"] + model).exit == 0)
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
    }

    @Test(arguments: ["nope", "victim"])
    func `a side file that is a link is refused by every verb in the same words`(target: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        _ = try SQLiteShell.run(store(moult), "PRAGMA journal_mode = DELETE")
        let files = FileManager.default
        try Data("keep".utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/victim"))
        try files.createSymbolicLink(atPath: store(moult) + "-journal", withDestinationPath: target)
        for verb in ["plan", "validate", "doctor", "migrate"] {
            let result = try moult.run(Tool.path, [verb, "forum.sqlite", "--model", "Forum.xcdatamodeld"])
            #expect(result.exit != 0, "\(verb)")
            #expect((result.output + result.errors).contains("is not a plain file"), "\(verb): \(result.errors)")
        }
        #expect(try String(contentsOfFile: moult.folder.path + "/victim", encoding: .utf8) == "keep")
    }

    @Test func `a file whose name is not UTF-8 is called that, by every verb`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for verb in ["plan", "validate", "status", "migrate"] {
            let script = "name=$(printf 'bad\\377.sqlite'); cp forum.sqlite \"$name\"; exec \"$@\" \"$name\""
            let result = try moult.run(
                "/bin/sh", ["-c", script, "sh", Tool.path, verb, "--model", "Forum.xcdatamodeld"])
            #expect(result.exit == 4, "\(verb): \(result.output)")
            #expect(result.errors.contains("is not UTF-8"), "\(verb): \(result.errors)")
        }
    }

    /// An older backup would undo more than the last run.
    @Test func `rollback without a name takes the last run's backup, and no older one in its place`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        #expect(try moult.run(Tool.path, ["backup", "create", "forum.sqlite"] + model).exit == 0)
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model).exit == 0)
        let before = try SQLiteShell.run(store(moult), ".sha3sum")
        let list = try moult("backup", "list", "forum.sqlite", "--json").document["backups"]
        let names = (list as? [[String: any Sendable]] ?? []).compactMap { $0["name"] as? String }
        let last = try #require(names.max())
        try #require(names.count == 2)
        let folder = moult.folder.path + "/forum.sqlite.moult/backups/" + last
        try FileManager.default.moveItem(atPath: folder, toPath: moult.folder.path + "/away")
        let refused = try moult("rollback", "forum.sqlite")
        #expect(refused.exit == 3 && refused.errors.contains("Its backup \(last) is gone"), "\(refused)")
        #expect(try SQLiteShell.run(store(moult), ".sha3sum") == before)
        try FileManager.default.moveItem(atPath: moult.folder.path + "/away", toPath: folder)
        // Which run was the last is not known where its record is cut off.
        let runs = URL(fileURLWithPath: moult.folder.path + "/forum.sqlite.moult/runs.jsonl")
        let history = try Data(contentsOf: runs)
        try history.dropLast(40).write(to: runs)
        #expect(try moult("rollback", "forum.sqlite").exit == 3)
        try history.write(to: runs)
        #expect(try moult("rollback", "forum.sqlite").output.contains(last))
    }

    @Test func `a damaged store is salvaged into a new one, and the doctor says so`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store(moult)))
        let middle = bytes.count / 2
        for offset in middle..<(middle + 4096) { bytes[offset] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: store(moult)))
        let doctor = try moult("doctor", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(doctor.exit == 1 && doctor.output.contains("moult salvage forum.sqlite"))
        let result = try moult(
            "salvage", "forum.sqlite", "new.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--json")
        #expect(result.exit == 0 || result.exit == 1, "\(result.errors)")
        #expect(try result.document["rows"] as? Int ?? 0 > 0)
        #expect(try SQLiteShell.run(moult.folder.path + "/new.sqlite", "PRAGMA integrity_check") == "ok\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store(moult))) == bytes)
    }

    @Test func `a store that is ahead is brought back where nothing is lost, else its backup is named`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let model = ["--model", "Forum.xcdatamodeld"]
        let none = try moult.run(Tool.path, ["downgrade", "forum.sqlite", "--to", "Forum", "--json"] + model)
        #expect(none.exit == 0)
        #expect(try none.document["way"] as? String == "none")
        let migrated = try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model)
        #expect(migrated.exit == 0)
        let back = try moult.run(Tool.path, ["downgrade", "forum.sqlite", "--to", "Forum", "--json"] + model)
        #expect(try back.exit == 0 && back.document["way"] as? String == "mapping")
        #expect(
            try moult.run(Tool.path, ["status", "forum.sqlite", "--to", "Forum"] + model).output.contains("current"))
    }

    @Test func `what the way forward lost is printed, with commands that work as they stand`() throws {
        let moult = Tool(folder: try ScratchFolder())
        for (version, entities) in [("1", ["Item", "Note"]), ("2", ["Item"])] {
            let folder = moult.folder.path + "/App/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let list = entities.map {
                "<entity name=\"\($0)\"><attribute name=\"body\" optional=\"YES\" attributeType=\"String\"/></entity>"
            }
            let kind = "type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\""
            try Data("<?xml version=\"1.0\"?><model \(kind)>\(list.joined())</model>".utf8)
                .write(to: URL(fileURLWithPath: folder + "/contents"))
        }
        let made = try moult("create", "a b.sqlite", "--model", "App", "--version", "1", "--rows", "Item=3,Note=45")
        try #require(made.exit == 0, "\(made.errors)")
        try #require(try moult("migrate", "a b.sqlite", "--model", "App", "--accept-losses").exit == 0)
        let dry = try moult("downgrade", "a b.sqlite", "--to", "1", "--model", "App", "--dry-run", "--json").document
        let losses = try #require(dry["earlierLosses"] as? [[String: any Sendable]])
        #expect(losses.count == 1)
        let back = try moult("downgrade", "a b.sqlite", "--to", "1", "--model", "App")
        #expect(back.exit == 0, "\(back.errors)")
        #expect(back.output.contains("45 objects of Note") && !back.output.contains("nothing of it"), "\(back.output)")
        // Each command line is copied as it is printed, into a shell.
        func shell(_ line: String) throws -> Tool.Result {
            let path = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
            return try moult.run("/bin/sh", ["-c", "PATH='\(path)':$PATH; \(line)"])
        }
        let lines = back.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let show = try #require(lines.first { $0.hasPrefix("moult dump") })
        let shown = try shell(show + " --entity Note --json")
        #expect(shown.exit == 0 && shown.output.split(separator: "\n").count == 45, "\(shown.errors)")
        let restore = try #require(lines.first { $0.hasPrefix("moult rollback") })
        #expect(losses.first?["restore"] as? String == restore && losses.first?["show"] as? String == show)
        #expect(try shell(restore).exit == 0)
        #expect(try SQLiteShell.run(moult.folder.path + "/a b.sqlite", "SELECT count(*) FROM ZNOTE") == "45\n")
    }
}
