import Foundation
import TestSupport
import Testing

/// `moult diff REV:PATH`, `moult changelog` and `moult schema bump`.
@Suite("The history of a schema")
struct SchemaHistoryTests {  // tier: long
    private func committed() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let made = try moult.shell(
            "git init -q && git add -A && git -c user.name=T -c user.email=t@example.com commit -q -m Release")
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    @Test func `diff reads a model of a revision, from this folder or from the root of the repository`() throws {
        let moult = try committed()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 3.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        try text.replacing("<attribute name=\"editedAt\"", with: "<attribute name=\"changedAt\"").write(
            toFile: contents, atomically: true, encoding: .utf8)
        let now = try moult("diff", "HEAD:Forum.xcdatamodeld", "Forum.xcdatamodeld", "--check")
        #expect(now.exit == 1 && now.output.contains("Forum 3 (HEAD) → Forum 3"), "\(now)")
        #expect(now.output.contains("Post.editedAt") && now.output.contains("Post.changedAt"), "\(now)")
        let below = try moult.shell(
            "mkdir -p a/b && cd a/b && moult diff HEAD:../../Forum.xcdatamodeld HEAD:Forum.xcdatamodeld --check")
        #expect(below.exit == 0, "\(below)")
        let version = try moult(
            "diff", "HEAD:Forum.xcdatamodeld/Forum.xcdatamodel", "Forum 2", "--model", "Forum.xcdatamodeld")
        #expect(
            version.exit == 0 && version.output.contains("The attribute Post.body is renamed from text."), "\(version)")
        let noModel = try moult("diff", "HEAD:Nothing.xcdatamodeld", "Forum.xcdatamodeld")
        #expect(noModel.exit == 4 && noModel.errors.contains("has no model Nothing.xcdatamodeld"), "\(noModel)")
        let noRevision = try moult("diff", "release:Forum.xcdatamodeld", "Forum.xcdatamodeld")
        #expect(noRevision.exit == 2 && noRevision.errors.contains("no revision release"), "\(noRevision)")
    }

    @Test func `the changelog has each version with its changes, newest first`() throws {
        let moult = try Tool.besideForumModel()
        let page = try moult("changelog", "Forum.xcdatamodeld").output
        let headings = page.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(headings == ["## Forum 3 (current)", "## Forum 2", "## Forum"])
        let renamed = try #require(page.range(of: "- The attribute Post.body is renamed from text."))
        #expect(renamed.lowerBound > (try #require(page.range(of: "## Forum 2"))).lowerBound)
        #expect(page.hasSuffix("The first version, with 4 entities: Forum, Post, Thread, User.\n"), "\(page)")
    }

    @Test(arguments: [
        ("", "title", "major", "2.0.0"), ("title", "", "minor", "1.3.0"), ("title", "title", "patch", "1.2.4"),
    ])
    func `a bump is major for what older code or data has no more, minor for additions, and a patch for the rest`(
        added: String, removed: String, level: String, proposed: String
    ) throws {
        let moult = Tool(folder: try ScratchFolder())
        func write(_ name: String, _ identifier: String, _ attribute: String, _ value: String) throws {
            let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let text =
                attribute.isEmpty
                ? "" : "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\" \(value)/>"
            try """
            <model userDefinedModelVersionIdentifier="\(identifier)"><entity name="Post">\(text)</entity></model>
            """.write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        try write("App", "1.2.3", removed, "")
        // A default value is not in the hash.
        try write("App 2", "1.2.3", added, "defaultValueString=\"a\"")
        let result = try moult("schema", "bump", "App.xcdatamodeld", "--check", "--json")
        #expect(result.exit == 1, "\(result)")
        #expect(try result.document["level"] as? String == level)
        #expect(try result.document["proposed"] as? String == proposed)
        try write("App 2", proposed, added, "defaultValueString=\"a\"")
        #expect(try moult("schema", "bump", "App.xcdatamodeld", "--check").exit == 0)
    }
}
