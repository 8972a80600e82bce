import Foundation
import TestSupport
import Testing

@Suite("moult generate and moult coexist")
struct GenerateVerbTests {
    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `writes the files that changed, and no others`() throws {
        let moult = try Tool.besideForumModel()
        let first = try moult("generate", "Forum.xcdatamodeld", "--for", "both", "-o", "a/Sources", "--json")
        let files = try #require(try first.document["files"] as? [String])
        #expect(try files.count == 12 && first.document["written"] as? [String] == files)
        #expect(try names(moult.folder.path + "/a/Sources").count == 12)
        let again = try moult("generate", "Forum.xcdatamodeld", "--for", "both", "-o", "a/Sources", "--json")
        #expect(try again.document["written"] as? [String] == [])
        let older = try moult(
            "generate", "Forum.xcdatamodeld", "--version", "Forum", "--for", "both", "-o", "a/Sources", "--json")
        // The older version has no class Topic; of the others, not every file differs.
        let changed = try #require(try older.document["written"] as? [String])
        #expect(changed.contains("a/Sources/Post+CoreDataProperties.swift"))
        #expect(!changed.contains("a/Sources/Post+CoreDataClass.swift"))
    }

    @Test func `what a person has written is not replaced unless asked, and then nothing else is`() throws {
        let moult = try Tool.besideForumModel()
        let path = moult.folder.path + "/User+CoreDataClass.swift"
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        let result = try moult("generate", "Forum.xcdatamodeld")
        #expect(result.exit == 3, "\(result)")
        #expect(try names(moult.folder.path).filter { $0.hasSuffix(".swift") } == ["User+CoreDataClass.swift"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(try moult("generate", "Forum.xcdatamodeld", "--replace").exit == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("public class User"))
    }

    @Test func `SwiftData's models are called after the model, or as asked`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("generate", "Forum.xcdatamodeld", "--for", "swift-data", "-o", "S").exit == 0)
        #expect(
            try names(moult.folder.path + "/S")
                == ["ForumMigrationPlan.swift", "ForumV1.swift", "ForumV2.swift", "ForumV3.swift"])
        let listed = try moult(
            "generate", "Forum.xcdatamodeld", "--for", "swift-data", "--name", "club", "--dry-run", "-o", "T")
        #expect(listed.output.hasPrefix("T/ClubV1.swift\n"), "\(listed)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/T"))
    }

    @Test func `wrong options are named`() throws {
        let moult = try Tool.besideForumModel()
        for arguments in [
            ["--for", "objective-c"], ["--codegen", "all"], ["--for", "swift-data", "--version", "Forum"],
        ] {
            let result = try moult.run(Tool.path, ["generate", "Forum.xcdatamodeld"] + arguments)
            #expect(result.exit == 2, "\(result)")
        }
    }

    @Test func `called momc with the action generate, it writes what the model asks for`() throws {
        let moult = try Tool.besideForumModel()
        let link = moult.folder.path + "/momc"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Tool.path)
        let path = moult.folder.path + "/Forum.xcdatamodeld/Forum 3.xcdatamodel/contents"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let tag = "representedClassName=\"Tag\" syncable=\"YES\" codeGenerationType="
        try text.replacing("\(tag)\"class\"", with: "\(tag)\"category\"")
            .write(toFile: path, atomically: true, encoding: .utf8)
        let result = try moult.run(
            link, ["--action", "generate", "--swift-version", "6.0", "Forum.xcdatamodeld", "Out"])
        #expect(result.exit == 0, "\(result)")
        let files = try names(moult.folder.path + "/Out")
        #expect(files.count == 11 && files.filter { $0.hasPrefix("Tag") } == ["Tag+CoreDataProperties.swift"])
    }

    @Test func `the report names the one entity of the forum that SwiftData cannot have`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("coexist", "Forum.xcdatamodeld", "--json")
        let document = try result.document
        #expect(result.exit == 0 && document["equal"] as? Bool == false)
        let entities = try #require(document["entities"] as? [[String: Any]])
        let different = entities.filter { $0["equal"] as? Bool == false }
        #expect(different.map { $0["name"] as? String } == ["Topic"])
        #expect(try moult("coexist", "Forum.xcdatamodeld", "--check").exit == 1)
        let same = try moult("coexist", "Forum.xcdatamodeld", "--model", "Forum.xcdatamodeld", "--check")
        #expect(same.exit == 0, "\(same)")
        let older = try moult("coexist", "Forum.xcdatamodeld", "--version", "Forum", "--model", "Forum.xcdatamodeld")
        #expect(older.output.contains("The types have a class Tag, and the model has no such entity."))
    }
}
