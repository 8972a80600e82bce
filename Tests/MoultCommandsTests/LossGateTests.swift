import Foundation
import TestSupport
import Testing

/// A migration loses nothing that nobody has declared.
@Suite("Losses that nobody has declared")
struct LossGateTests {
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let note =
        "<entity name=\"Note\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/></entity>"

    /// A store of version `App`, next to the model.
    private func store(_ versions: String...) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        for (number, entities) in versions.enumerated() {
            let name = number == 0 ? "App" : "App \(number + 1)"
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "<model>\(entities)</model>".write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        try "{\"model\": \"App.xcdatamodeld\"}".write(
            toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let made = try moult("create", "a.sqlite", "--version", "App", "--fill", "3")
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    private func post(_ attributes: String) -> String { "<entity name=\"Post\">\(attributes)</entity>" }

    @Test func `migrate and plan stop, and name entity, property and rows; the store is as it was`() throws {
        let moult = try store(post(Self.title) + Self.note, post(""))
        let path = moult.folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(path, "UPDATE ZPOST SET ZTITLE = 'a'")
        let before = try SQLiteShell.run(path, ".dump")
        let migrated = try moult("migrate", "a.sqlite")
        #expect(migrated.exit == 3, "\(migrated)")
        #expect(migrated.errors.contains("3 objects of Note are deleted"), "\(migrated)")
        #expect(migrated.errors.contains("3 values of Post.title are deleted"), "\(migrated)")
        #expect(migrated.errors.contains("\"acceptedLosses\": [\"Note\", \"Post.title\"]"), "\(migrated)")
        #expect(try SQLiteShell.run(path, ".dump") == before)
        #expect(try moult("plan", "a.sqlite").exit == 3)
        #expect(try moult("plan", "a.sqlite", "--check").exit == 1)
        let document = try moult("plan", "a.sqlite", "--check", "--json")
        #expect(document.exit == 1)
        #expect((try document.document["error"] as? [String: any Sendable])?["code"] as? String == "lossNotAccepted")
        #expect(try moult("migrate", "a.sqlite", "--budget", "1min").exit == 3)
        // A rehearsal loses nothing.
        #expect(try moult("migrate", "a.sqlite", "--dry-run").exit == 0)
    }

    @Test(arguments: [true, false])
    func `what is declared in moult.json or accepted is lost without a word`(isDeclared: Bool) throws {
        let moult = try store(post(Self.title) + Self.note, post(""))
        _ = try SQLiteShell.run(moult.folder.path + "/a.sqlite", "UPDATE ZPOST SET ZTITLE = 'a'")
        if isDeclared {
            // A part is not enough.
            let file = moult.folder.path + "/moult.json"
            try "{\"model\": \"App.xcdatamodeld\", \"acceptedLosses\": [\"Note\"]}".write(
                toFile: file, atomically: true, encoding: .utf8)
            let part = try moult("migrate", "a.sqlite")
            #expect(part.exit == 3 && !part.errors.contains("of Note"), "\(part)")
            // The list to paste has what is declared already.
            #expect(part.errors.contains("\"acceptedLosses\": [\"Note\", \"Post.title\"]"), "\(part)")
            let next = try moult("a.sqlite", "--json").document["next"] as? [String]
            #expect(next?.last == "moult migrate a.sqlite --model App.xcdatamodeld --accept-losses", "\(next ?? [])")
            try "{\"model\": \"App.xcdatamodeld\", \"acceptedLosses\": [\"Note\", \"Post.title\"]}".write(
                toFile: file, atomically: true, encoding: .utf8)
        }
        #expect(
            try moult.run(Tool.path, ["plan", "a.sqlite", "--check"] + (isDeclared ? [] : ["--accept-losses"])).exit
                == 0)
        let done = try moult.run(Tool.path, ["migrate", "a.sqlite"] + (isDeclared ? [] : ["--accept-losses"]))
        #expect(done.exit == 0 && done.output.contains("`moult rollback a.sqlite"), "\(done)")
        #expect(try SQLiteShell.run(moult.folder.path + "/a.sqlite", "SELECT count(*) FROM ZPOST") == "3\n")
    }

    @Test(arguments: [true, false])
    func `a former name declares a loss, also with a stop at each version`(stops: Bool) throws {
        let heading =
            "<attribute name=\"heading\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/>"
        let moult = try store(post(Self.title), post(heading), post(""))
        _ = try SQLiteShell.run(moult.folder.path + "/a.sqlite", "UPDATE ZPOST SET ZTITLE = 'a'")
        try "{\"model\": \"App.xcdatamodeld\", \"acceptedLosses\": [\"Post.title\"]}".write(
            toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let arguments = ["a.sqlite"] + (stops ? ["--stop-at-each-version"] : [])
        let plan = try moult.run(Tool.path, ["plan"] + arguments)
        #expect(plan.exit == 0, "\(plan)")
        let done = try moult.run(Tool.path, ["migrate"] + arguments)
        #expect(done.exit == 0, "\(done)")
    }

    @Test func `--to an older name of equal hashes takes that version's own renaming identifiers`() throws {
        let heading = "<attribute name=\"heading\" optional=\"YES\" attributeType=\"String\"REST/>"
        let moult = try store(
            post(Self.title), post(heading.replacing("REST", with: " elementID=\"title\"")),
            post(heading.replacing("REST", with: "")))
        let path = moult.folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(path, "UPDATE ZPOST SET ZTITLE = 'a'")
        let newest = try moult("plan", "a.sqlite", "--to", "App 3")
        #expect(newest.exit == 3, "\(newest)")
        let done = try moult("migrate", "a.sqlite", "--to", "App 2")
        #expect(done.exit == 0, "\(done)")
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZPOST WHERE ZHEADING = 'a'") == "3\n")
    }

    @Test func `nothing is lost where the store has nothing, and an answer to drop values declares the loss`() throws {
        let empty = try store(post(Self.title) + Self.note, post(""))
        _ = try SQLiteShell.run(empty.folder.path + "/a.sqlite", "UPDATE ZPOST SET ZTITLE = NULL; DELETE FROM ZNOTE")
        #expect(try empty("plan", "a.sqlite", "--check").exit == 0)
        #expect(try empty("migrate", "a.sqlite").exit == 0)
        let date = "<attribute name=\"title\" optional=\"YES\" attributeType=\"Date\"/>"
        let answered = try store(post(Self.title), post(date))
        _ = try SQLiteShell.run(answered.folder.path + "/a.sqlite", "UPDATE ZPOST SET ZTITLE = 'a'")
        #expect(try answered("migrate", "a.sqlite").exit == 3)
        #expect(try answered("answer", "--set", "Post.title=drop").exit == 0)
        let done = try answered("migrate", "a.sqlite")
        #expect(done.exit == 0, "\(done)")
    }

    @Test(arguments: [
        ("Integer 16", "7", "7"), ("String", "none yet", "none yet"), ("Boolean", "yes", "1"),
        ("Double", "0.5", "0.5"), ("Decimal", "01.50", "1.5"), ("Date", "60", "60"),
    ])
    func `a new required attribute without a default value gets the answer's value in existing objects`(
        type: String, text: String, stored: String
    ) throws {
        let rating = "<attribute name=\"rating\" attributeType=\"\(type)\"/>"
        let moult = try store(post(Self.title), post(Self.title + rating))
        let refused = try moult("migrate", "a.sqlite")
        #expect(refused.exit == 3 && refused.errors.contains("[INFER005] Post.rating is required"), "\(refused)")
        #expect(refused.errors.contains("moult answer App.xcdatamodeld --for a.sqlite --set "), "\(refused)")
        let set = try moult("answer", "--set", "Post.rating=value:\(text)")
        #expect(set.exit == 0, "\(set)")
        let done = try moult("migrate", "a.sqlite")
        #expect(done.exit == 0, "\(done)")
        #expect(
            try SQLiteShell.run(moult.folder.path + "/a.sqlite", "SELECT DISTINCT ZRATING FROM ZPOST") == stored + "\n")
        #expect(try moult("validate", "a.sqlite").exit == 0)
    }

    @Test func `a value that does not fit, or that nothing needs, is refused`() throws {
        let rating = "<attribute name=\"rating\" attributeType=\"Integer 16\"/>"
        let moult = try store(post(Self.title), post(Self.title + rating))
        for (answer, says) in [
            ("Post.rating=value:many", "type Integer 16"), ("Post.rating=value:40000", "type Integer 16"),
            ("Post.title=value:a", "needs no value"), ("Post.nothing=value:1", "needs no value"),
        ] {
            let result = try moult("answer", "--set", answer)
            #expect(result.exit == 2 && result.errors.contains(says), "\(result)")
        }
        #expect(try moult("answer", "--set", "Post.rating=value:1").exit == 0)
        // The attribute becomes optional afterwards: the answer is about nothing, and can be taken back.
        let contents = moult.folder.path + "/App.xcdatamodeld/App 2.xcdatamodel/contents"
        try "<model>\(post(Self.title + rating.replacing("/>", with: " optional=\"YES\"/>")))</model>"
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let stale = try moult("plan", "a.sqlite")
        #expect(stale.exit == 2 && stale.errors.contains("it needs no value"), "\(stale)")
        #expect(try moult("answer", "--forget", "Post.rating").exit == 0)
        #expect(try moult("plan", "a.sqlite").exit == 0)
    }

    @Test func `an optional attribute that becomes required gets the value where it has none`() throws {
        let moult = try store(post(Self.title), post(Self.title.replacing("optional=\"YES\" ", with: "")))
        let path = moult.folder.path + "/a.sqlite"
        _ = try SQLiteShell.run(path, "UPDATE ZPOST SET ZTITLE = CASE Z_PK WHEN 1 THEN 'kept' END")
        #expect(try moult("answer", "--set", "Post.title=value:untitled").exit == 0)
        // No row can miss the value any more.
        let linted = try moult("lint", "App.xcdatamodeld")
        #expect(!linted.output.contains("DATA006"), "\(linted)")
        let planned = try moult("plan", "a.sqlite", "--json")
        #expect(planned.exit == 0 && !planned.output.contains("\"mayFail\":true"), "\(planned)")
        #expect(try moult("migrate", "a.sqlite").exit == 0)
        #expect(
            try SQLiteShell.run(path, "SELECT ZTITLE FROM ZPOST ORDER BY Z_PK") == "kept\nuntitled\nuntitled\n")
    }
}
