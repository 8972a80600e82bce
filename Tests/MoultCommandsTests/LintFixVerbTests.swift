import Foundation
import TestSupport
import Testing

/// `moult lint --fix`: the corrected tags are written, and no other byte.
@Suite("Corrections of lint")
struct LintFixVerbTests {
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let rating = "<attribute name=\"rating\" attributeType=\"Integer 16\"/>"
    private static let corrected = "<attribute name=\"rating\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>"

    private func model(_ properties: String...) -> String {
        "<model>\n<entity name=\"Post\">\n\(properties.joined(separator: "\n"))\n</entity>\n</model>\n"
    }

    private func path(_ version: Int, _ moult: Tool) -> String {
        "\(moult.folder.path)/App.xcdatamodeld/App\(version == 1 ? "" : " \(version)").xcdatamodel/contents"
    }

    private func besideApp(_ contents: String...) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        for (number, text) in contents.enumerated() { try write(text, version: number + 1, moult) }
        return moult
    }

    private func write(_ text: String, version: Int, _ moult: Tool) throws {
        let path = path(version, moult)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try SchemaFiles.markNewest(inBundle: moult.folder.path + "/App.xcdatamodeld")
    }

    private func read(_ version: Int, _ moult: Tool) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path(version, moult)))
    }

    private func fix(_ moult: Tool, _ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, ["lint", "App.xcdatamodeld", "--fix"] + arguments)
    }

    @Test(
        arguments: [
            { (text: String) in text }, { "\u{FEFF}" + $0 }, { $0.replacing("\n", with: "\r\n") },
            { $0.replacing("\n", with: "") },
            { $0.replacing("<entity", with: "<!-- \(rating) <entity name=\"Post\"> -->\n<entity") },
            { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + $0.replacing("Post", with: "Größe") + "<!-- € > -->" },
        ] as [@Sendable (String) -> String])
    func `the corrected tag is written, whatever the form of the file, and no other byte`(
        form: @Sendable (String) -> String
    ) throws {
        let older = form(model(Self.title))
        let text = form(model(Self.title, Self.rating))
        let moult = try besideApp(older, text)
        let result = try fix(moult)
        #expect(result.exit == 0, "\(result)")
        #expect(
            result.output.contains("corrected [INFER005]") && result.output.contains("1 tag corrected."), "\(result)")
        // Only the tag in the entity is replaced, not the one in a comment.
        let place = try #require(text.range(of: Self.rating, options: .backwards))
        #expect(try read(2, moult) == Data(text.replacingCharacters(in: place, with: Self.corrected).utf8))
        #expect(try read(1, moult) == Data(older.utf8))
        #expect(try moult("lint", "App.xcdatamodeld", "--json").output.contains("INFER005") == false)
    }

    @Test func `quotation marks, line breaks and the order of attributes stay as they are`() throws {
        let tag = "<attribute\n    attributeType='Integer 16'\n    name = 'rating'\n></attribute>"
        let text = model(Self.title, tag)
        let moult = try besideApp(model(Self.title), text)
        #expect(try fix(moult).exit == 0)
        let expected = tag.replacing("'rating'", with: "'rating' defaultValueString=\"0\"")
        #expect(try read(2, moult) == Data(text.replacing(tag, with: expected).utf8))
    }

    @Test func `a setting is removed with the white space before it, and a value replaced`() throws {
        let tag = """
            <relationship name="posts" optional="YES" toMany="YES" ordered="YES" deletionRule="Deny" \
            destinationEntity="Post"/>
            """
        let text = model(tag)
        let moult = try besideApp(text)
        _ = try fix(moult, "--profile", "cloudkit")
        let left = String(decoding: try read(1, moult), as: UTF8.self)
        let expected = tag.replacing(" ordered=\"YES\"", with: "").replacing("\"Deny\"", with: "\"Nullify\"")
        #expect(left == text.replacing(tag, with: expected), "\(left)")
        let again = try moult("lint", "App.xcdatamodeld", "--profile", "cloudkit", "--json").output
        #expect(!again.contains("ordered=") && !again.contains("Deny"), "\(again)")
    }

    @Test func `with --dry-run, the same is said and nothing is written`() throws {
        let text = model(Self.title, Self.rating)
        let moult = try besideApp(model(Self.title), text)
        let result = try fix(moult, "--dry-run")
        #expect(result.exit == 1 && result.output.contains("would correct [INFER005]"), "\(result)")
        #expect(
            result.output.contains("- \(Self.rating)") && result.output.contains("+ \(Self.corrected)"), "\(result)")
        #expect(try read(2, moult) == Data(text.utf8))
        let document = try fix(moult, "--dry-run", "--json").document
        let fixes = try #require(document["fixes"] as? [[String: any Sendable]])
        let corrected = try #require(fixes.first?["corrected"] as? [[String: any Sendable]])
        #expect(corrected.map { $0["new"] as? String } == [Self.corrected])
        #expect(try moult("lint", "App.xcdatamodeld", "--dry-run").exit == 2)
    }

    @Test func `a locked version is not touched, neither as it was locked nor edited since`() throws {
        let moult = try besideApp(model(Self.title), model(Self.title, Self.rating))
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        let edited = model(Self.title, Self.rating, Self.rating.replacing("rating", with: "stars"))
        try write(edited, version: 2, moult)
        let result = try fix(moult)
        #expect(result.exit == 1 && result.output.contains("No tag corrected."), "\(result)")
        #expect(try read(2, moult) == Data(edited.utf8))
        try write(model(Self.title, Self.rating), version: 2, moult)
        let next = model(Self.title, Self.rating, Self.rating.replacing("rating", with: "stars"))
        try write(next, version: 3, moult)
        #expect(try fix(moult).exit == 0)
        #expect(try read(2, moult) == Data(model(Self.title, Self.rating).utf8))
        let expected = next.replacing(
            Self.rating.replacing("rating", with: "stars"), with: Self.corrected.replacing("rating", with: "stars"))
        #expect(try read(3, moult) == Data(expected.utf8))
    }

    @Test func `if nothing says what was released, only the newest version is edited`() throws {
        let second = model(Self.title, Self.rating)
        let third = model(Self.title, Self.rating, Self.rating.replacing("rating", with: "stars"))
        let moult = try besideApp(model(Self.title), second, third)
        let result = try fix(moult)
        #expect(result.output.contains("1 tag corrected."), "\(result)")
        #expect(result.output.contains("Nothing says whether App 2 was released."), "\(result)")
        #expect(try read(2, moult) == Data(second.utf8))
        #expect(try read(3, moult) != Data(third.utf8))
    }

    @Test(arguments: [["title"], ["title", "tilte"]])
    func `whether a property is new or renamed is not decided, however many it may have been`(older: [String]) throws {
        let text = model(Self.title.replacing("\"title\"", with: "\"body\""))
        let moult = try besideApp(
            model(older.map { Self.title.replacing("\"title\"", with: "\"\($0)\"") }.joined()), text)
        let result = try fix(moult)
        #expect(result.exit == 1 && result.output.contains("No tag corrected."), "\(result)")
        #expect(result.output.contains("not corrected: Moult does not guess whether it is new or"), "\(result)")
        #expect(
            result.output.contains("  [INFER001] App.xcdatamodeld/App 2.xcdatamodel/contents:3: Post.body"),
            "\(result)")
        #expect(try read(2, moult) == Data(text.utf8))
    }

    @Test func `an answered rename is written, with what the new property lacks`() throws {
        let titles = "<attribute name=\"titles\" attributeType=\"String\"/>"
        let text = model(titles)
        let moult = try besideApp(model(Self.title), text)
        #expect(try moult("answer", "App.xcdatamodeld", "--set", "Post.titles=rename:title").exit == 0)
        let result = try fix(moult)
        #expect(result.output.contains("1 tag corrected."), "\(result)")
        let left = String(decoding: try read(2, moult), as: UTF8.self)
        #expect(left.contains(" elementID=\"title\"") && left.contains(" defaultValueString=\"\""), "\(left)")
    }

    @Test func `the transformer of values whose classes are unknown is not decided`() throws {
        let text = model("<attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\"/>")
        let moult = try besideApp(text, text)
        let result = try fix(moult)
        #expect(
            result.output.contains("No tag corrected.")
                && result.output.contains("not corrected: Moult does not know the classes of its values."), "\(result)")
        #expect(try read(2, moult) == Data(text.utf8))
    }

    @Test func `a tag with an exception is not corrected`() throws {
        let text = model(Self.title, Self.rating)
        let moult = try besideApp(model(Self.title), text)
        try """
        {"model": "App.xcdatamodeld",
         "exceptions": [{"rule": "INFER005", "place": "Post.rating", "why": "A stage sets it."}]}
        """.write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let result = try moult("lint", "--fix")
        #expect(result.exit == 0 && result.output.contains("No tag corrected."), "\(result)")
        #expect(try read(2, moult) == Data(text.utf8))
    }

    @Test func `the permissions of the file stay`() throws {
        let moult = try besideApp(model(Self.title), model(Self.title, Self.rating))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path(2, moult))
        #expect(try fix(moult).exit == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: path(2, moult))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }
}
