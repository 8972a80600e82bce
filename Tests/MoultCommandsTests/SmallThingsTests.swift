import Foundation
import MoultBasics
import TestSupport
import Testing

/// Small things over which new users stumbled, each as a kind.
@Suite("Small things")
struct SmallThingsTests {  // tier: long
    private static let model = ["--model", "Forum.xcdatamodeld"]

    // MARK: - Explanations

    @Test func `a code is explained with its meaning, its reason and what to do, and the list has every group`() throws
    {
        let moult = try Tool.besideForumModel()
        let rule = try moult("explain", "open001")
        #expect(rule.exit == 0 && rule.output.hasPrefix("OPEN001: "), "\(rule)")
        for part in ["Why it matters", "What to do", "<entity name=", "Severity: error"] {
            #expect(rule.output.contains(part), "\(part)")
        }
        let error = try moult("explain", "lossNotAccepted").output
        #expect(error.contains("Exit status 3") && error.contains("134110") && error.contains("moult plan STORE"))
        let list = try moult("explain").output
        for code in ["OPEN001", "lossNotAccepted", "dangling-reference", "stale-wal", "mapping-type"] {
            #expect(list.contains("\n  \(code) "), "\(code)")
        }
        #expect(try moult("explain", "134130").output.contains("storeUnknown"))
        let document = try moult("explain", "dangling-reference", "--json").document
        let found = try #require((document["explanations"] as? [[String: any Sendable]])?.first)
        #expect(found["code"] as? String == "dangling-reference" && found["exit"] is NSNull)
        // An error in text shows the code that explain takes.
        let missing = try moult("status", "nothing.sqlite").errors
        let shown = try #require(missing.firstMatch(of: /code: (\w+), Core Data: (\w+) \((\d+)\)/))
        for word in [shown.1, shown.2, shown.3] {
            #expect(try moult("explain", String(word)).output.contains("There is nothing at the path."), "\(word)")
        }
        let wrong = try moult("explain", "OPEN01")
        #expect(wrong.exit == 2 && wrong.errors.contains("Did you mean OPEN001?"), "\(wrong)")
    }

    // MARK: - Models

    @Test(arguments: [
        ["diff", "Forum.xcdatamodeld", "Forum", "Forum 3"],
        ["diff", "Forum", "Forum 3", "--model", "Forum.xcdatamodeld"],
        ["diff", "--model", "Forum.xcdatamodeld", "Forum", "Forum 3"], ["diff", "Forum.xcdatamodeld", "Forum"],
        ["diff", "Forum", "--model", "Forum.xcdatamodeld"],
        ["diff", "Forum.xcdatamodeld", "--from", "Forum", "--to", "Forum 3"],
        ["diff", "Forum.xcdatamodeld/Forum.xcdatamodel", "Forum.xcdatamodeld"],
    ])
    func `two versions can be named in the forms that a person tries`(arguments: [String]) throws {
        let moult = try Tool.besideForumModel()
        let shown = try moult.run(Tool.path, arguments)
        #expect(shown.exit == 0 && shown.output.hasPrefix("Forum → Forum 3\n"), "\(shown)")
    }

