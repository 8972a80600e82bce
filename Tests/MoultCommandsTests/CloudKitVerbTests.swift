import Foundation
import TestSupport
import Testing

/// `moult cloudkit` as a person, a script and a service call it.
@Suite("The schema of CloudKit on the command line")
struct CloudKitVerbTests {  // tier: long
    private static let own = packageRoot.appendingPathComponent("Tests/CloudKit").path

    /// A tool beside `App.xcdatamodeld`, a model of `Tests/CloudKit`, and the schema of Production if there is one.
    private func beside(_ name: String) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        let version = moult.folder.path + "/App.xcdatamodeld/App.xcdatamodel"
        try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "\(Self.own)/\(name)/contents", toPath: version + "/contents")
        for file in ["schema.ckdb", "production.ckdb"] {
            let path = "\(Self.own)/\(name)/\(file)"
            guard FileManager.default.fileExists(atPath: path) else { continue }
            try FileManager.default.copyItem(atPath: path, toPath: moult.folder.path + "/Production.ckdb")
        }
        return moult
    }

    private func cloudKit(_ moult: Tool, _ verb: String, _ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, ["cloudkit", verb, "App.xcdatamodeld"] + arguments)
    }

    private func codes(_ result: Tool.Result) throws -> [String] {
        try #require(try result.document["findings"] as? [[String: any Sendable]], "\(result)").map {
            "\($0["code"] ?? "") \($0["field"] ?? "")"
        }
    }

    // MARK: schema

    @Test func `the schema is printed or written byte for byte, and what is uncertain is named beside it`() throws {
        let moult = try beside("whole")
        let expected = try String(contentsOfFile: moult.folder.path + "/Production.ckdb", encoding: .utf8)
        let printed = try cloudKit(moult, "schema")
        #expect(printed.exit == 0 && printed.output == expected, "\(printed)")
        for words in ["Uncertain: CDMR", "Uncertain: CD_Post.CD_secret", "Uncertain: CD_Post: The fields of ImagePost"]
        {
            #expect(printed.errors.contains(words), "\(printed.errors)")
        }
        let written = try cloudKit(moult, "schema", "-o", "New.ckdb")
        #expect(written.exit == 0 && written.output.isEmpty, "\(written)")
        #expect(try String(contentsOfFile: moult.folder.path + "/New.ckdb", encoding: .utf8) == expected)
        #expect(try cloudKit(moult, "schema", "--json").document["schema"] as? String == expected)
        let shared = try cloudKit(moult, "schema", "--sharing").output
        #expect(shared.hasPrefix(expected) && shared.contains("    RECORD TYPE \"cloudkit.share\" (\n"), "\(shared)")
    }

    @Test func `a merge keeps all of Production, and says what it cannot change`() throws {
        let moult = try beside("behind")
        let merged = try cloudKit(moult, "schema", "--merge", "Production.ckdb", "-o", "Merged.ckdb")
        #expect(merged.exit == 1, "\(merged)")
        #expect(merged.errors.contains("CD_Post.CD_size is DOUBLE in Production for ever"), "\(merged.errors)")
        let text = try String(contentsOfFile: moult.folder.path + "/Merged.ckdb", encoding: .utf8)
        for line in [
            "    CREATE ROLE Keeper;", "    RECORD TYPE CD_Gone (", "    RECORD TYPE Users (",
            "        CD_oldName             STRING,", "        GRANT READ, WRITE TO Keeper,",
            "        CD_size                DOUBLE SORTABLE,", "    RECORD TYPE CDMR (",
        ] {
            #expect(text.contains(line + "\n"), "\(line)\n\(text)")
        }
        let left = try codes(cloudKit(moult, "check", "--schema", "Merged.ckdb", "--json"))
        #expect(
            left.sorted() == [
                "encrypt CD_Post.CD_secret", "orphan CD_Gone", "orphan CD_Post.CD_oldName", "retype CD_Post.CD_size",
                "share cloudkit.share",
            ], "\(left)")
    }

    @Test func `a model that no schema can hold is refused, and lint reports it without a schema`() throws {
        let moult = try beside("conflict")
        let refused = try cloudKit(moult, "schema")
        #expect(refused.exit == 3 && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors.contains("CD_Post.CD_size would be INT64 for ImagePost.size"), "\(refused.errors)")
        // The model says that its store is mirrored.
        let lint = try moult("lint", "App.xcdatamodeld")
        #expect(lint.exit == 1 && lint.output.contains("[SYNC015]"), "\(lint)")
    }

    // MARK: check

    @Test func `a check finds what is expected, with a code and a place in the model`() throws {
        let moult = try beside("behind")
        let result = try cloudKit(moult, "check", "--schema", "Production.ckdb", "--json")
        #expect(result.exit == 1)
        let expected = try String(contentsOfFile: Self.own + "/behind/EXPECTED.txt", encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
            .filter { !$0.hasPrefix("exit ") }.map { $0.hasSuffix(":") ? String($0.dropLast()) : $0 }
        // The note about sharing is Moult's own.
        #expect(try codes(result).sorted() == (expected + ["share cloudkit.share"]).sorted())
        let findings = try #require(try result.document["findings"] as? [[String: any Sendable]])
        let image = try #require(findings.first { $0["field"] as? String == "CD_Post.CD_image" })
        #expect(image["rule"] as? String == "SYNC012" && image["entity"] as? String == "ImagePost")
        #expect(image["property"] as? String == "image" && image["line"] as? Int == 10)
        #expect((image["file"] as? String)?.hasSuffix("App.xcdatamodel/contents") == true)
        #expect(try result.document["comparedWith"] as? [String] == ["Production.ckdb"])
    }

    @Test func `a schema that has everything is clean, and the text says with what the model was compared`() throws {
        let moult = try beside("whole")
        let result = try cloudKit(moult, "check", "--schema", "Production.ckdb")
        #expect(result.exit == 0, "\(result)")
        #expect(result.output.contains("0 errors, 0 warnings, 1 note in 1 version. Compared with Production.ckdb."))
        #expect(result.output.contains("[SYNC016]") && result.output.contains("cloudkit.share"), "\(result)")
    }

    @Test func `the formats of lint are those of a check`() throws {
        let moult = try beside("behind")
        _ = try moult.shell("git init -q")
        let sarif = try cloudKit(moult, "check", "--schema", "Production.ckdb", "--format", "sarif")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(sarif.output.utf8)) as? [String: any Sendable], "\(sarif)")
        let run = try #require((document["runs"] as? [[String: any Sendable]])?.first)
        let results = try #require(run["results"] as? [[String: any Sendable]])
        let driver = (run["tool"] as? [String: any Sendable])?["driver"] as? [String: any Sendable]
        let rules = try #require(driver?["rules"] as? [[String: any Sendable]]).map { $0["id"] as? String }
        let expected = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16].map { ($0 < 10 ? "SYNC00" : "SYNC0") + "\($0)" }
        #expect(results.count == 18 && rules == expected)
        let codes = results.compactMap { ($0["properties"] as? [String: any Sendable])?["code"] as? String }
        #expect(codes.count == 18 && codes.contains("add-field"))
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index] == result["ruleId"] as? String)
        }
        let github = try cloudKit(moult, "check", "--schema", "Production.ckdb", "--format", "github")
        #expect(github.exit == 1 && github.output.contains("::error file=App.xcdatamodeld/App.xcdatamodel/contents"))
        #expect(github.output.contains("title=SYNC012 add-field%3A Not in CloudKit's Production::"))
        let markdown = try cloudKit(moult, "check", "--schema", "Production.ckdb", "--format", "markdown")
        #expect(markdown.output.contains("Compared with `Production.ckdb`."), "\(markdown)")
        #expect(markdown.output.hasPrefix("### moult cloudkit check App.xcdatamodeld: "), "\(markdown)")
        #expect(markdown.output.contains("| SYNC012 add-field | "), "\(markdown)")
        let text = try cloudKit(moult, "check", "--schema", "Production.ckdb")
        #expect(text.output.contains("[SYNC014] retype: Change that Production never allows"), "\(text)")
        let explained = try moult("explain", "add-field")
        #expect(explained.output.contains("Its rule is SYNC012."), "\(explained)")
        #expect(try moult("explain", "SYNC012").output.contains("the code add-type or add-field."))
    }

    @Test func `moult.json names the schema for check and for lint, and schema then asks for a merge`() throws {
        let moult = try beside("behind")
        let missing = try cloudKit(moult, "check")
        #expect(missing.exit == 2 && missing.errors.contains("--schema FILE"), "\(missing)")
        try "{\"model\": \"App.xcdatamodeld\", \"cloudkit\": {\"schema\": \"Production.ckdb\"}}"
            .write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let check = try moult("cloudkit", "check", "--json")
        let lint = try moult("lint", "--json")
        #expect(check.exit == 1 && lint.exit == 1)
        let found = try #require(try lint.document["findings"] as? [[String: any Sendable]])
        let own = found.filter { $0["code"] != nil }.map { "\($0["code"] ?? "") \($0["field"] ?? "")" }
        #expect(try own.sorted() == codes(check).sorted() && own.count == 18)
        let schema = try moult("cloudkit", "schema")
        #expect(schema.errors.contains("--merge Production.ckdb"), "\(schema.errors)")
        // An exception is one of lint, too.
        try """
        {"model": "App.xcdatamodeld", "cloudkit": {"schema": "Production.ckdb"},
         "severities": {"SYNC012": "off", "SYNC014": "note", "SYNC013": "off"}}
        """.write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        #expect(try moult("cloudkit", "check").exit == 0)
        for (text, words) in [
            ("{\"cloudkit\": \"Production.ckdb\"}", "an object with schema and configuration"),
            ("{\"cloudkit\": {\"shema\": \"a\"}}", "Did you mean schema?"),
            ("{\"cloudkit\": {\"schema\": 1}}", "a text"),
        ] {
            try text.write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
            let wrong = try moult("lint", "App.xcdatamodeld")
            #expect(wrong.exit == 2 && wrong.errors.contains(words), "\(wrong)")
        }
    }

    @Test func `a file that is no schema is named with its line and column`() throws {
        let moult = try beside("whole")
        try "DEFINE SCHEMA\n    RECORD TYPE CD_Post (\n        CD_title STRNG\n    );\n"
            .write(toFile: moult.folder.path + "/Wrong.ckdb", atomically: true, encoding: .utf8)
        for arguments in [
            ["check", "App.xcdatamodeld", "--schema", "Wrong.ckdb"],
            ["schema", "App.xcdatamodeld", "--merge", "Wrong.ckdb"],
            ["diff", "Wrong.ckdb", "Production.ckdb"],
        ] {
            let result = try moult.run(Tool.path, ["cloudkit"] + arguments)
            #expect(result.exit == 4 && result.errors.contains("Wrong.ckdb:3:18"), "\(result)")
        }
        #expect(try cloudKit(moult, "check", "--schema", "Missing.ckdb").exit == 4)
    }

    @Test func `with a revision, a gap of the released model is told from a new one`() throws {
        let moult = try beside("whole")
        func write(_ attributes: String) throws {
            try "<model><entity name=\"Post\">\(attributes)</entity></model>".write(
                toFile: moult.folder.path + "/App.xcdatamodeld/App.xcdatamodel/contents", atomically: true,
                encoding: .utf8)
        }
        let old = "<attribute name=\"old\" optional=\"YES\" attributeType=\"Date\"/>"
        try write(old)
        try "DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName STRING );"
            .write(toFile: moult.folder.path + "/Production.ckdb", atomically: true, encoding: .utf8)
        let made = try moult.shell(
            "git init -q && git add -A && git -c user.name=T -c user.email=t@example.com commit -q -m Release")
        try #require(made.exit == 0, "\(made)")
        try write(old + "<attribute name=\"new\" optional=\"YES\" attributeType=\"Date\"/>")
        let result = try cloudKit(moult, "check", "--schema", "Production.ckdb", "--since", "HEAD", "--json")
        let findings = try #require(try result.document["findings"] as? [[String: any Sendable]], "\(result)")
        func message(_ field: String) -> String {
            findings.first { $0["field"] as? String == field }?["message"] as? String ?? ""
        }
        #expect(message("CD_Post.CD_old").hasSuffix(" has this gap too."), "\(findings)")
        #expect(message("CD_Post.CD_new").hasPrefix("CD_Post.CD_new TIMESTAMP is not in Production"))
        #expect(!message("CD_Post.CD_new").contains("this gap too"), "\(findings)")
    }

    @Test func `a compiled model and a store leave the encryption open in check, lint and schema`() throws {
        let moult = try beside("whole")
        #expect(try moult("compile", "App.xcdatamodeld", "-o", "App.momd").exit == 0)
        #expect(try moult("create", "App.sqlite", "--model", "App.xcdatamodeld", "--experimental").exit == 0)
        for model in ["App.momd", "App.sqlite"] {
            let check = try moult("cloudkit", "check", model, "--schema", "Production.ckdb", "--json")
            #expect(check.exit == 0, "\(check)")
            let found = try codes(check)
            #expect(found.contains("encryption-unknown ") && !found.contains { $0.hasPrefix("encrypt ") }, "\(found)")
            let schema = try moult("cloudkit", "schema", model)
            #expect(schema.output.hasPrefix("// Uncertain: ") && schema.errors.contains("Uncertain: A compiled model"))
            let merged = try moult("cloudkit", "schema", model, "--merge", "Production.ckdb")
            #expect(merged.exit == 0 && merged.output.contains(" ENCRYPTED STRING"), "\(merged)")
        }
        try "{\"cloudkit\": {\"schema\": \"Production.ckdb\"}}"
            .write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let lint = try moult("lint", "App.momd")
        #expect(lint.output.contains("[SYNC016] encryption-unknown: "), "\(lint)")
    }

    @Test func `a model that Core Data refuses to mirror is refused by a check as by lint`() throws {
        let moult = try beside("whole")
        try "<model><entity name=\"Post\"><attribute name=\"old\" attributeType=\"Date\"/></entity></model>".write(
            toFile: moult.folder.path + "/App.xcdatamodeld/App.xcdatamodel/contents", atomically: true, encoding: .utf8)
        #expect(try cloudKit(moult, "schema", "-o", "New.ckdb").exit == 0)
        let check = try cloudKit(moult, "check", "--schema", "New.ckdb")
        #expect(check.exit == 1 && check.output.contains("[SYNC002] Required attribute with CloudKit"), "\(check)")
    }

    @Test func `a schema is read from standard input`() throws {
        let moult = try beside("whole")
        let piped = try moult.shell(
            "cat Production.ckdb | \(Tool.path) cloudkit check App.xcdatamodeld --schema - && \(Tool.path) cloudkit schema "
                + "App.xcdatamodeld --merge - < Production.ckdb > New.ckdb && cmp New.ckdb Production.ckdb")
        #expect(piped.exit == 0 && piped.output.contains("Compared with standard input."), "\(piped)")
    }

    @Test func `Swift source, and configurations without a mark, get a next step`() throws {
        let moult = try beside("whole")
        try "@Model final class Post {}".write(
            toFile: moult.folder.path + "/Post.swift", atomically: true, encoding: .utf8)
        let swift = try moult("cloudkit", "check", "Post.swift", "--schema", "Production.ckdb")
        #expect(swift.exit == 4 && swift.errors.contains("a tool of the app's own"), "\(swift)")
        try
            "<model><entity name=\"A\"/><entity name=\"L\"/><configuration name=\"Cloud\"><memberEntity name=\"A\"/></configuration></model>"
            .write(
                toFile: moult.folder.path + "/App.xcdatamodeld/App.xcdatamodel/contents", atomically: true,
                encoding: .utf8)
        let named = try cloudKit(moult, "schema", "--configuration", "Cloud", "-o", "Cloud.ckdb")
        #expect(named.exit == 0 && !named.errors.contains("marks none"), "\(named)")
        let all = try cloudKit(moult, "schema")
        #expect(all.output.contains("CD_L") && all.errors.contains("--configuration Cloud"), "\(all)")
        let check = try cloudKit(moult, "check", "--schema", "Cloud.ckdb")
        #expect(check.exit == 1 && check.output.contains("[SYNC016] configuration-unknown: "), "\(check)")
    }

    // MARK: diff

    @Test func `two schemas and two versions are compared in words`() throws {
        let moult = try beside("whole")
        try FileManager.default.copyItem(
            atPath: Self.own + "/behind/production.ckdb", toPath: moult.folder.path + "/Old.ckdb")
        let files = try moult("cloudkit", "diff", "Old.ckdb", "Production.ckdb")
        #expect(files.exit == 0)
        for sentence in [
            "Deploy the record type CD_Tag, with 10 fields.", "Deploy the field CD_Post.CD_image BYTES.",
            "CD_Post.CD_size is DOUBLE and would be INT64. Production never allows this: use another name.",
            "The record type CD_Gone is not in the newer schema.", "The role Keeper is not in the newer schema.",
            "The grants of CD_Post differ.", "Deploy CD_Detail.CD_moveReceipt_ckAsset ASSET, which sharing needs.",
            "The indexes of CD_Detail.CD_tag are QUERYABLE, SEARCHABLE and SORTABLE, and were none.",
        ] {
            #expect(files.output.contains(sentence), "\(sentence)\n\(files.output)")
        }
        #expect(try moult("cloudkit", "diff", "Old.ckdb", "Production.ckdb", "--check").exit == 1)
        let same = try moult("cloudkit", "diff", "Old.ckdb", "Old.ckdb", "--check")
        #expect(same.exit == 0 && same.output.contains("are equal"), "\(same)")
        let mixed = try moult("cloudkit", "diff", "Old.ckdb", "App.xcdatamodeld")
        #expect(mixed.exit == 2 && mixed.errors.contains("cloudkit check"), "\(mixed)")
        let forum = try Tool.besideForumModel()
        let versions = try forum("cloudkit", "diff", "Forum.xcdatamodeld", "Forum", "Forum 3")
        #expect(versions.exit == 0 && versions.output.contains("is renamed from text"), "\(versions)")
    }
}
