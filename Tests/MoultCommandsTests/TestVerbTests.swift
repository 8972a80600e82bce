import Foundation
import MoultCommands
import TestSupport
import Testing

@Suite("moult test")
struct TestVerbTests {  // tier: long
    private static func contents(_ folder: String) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) {
            $0[$1] = FileManager.default.contents(atPath: "\(folder)/\($1)") ?? Data()
        }
    }

    @Test
    func `faults at moments of a migration leave the old store or the new one, and its own folder as it is`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try Self.contents(moult.folder.path)
        let result = try moult(
            "test", "--crash", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--seconds", "2", "--json")
        #expect(result.exit == 0, "\(result.errors)")
        let document = try result.document
        let faults = try #require(document["faults"] as? [[String: any Sendable]])
        #expect(faults.compactMap { $0["fault"] as? String }.contains("out of memory"))
        #expect(faults.allSatisfy { ($0["tried"] as? Int ?? 0) > 0 && $0["broken"] as? Int == 0 })
        #expect(try Self.contents(moult.folder.path) == before)
    }

    @Test func `real kills do so too, and a number of kills is asked for`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let before = try Self.contents(moult.folder.path)
        let result = try moult("test", "--kill", "4", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json")
        #expect(result.exit == 0, "\(result.errors)")
        let document = try result.document
        let counts = ["killed", "ended", "old", "new"].map { document[$0] as? Int ?? -1 }
        #expect(counts[0] + counts[1] == 4 && counts[2] + counts[3] == 4)
        #expect(try Self.contents(moult.folder.path) == before)
        #expect(try moult("test", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 2)
        #expect(try moult("test", "--kill", "0", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 2)
    }
}