    @Test func `without names the last two versions are compared, and a first version is not`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("diff", "Forum.xcdatamodeld").output.hasPrefix("Forum 2 → Forum 3\n"))
        let alone = try moult("diff", "Forum.xcdatamodeld/Forum.xcdatamodel")
        #expect(alone.exit == 2 && alone.errors.contains("first version"), "\(alone)")
        let three = try moult("diff", "Forum", "Forum 2", "Forum 3", "--model", "Forum.xcdatamodeld")
        #expect(three.exit == 2, "\(three)")
    }

    @Test func `a model is an operand or an option, whichever the verb has`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for verb in ["hash", "lint", "answer", "changelog"] {
            let (operand, option) = (
                try moult(verb, "Forum.xcdatamodeld"), try moult.run(Tool.path, [verb] + Self.model)
            )
            #expect(operand.output == option.output && operand.exit == option.exit, "\(verb): \(option)")
        }
        let option = try moult.run(Tool.path, ["status", "forum.sqlite"] + Self.model)
        #expect(try moult("status", "forum.sqlite", "Forum.xcdatamodeld").output == option.output)
        #expect(try moult("status", "forum.sqlite", "other.txt").exit == 2)
    }

    // MARK: - Arguments

    @Test(arguments: [
        (["create", "new.sqlite", "--seed", "3"] + model, "--seed requires --fill or --rows"),
        (["dump", "forum.sqlite", "--with-subentities"], "--with-subentities requires --entity"),
        (["query", "forum.sqlite", "SELECT 1", "--exact"], "--exact requires --format csv"),
        (["export", "forum.sqlite", "--format", "jsonl", "--exact"], "--exact requires --format csv"),
        (["plan", "forum.sqlite", "--values"] + model, "--values requires --sql"),
        (["validate", "forum.sqlite", "--frugal"], "--frugal requires --fix"),
        (["migrate", "forum.sqlite", "--fix"] + model, "--fix requires rules"),
        (["test", "--kill", "1", "--seconds", "3", "forum.sqlite"] + model, "--seconds requires --crash"),
        (["diagram", "Forum.xcdatamodeld", "--to", "Forum"], "--to requires --plan"),
        (["diagram", "forum.sqlite", "--history", "--entity", "Post"], "--entity requires a picture of a model"),
        (["generate", "Forum.xcdatamodeld", "--name", "X", "--dry-run"], "--name requires --for swift-data"),
    ])
    func `an option without an effect is refused`(arguments: [String], says: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try moult.listing()
        let refused = try moult.run(Tool.path, arguments)
        #expect(refused.exit == 2 && refused.errors.contains(says), "\(refused)")
        #expect(try moult.listing() == before)
    }

    @Test func `the order of versions needs a model with several`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        // No model lies beside the store there.
        try FileManager.default.createDirectory(atPath: moult.folder.path + "/alone", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: moult.folder.path + "/forum.sqlite", toPath: moult.folder.path + "/alone/forum.sqlite")
        try FileManager.default.moveItem(
            atPath: moult.folder.path + "/Forum.xcdatamodeld", toPath: moult.folder.path + "/alone/Model")
        for verb in ["export", "dump", "views"] {
            let refused = try moult.run(Tool.path, [verb, "alone/forum.sqlite", "--order", "writtenAt"])
            #expect(refused.exit == 2 && refused.errors.contains("--order requires --model"), "\(refused)")
        }
    }

    @Test func `a misspelt entity is named as such, and a number as a number`() throws {
        let moult = try Tool.besideForumModel()
        func create(_ rows: String) throws -> String {
            try moult.run(Tool.path, ["create", "new.sqlite", "--rows", rows] + Self.model).errors
        }
        #expect(try create("Frum=5").contains("no entity Frum.\n  → Did you mean Forum?"))
        #expect(try create("Zebra=5").contains("Its entities are: "))
        #expect(try create("Forum=many").contains("a number of at least 0 for Forum, not many"))
        #expect(try create("Forum").contains("pairs of an entity and a number"))
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/new.sqlite"))
    }

    @Test(arguments: [
        (["diff"], "needs MODEL.\n  → For example: `moult diff "),
        (["hash"], "needs MODEL.\n  → For example: `moult hash Forum.xcdatamodeld`. See `moult hash --help`."),
        (["import"], "needs STORE and PATH."), (["views"], "needs STORE."),
        (["anonymise", "x.sqlite"], "needs --out PATH."),
    ])
    func `what is missing is named with an example, and no help is pasted`(arguments: [String], says: String) throws {
        let moult = Tool(folder: try ScratchFolder())
        let refused = try moult.run(Tool.path, arguments)
        #expect(refused.exit == 2 && refused.errors.contains(says), "\(refused)")
        #expect(!refused.errors.contains("a folder of versions"))
    }

    @Test func `a model further down, a file and a version of nearly the name, and a real store are named`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let folder = moult.folder.path
        #expect(try moult("status", "forum.sqlit").errors.contains("Did you mean forum.sqlite?"))
        let version = try moult.run(Tool.path, ["migrate", "forum.sqlite", "--to", "3"] + Self.model)
        #expect(version.exit == 3 && version.errors.contains("Did you mean Forum 3?"), "\(version)")
        try Data().write(to: URL(fileURLWithPath: folder + "/empty.sqlite"))
        #expect(try moult(".").errors.contains("such as ./forum.sqlite."))
        try FileManager.default.createDirectory(atPath: folder + "/App/Data", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: folder + "/Forum.xcdatamodeld", toPath: folder + "/App/Data/Forum.xcdatamodeld")
        for arguments in [["lint"], ["lint", "App"]] {
            let refused = try moult.run(Tool.path, arguments)
            #expect(refused.errors.contains("moult init App/Data/Forum.xcdatamodeld"), "\(refused)")
        }
    }

    @Test func `rollback takes the backup's name as backup restore does`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult.run(Tool.path, ["migrate", "forum.sqlite"] + Self.model).exit == 0)
        let backups = try moult("backup", "list", "forum.sqlite", "--json").document["backups"]
        let name = try #require((backups as? [[String: any Sendable]])?.first?["name"] as? String)
        let both = try moult("rollback", "forum.sqlite", name, "--to", "other")
        #expect(both.exit == 2 && both.errors.contains("exclude each other"), "\(both)")
        let back = try moult.run(Tool.path, ["rollback", "forum.sqlite", name] + Self.model)
        #expect(back.exit == 0 && back.output.contains("Forum"), "\(back)")
        let status = try moult.run(Tool.path, ["status", "forum.sqlite", "--json"] + Self.model).document
        #expect(status["version"] as? String == "Forum")
    }

    // MARK: - Files

    @Test func `a store that is none looks the same with a model and without`() throws {
        let moult = try Tool.besideForumModel()
        _ = try SQLiteShell.run(moult.folder.path + "/plain.db", "CREATE TABLE a (b)")
        let (alone, named) = (
            try moult("status", "plain.db", "--config", "none"),
            try moult.run(Tool.path, ["status", "plain.db"] + Self.model)
        )
        for status in [alone, named] {
            #expect(status.exit == 4 && status.output.isEmpty, "\(status)")
            #expect(status.errors.contains("error: plain.db is a SQLite database"), "\(status)")
            #expect(status.errors.contains("→ ") && !status.errors.contains(moult.folder.path), "\(status)")
        }
        #expect(alone.errors.contains(named.errors))
        let documents = try [[], Self.model].map {
            try moult.run(Tool.path, ["status", "plain.db", "--json"] + $0).document
        }
        for document in documents { #expect(document["state"] as? String == "notCoreData") }
    }

    @Test(arguments: [
        ("gzip", "gzip", "store.gz"), ("xz", "xz", "store.xz"), ("bzip2", "bzip2", "store.bz2"),
        ("tar", "tar", "store.tar"),
        ("zip", "zip", "store.zip"),
    ])
    func `an archive is named, and unpacked as the message says it is the store`(
        form: String, noun: String, name: String
    )
        throws
    {
        let moult = try StoreVerbTests.besideForumStore()
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/forum.sqlite", toPath: moult.folder.path + "/store")
        let packed = try moult.run(
            "python3",
            [
                "-c",
                """
                import sys, gzip, lzma, bz2, tarfile, zipfile
                form, path = sys.argv[1:]
                if form == 'tar':
                    with tarfile.open(path, 'w') as t: t.add('store')
                elif form == 'zip':
                    with zipfile.ZipFile(path, 'w') as z: z.write('store')
                else:
                    module = {'gzip': gzip, 'xz': lzma, 'bzip2': bz2}[form]
                    with module.open(path, 'w') as f: f.write(open('store', 'rb').read())
                """, form, name,
            ])
        #expect(packed.exit == 0, "\(packed)")
        try FileManager.default.removeItem(atPath: moult.folder.path + "/store")
        for verb in [["status"], ["inspect"], ["hash"]] {
            let refused = try moult.run(Tool.path, verb + [name])
            #expect(refused.exit == 4 && refused.errors.contains("\(noun) archive"), "\(refused)")
        }
        let advice = try moult("status", name).errors
        let command = try #require(advice.firstMatch(of: /Unpack it first: ([^,]+), and/)?.1)
        guard try moult.run("sh", ["-c", "command -v \(command.split(separator: " ")[0])"]).exit == 0 else { return }
        #expect(try moult.run("sh", ["-c", String(command)]).exit == 0)
        #expect(try moult.run(Tool.path, ["status", "store"] + Self.model).exit == 0)
    }

    @Test func `a store of another app reads as such, and an edited version of this one does not`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let diary = moult.folder.path + "/Diary.xcdatamodel"
        try FileManager.default.createDirectory(atPath: diary, withIntermediateDirectories: true)
        let xml = """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Entry"><attribute name="text" optional="YES" attributeType="String"/></entity>
            <entity name="Mood"><attribute name="name" optional="YES" attributeType="String"/></entity></model>
            """
        try xml.write(toFile: diary + "/contents", atomically: true, encoding: .utf8)
        for verb in ["status", "migrate", "plan"] {
            let foreign = try moult("\(verb)", "forum.sqlite", "--model", "Diary.xcdatamodel")
            #expect(foreign.exit == 3, "\(foreign)")
            #expect((foreign.output + foreign.errors).contains("It is of another app"), "\(foreign)")
        }
        try xml.replacing("Entry", with: "Post").replacing("Mood", with: "User")
            .write(toFile: diary + "/contents", atomically: true, encoding: .utf8)
        let edited = try moult("status", "forum.sqlite", "--model", "Diary.xcdatamodel").output
        #expect(edited.contains("Nearest is"), "\(edited)")
    }

    @Test func `doctor names a fault once`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "UPDATE ZUSER SET ZNAME = NULL WHERE Z_PK < 3; UPDATE ZPOST SET ZTEXT = NULL WHERE Z_PK < 4")
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite"] + Self.model).output
        #expect(doctor.components(separatedBy: "[required-missing]").count == 3, "\(doctor)")
        #expect(!doctor.contains("required already") && !doctor.contains(moult.folder.path), "\(doctor)")
    }

    // MARK: - Dates and versions

    @Test func `a date has the same text in a query, an export and a dump`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        // Milliseconds as an app writes them, which a Double does not hold exactly, and more digits.
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "UPDATE ZUSER SET ZJOINEDAT = 391272724.611; UPDATE ZUSER SET ZJOINEDAT = 391272724.1234567 WHERE Z_PK = 1")
        let query = try moult(
            "query", "forum.sqlite", "SELECT joinedAt FROM User ORDER BY Z_PK", "--format", "csv"
        ).output
        let dates = query.split(separator: "\n").dropFirst().map(String.init)
        #expect(dates.last == "2013-05-26T14:52:04.611Z" && dates.first?.contains("04.1234567") == true, "\(query)")
        let csv = try moult("export", "forum.sqlite", "--entity", "User", "--columns", "joinedAt").output
        let dump = try moult("dump", "forum.sqlite", "--entity", "User").output
        for date in dates { #expect(csv.contains(date) && dump.contains(date), "\(date)\n\(csv)") }
    }

    @Test func `an import takes a day, and says which forms fit what does not`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        func take(_ date: String) throws -> Tool.Result {
            try "name,joinedAt\nann,\(date)\n".write(
                toFile: moult.folder.path + "/User.csv", atomically: true, encoding: .utf8)
            return try moult("import", "forum.sqlite", "User.csv")
        }
        for date in [
            "31.1.2020", "2020-01-3", "2020-01-31T", "2020-01-31Z", "2020-01-31 09", "2020-01-31T09:05:00.",
            "2020-01-31 9:05",
            "2020-01-31T09:05:00Zz", "2020-01-31x09:05",
        ] {
            let wrong = try take(date)
            #expect(wrong.exit == 2 && wrong.errors.contains("2020-01-31T09:05:00Z"), "\(date) \(wrong)")
        }
        for date in [
            "2020-01-31", "2020-01-31 09:05", "2020-01-31T09:05:00Z", "2020-01-31 09:05:07.25", "2020-01-31T09:05Z",
        ] {
            #expect(try take(date).exit == 0, "\(date)")
        }
        let shown = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "SELECT datetime(ZJOINEDAT + 978307200, 'unixepoch') FROM ZUSER WHERE ZNAME = 'ann' ORDER BY Z_PK")
        let days = ["00:00:00", "09:05:00", "09:05:00", "09:05:07", "09:05:00"].map { "2020-01-31 \($0)\n" }
        #expect(shown == days.joined())
    }
}
