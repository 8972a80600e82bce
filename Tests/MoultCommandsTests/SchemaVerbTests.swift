import Foundation
import TestSupport
import Testing

@Suite("moult schema")
struct SchemaVerbTests {
    @Test func `both forms that export writes have the versions, hashes and order of the model`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("schema", "export", "deep/schema", "--model", "Forum.xcdatamodeld", "--name", "Forum")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.output == "Wrote 3 versions to deep/schema: Forum, Forum 2, Forum 3.\n")
        let expected = try moult("hash", "Forum.xcdatamodeld", "--json").output
        for model in ["deep/schema", "deep/schema/Forum.xcdatamodeld"] {
            #expect(try moult("hash", model, "--json").output == expected)
        }
        #expect(try moult("diff", "Forum.xcdatamodeld", "deep/schema/Forum.xcdatamodeld", "--check").exit == 0)
        // Xcode would take the newest for the current one.
        let marker = try String(
            contentsOfFile: moult.folder.path + "/deep/schema/Forum.xcdatamodeld/.xccurrentversion", encoding: .utf8)
        #expect(marker.contains("<string>Forum 3.xcdatamodel</string>"))
    }

    @Test func `without a model there is nothing to export`() throws {
        #expect(try Tool.besideForumModel()("schema", "export", "schema").exit == 2)
    }
}
