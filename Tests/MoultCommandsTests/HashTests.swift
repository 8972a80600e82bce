import Foundation
import Testing

@Suite("moult hash")
struct HashTests {
    @Test func `the document has every version with its entities, checksum and digest`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("hash", "Forum.xcdatamodeld", "--json")
        #expect(result.exit == 0)
        let versions = try #require(try result.document["versions"] as? [String: [String: any Sendable]])
        #expect(Set(versions.keys) == ["Forum", "Forum 2", "Forum 3"])
        let newest = try #require(versions["Forum 3"])
        #expect(Set(newest.keys) == ["entities", "checksum", "digest"])
        let entities = try #require(newest["entities"] as? [String: String])
        #expect(Set(entities.keys) == ["Forum", "Moderator", "Post", "Tag", "Topic", "User"])
        #expect(entities.values.allSatisfy { Data(base64Encoded: $0)?.count == 32 })
        #expect(Data(base64Encoded: try #require(newest["digest"] as? String))?.count == 64)
    }
}
