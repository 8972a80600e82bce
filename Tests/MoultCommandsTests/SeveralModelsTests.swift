import Foundation
import TestSupport
import Testing

/// Several models in `moult.json`, and exceptions for one place.
@Suite("Several models and exceptions")
struct SeveralModelsTests {
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let rating = "<attribute name=\"rating\" attributeType=\"Integer 16\"/>"

    /// A tool beside two models of two versions each, in folders of their own.
    private func besideTwo() throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        for (folder, name, entity) in [("Sources/Shop", "Shop", "Order"), ("Sources/Blog", "Blog", "Post")] {
            try write(Self.title, "\(folder)/\(name).xcdatamodeld/\(name).xcdatamodel", entity, moult)
        }
        return moult
    }

    private func write(_ properties: String, _ version: String, _ entity: String, _ moult: Tool) throws {
        let path = "\(moult.folder.path)/\(version)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try "<model>\n<entity name=\"\(entity)\">\n\(properties)\n</entity>\n</model>\n"
            .write(toFile: path + "/contents", atomically: true, encoding: .utf8)
        try SchemaFiles.markNewest(inBundle: (path as NSString).deletingLastPathComponent)
    }

    /// Adds a version with an error to each model.
    private func breakBoth(_ moult: Tool) throws {
        try write(Self.title + Self.rating, "Sources/Shop/Shop.xcdatamodeld/Shop 2.xcdatamodel", "Order", moult)
        try write(Self.title + Self.rating, "Sources/Blog/Blog.xcdatamodeld/Blog 2.xcdatamodel", "Post", moult)
    }

    private func configure(_ text: String, _ moult: Tool) throws {
        try text.write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
    }

    @Test func `init makes the file of all models, and lint, lock and the hook work on each`() throws {
        let moult = try besideTwo()
        let made = try moult("init", "--json")
        #expect(made.exit == 0, "\(made)")
        let models = try #require(try made.document["models"] as? [[String: any Sendable]])
        let paths = ["Sources/Blog/Blog.xcdatamodeld", "Sources/Shop/Shop.xcdatamodeld"]
        #expect(models.compactMap { $0["model"] as? String }.sorted() == paths)
        for folder in ["Shop", "Blog"] {
            #expect(FileManager.default.fileExists(atPath: "\(moult.folder.path)/Sources/\(folder)/moult.lock"))
        }
        let sound = try moult("lint")
        #expect(sound.exit == 0 && sound.output.contains("No findings in 2 models."), "\(sound)")
        #expect(try moult("lock", "--check").exit == 0)
        try breakBoth(moult)
        let red = try moult("lint")
        #expect(red.exit == 1 && paths.allSatisfy(red.output.contains), "\(red)")
        #expect(red.output.contains("2 errors, 0 warnings, 0 notes in 2 models."), "\(red)")
        let document = try moult("lint", "--json").document
        let findings = try #require(document["findings"] as? [[String: any Sendable]])
        #expect(findings.compactMap { $0["model"] as? String }.sorted() == paths)
        #expect((document["models"] as? [[String: any Sendable]])?.count == 2)
        for format in ["sarif", "markdown", "github"] {
            let text = try moult("lint", "--format", format).output
            #expect(text.contains("Blog 2") || text.contains("Blog%202"), "\(text)")
            #expect(text.contains("Shop 2") || text.contains("Shop%202"), "\(text)")
        }
        let one = try moult("lint", "--model", paths[1], "--json").document
        #expect(one["model"] as? String == paths[1] && (one["findings"] as? [any Sendable])?.count == 1)
        #expect(try moult("lint", paths[1], "--json").output == moult("lint", "--model=\(paths[1])", "--json").output)
        let open = try moult("lock", "--check")
        #expect(open.exit == 1 && paths.allSatisfy(open.output.contains), "\(open)")
        #expect(try moult("lock").exit == 1)
        #expect(try moult("lint", "--fix").exit == 0)
        #expect(try moult("lock").exit == 0)
        #expect(try moult("lock", "--check").exit == 0)
        // An order is one of one model.
        #expect(try moult("lint", "--order", "a,b").exit == 2)
    }

    @Test func `two models in one folder share a lock, and nothing is locked if one is refused`() throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try write(Self.title, "B.xcdatamodeld/B.xcdatamodel", "Post", moult)
        #expect(try moult("init").exit == 0)
        let path = moult.folder.path + "/moult.lock"
        let lock = try String(contentsOfFile: path, encoding: .utf8)
        #expect(lock.contains("\"A.xcdatamodeld\"") && lock.contains("\"B.xcdatamodeld\""), "\(lock)")
        try write(
            Self.title + Self.title.replacing("title", with: "body"), "A.xcdatamodeld/A 2.xcdatamodel", "Post", moult)
        try write(Self.rating, "B.xcdatamodeld/B.xcdatamodel", "Post", moult)
        let refused = try moult("lock")
        #expect(refused.exit == 3, "\(refused)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == lock)
        #expect(try moult("lock", "A.xcdatamodeld").exit == 0)
        let both = try String(contentsOfFile: path, encoding: .utf8)
        #expect(both.contains("A 2") && both.contains("\"B.xcdatamodeld\""), "\(both)")
    }

    @Test func `nothing is locked if lint finds an error in a new version of one model`() throws {
        let moult = Tool(folder: try ScratchFolder())
        let body = Self.title.replacing("title", with: "body")
        for name in ["A", "B"] { try write(Self.title, "\(name).xcdatamodeld/\(name).xcdatamodel", "Post", moult) }
        #expect(try moult("init").exit == 0)
        let path = moult.folder.path + "/moult.lock"
        let lock = try String(contentsOfFile: path, encoding: .utf8)
        try write(Self.title + body, "A.xcdatamodeld/A 2.xcdatamodel", "Post", moult)
        try write(body, "B.xcdatamodeld/B 2.xcdatamodel", "Post", moult)
        let refused = try moult("lock")
        #expect(refused.exit == 1 && refused.output.contains("[INFER001] at Post.body"), "\(refused)")
        #expect(refused.output.contains("A.xcdatamodeld: Not locked"), "\(refused)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == lock)
    }

    @Test func `a refusal of lock names every model and its command, and lock --again what it replaced`() throws {
        let moult = try besideTwo()
        #expect(try moult("init").exit == 0)
        let shop = "Sources/Shop/Shop.xcdatamodeld"
        try write(Self.rating, "\(shop)/Shop.xcdatamodel", "Order", moult)
        let lint = try moult("lint")
        #expect(lint.exit == 1 && lint.output.contains("moult lock \(shop) --again"), "\(lint)")
        try write(Self.rating, "Sources/Blog/Blog.xcdatamodeld/Blog.xcdatamodel", "Post", moult)
        let refused = try moult("lock")
        for path in [shop, "Sources/Blog/Blog.xcdatamodeld"] {
            #expect(refused.exit == 3 && refused.errors.contains("moult lock \(path) --again"), "\(refused)")
        }
        let again = try moult("lock", shop, "--again")
        #expect(again.exit == 0 && again.output.contains("Replaced in it: Shop."), "\(again)")
    }

    @Test func `what the configuration turns off or accepts is named, and checked`() throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try configure("{\"model\": \"A.xcdatamodeld\", \"severities\": {\"SHAPE003\": \"off\"}}", moult)
        for format in ["text", "github", "markdown"] {
            let result = try moult("lint", "--format", format)
            #expect(result.output.contains("Turned off in the configuration: SHAPE003."), "\(result)")
        }
        #expect(try moult("lint", "--json").document["turnedOff"] as? [String] == ["SHAPE003"])
        try configure(
            "{\"model\": \"A.xcdatamodeld\",\n\"acceptedLosses\": [\"Post.title\",\n\"Post.tilte\"]}", moult)
        let wrong = try moult("lint")
        #expect(wrong.exit == 2 && wrong.errors.contains("moult.json:3"), "\(wrong)")
        #expect(wrong.errors.contains("Did you mean Post.title?"), "\(wrong)")
    }

    @Test func `a damaged answers file is an error with the line and column, or with the answer`() throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        for (text, says) in [
            ("{\"format\": 1,\n \"answers\": [}", "line 2, column"),
            ("{\"format\": 1, \"answers\": [{\"from\": \"A\"}]}", "of answer 1 is missing"),
        ] {
            try text.write(toFile: moult.folder.path + "/answers.json", atomically: true, encoding: .utf8)
            let result = try moult("lint", "A.xcdatamodeld", "--answers", "answers.json")
            #expect(result.exit == 2 && result.errors.contains(says), "\(result)")
            #expect(!result.errors.contains("DecodingError"), "\(result)")
        }
    }

    @Test func `a model that the configuration does not name is said by init and lint`() throws {
        let moult = try besideTwo()
        #expect(try moult("init", "Sources/Shop/Shop.xcdatamodeld").exit == 0)
        let others = "does not name Sources/Blog/Blog.xcdatamodeld"
        let lint = try moult("lint")
        #expect(lint.exit == 0 && lint.errors.contains(others), "\(lint)")
        let again = try moult("init")
        #expect(again.exit != 0 && again.errors.contains(others), "\(again)")
        #expect(again.errors.contains("moult lock Sources/Blog/Blog.xcdatamodeld"), "\(again)")
    }

    @Test func `lint and lock of one version lead to its bundle, and nothing is written inside it`() throws {
        let moult = try besideTwo()
        let (bundle, version) = ("Sources/Shop/Shop.xcdatamodeld", "Sources/Shop/Shop.xcdatamodeld/Shop.xcdatamodel")
        let lint = try moult("lint", version)
        #expect(lint.exit == 0 && lint.errors.contains("moult lint \(bundle)"), "\(lint)")
        for verb in ["lock", "init"] {
            let refused = try moult.run(Tool.path, [verb, version])
            #expect(refused.exit == 2 && refused.errors.contains("moult lock \(bundle)"), "\(refused)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(moult.folder.path)/\(bundle)/moult.lock"))
    }

    @Test func `a lock that contradicts itself says so`() throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        #expect(try moult("lock", "A.xcdatamodeld").exit == 0)
        let path = moult.folder.path + "/moult.lock"
        let lock = try String(contentsOfFile: path, encoding: .utf8)
        try lock.replacing("\"name\": \"A\"", with: "\"name\": \"B\"").replacing(
            "\n}\n", with: ",\n\"current\": {\"A.xcdatamodeld\": \"A\"}\n}\n",
            maxReplacements: lock.contains("current") ? 0 : 1
        ).write(toFile: path, atomically: true, encoding: .utf8)
        let result = try moult("lint", "A.xcdatamodeld")
        #expect(result.exit == 4 && result.errors.contains("names A as the current version"), "\(result)")
    }

    @Test func `a verb for a store finds its model among several, and otherwise says which there are`() throws {
        let moult = try besideTwo()
        #expect(try moult("init").exit == 0)
        let shop = "Sources/Shop/Shop.xcdatamodeld"
        let made = try moult("create", "shop.sqlite", "--model", shop, "--rows", "Order=3")
        #expect(made.exit == 0, "\(made)")
        let status = try moult("status", "shop.sqlite", "--json")
        #expect(try status.document["version"] as? String == "Shop", "\(status)")
        for command in [["create", "other.sqlite"], ["hash"]] {
            let several = try moult.run(Tool.path, command)
            #expect(several.exit == 2 && several.errors.contains("--model \(shop)"), "\(several)")
        }
        #expect(try moult("hash", "--model", shop).exit == 0)
    }

    @Test func `with a revision, a model that is newer than it counts as not released`() throws {
        let moult = try besideTwo()
        let made = try moult.shell(
            "moult init Sources/Shop/Shop.xcdatamodeld && git init -q -b main && git add Sources/Shop moult.json && "
                + "git -c user.name=T -c user.email=t@example.com commit -qm A && rm moult.json && moult init")
        #expect(made.exit == 0, "\(made)")
        let result = try moult("lint", "--since", "main")
        #expect(result.exit == 0, "\(result)")
        try breakBoth(moult)
        let red = try moult("lint", "--since", "main")
        #expect(red.exit == 1 && red.output.contains("2 errors"), "\(red)")
    }

    @Test(arguments: [
        ("{\"models\": []}", "models should be a list of paths"),
        ("{\"models\": [\"A.xcdatamodeld\",\n\"A.xcdatamodeld\"]}", "twice"),
        ("{\"model\": \"A.xcdatamodeld\", \"models\": [\"A.xcdatamodeld\"]}", "exclude each other"),
        ("{\"models\": [\"A.xcdatamodeld\",\n\"Gone.xcdatamodeld\"]}", "moult.json:2"),
        ("{\"exceptions\": [{\"rule\": \"DATA02\", \"place\": \"Post\", \"why\": \"x\"}]}", "There is no rule DATA02"),
        ("{\"exceptions\": [\n{\"rule\": \"DATA002\",\n\"place\": \"Post\"}]}", "An exception needs why"),
        ("{\"exceptions\": [{\"rule\": \"DATA002\", \"place\": \"Post\", \"why\": \" \"}]}", "An exception needs why"),
        ("{\"exceptions\": [{\"rule\": \"DATA002\", \"place\": \"Post\", \"reason\": \"x\"}]}", "has no reason"),
        (
            "{\"model\": \"A.xcdatamodeld\",\n\"exceptions\": [\n{\"rule\": \"DATA002\", \"place\": \"Post.tilte\", "
                + "\"why\": \"x\"}]}", "Did you mean Post.title?"
        ),
    ])
    func `what is wrong in the list of models or of exceptions is an error`(text: String, says: String) throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try configure(text, moult)
        let result = try moult("lint")
        #expect(result.exit == 2 && result.errors.contains(says), "\(result)")
    }

    // MARK: Exceptions

    @Test(arguments: [
        "Post.rating", "Post", "A 2", "A 2/Post.rating", "A 2/Post", "A.xcdatamodeld", "A.xcdatamodeld/Post.rating",
        "A.xcdatamodeld/A 2/Post.rating",
    ])
    func `an exception leaves out its rule at its place, with the reason in every format`(place: String) throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try write(Self.title + Self.rating, "A.xcdatamodeld/A 2.xcdatamodel", "Post", moult)
        try configure(
            """
            {"model": "A.xcdatamodeld", "exceptions": [
              {"rule": "infer005", "place": "\(place)", "why": "A stage sets it."}]}
            """, moult)
        let text = try moult("lint")
        #expect(text.exit == 0 && text.output.contains("excepted [INFER005]"), "\(text)")
        #expect(text.output.contains("Reason: A stage sets it.") && text.output.contains("No findings"), "\(text)")
        let document = try moult("lint", "--json").document
        #expect((document["findings"] as? [any Sendable])?.isEmpty == true)
        let excepted = try #require(document["excepted"] as? [[String: any Sendable]])
        #expect(excepted.map { $0["why"] as? String } == ["A stage sets it."])
        let sarif = try moult("lint", "--format", "sarif").output
        #expect(sarif.contains("\"justification\": \"A stage sets it.\""), "\(sarif)")
        #expect(try moult("lint", "--format", "markdown").output.contains("| A stage sets it. |"))
        #expect(try !moult("lint", "--format", "github").output.contains("::error"))
    }

    @Test(arguments: ["Post.title", "A", "A/Post.title", "A.xcdatamodeld/Post.title"])
    func `an exception that matches nothing is reported at its line`(place: String) throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try write(Self.title + Self.rating, "A.xcdatamodeld/A 2.xcdatamodel", "Post", moult)
        try configure(
            """
            {"model": "A.xcdatamodeld", "exceptions": [
              {"rule": "INFER005", "place": "Post.rating", "why": "One."},
              {"rule": "INFER005", "place": "\(place)", "why": "Two."}]}
            """, moult)
        let text = try moult("lint")
        #expect(text.exit == 0 && text.output.contains("Unused exception"), "\(text)")
        #expect(text.output.contains("moult.json:3") && !text.output.contains("moult.json:2"), "\(text)")
        #expect(try moult("lint", "--fail-on", "note").exit == 1)
        let document = try moult("lint", "--json").document
        #expect((document["unusedExceptions"] as? [[String: any Sendable]])?.first?["line"] as? Int == 3)
        #expect(try moult("lint", "--format", "github").output.contains("::notice file=moult.json,line=3"))
        #expect(try moult("lint", "--format", "sarif").output.contains("toolConfigurationNotifications"))
        // A rule that is not applied needs no exception, and says nothing about it.
        #expect(try !moult("lint", "--ignore", "INFER005").output.contains("Unused exception"))
    }

    @Test func `without a lock, findings about older versions come with the way to begin`() throws {
        let moult = Tool(folder: try ScratchFolder())
        try write(Self.title, "A.xcdatamodeld/A.xcdatamodel", "Post", moult)
        try write(Self.title + Self.rating, "A.xcdatamodeld/A 2.xcdatamodel", "Post", moult)
        let note = "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
        try write(Self.title + Self.rating + note, "A.xcdatamodeld/A 3.xcdatamodel", "Post", moult)
        let first = try moult("lint", "A.xcdatamodeld")
        #expect(first.exit == 1 && first.output.contains("moult init A.xcdatamodeld"), "\(first)")
        #expect(try moult("init", "A.xcdatamodeld").exit == 0)
        let next = try moult("lint")
        #expect(!next.output.contains("[INFER005]") && !next.output.contains("moult init"), "\(next)")
    }
}
