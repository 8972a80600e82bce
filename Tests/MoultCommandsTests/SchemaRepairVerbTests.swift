import Foundation
import TestSupport
import Testing

@Suite("moult repair of a store that lacks tables, columns and indexes")
struct SchemaRepairVerbTests {  // tier: long
    /// The newest version, whose users have a required reputation with the default 1.
    private func besideIncompleteStore() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let made = try moult(
            "create", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--rows", "Forum=3,User=20,Topic=30,Post=200")
        try #require(made.exit == 0, "\(made.errors)")
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            "DROP TABLE ZTAG; ALTER TABLE ZUSER DROP COLUMN ZREPUTATION; DROP INDEX ZPOST_ZTOPIC_INDEX")
        return moult
    }

    private func places(_ result: Tool.Result) throws -> [String: String] {
        let findings = try #require(try result.document["findings"] as? [[String: any Sendable]])
        return Dictionary(
            findings.map { ($0["place"] as? String ?? "", $0["rule"] as? String ?? "") }, uniquingKeysWith: { $1 })
    }

    @Test
    func `a dry run names each and changes nothing, the repair makes them, and the store is used as before`() throws {
        let moult = try besideIncompleteStore()
        let store = moult.folder.path + "/forum.sqlite"
        let before = try SQLiteShell.run(store, ".sha3sum --schema")
        #expect(try moult("status", "forum.sqlite", "--model", "Forum.xcdatamodeld").output.hasPrefix("current"))
        let rehearsed = try moult("repair", "forum.sqlite", "--dry-run", "--json")
        let expected = ["ZTAG": "tables", "ZUSER.ZREPUTATION": "columns", "ZPOST_ZTOPIC_INDEX": "indexes"]
        #expect(try places(rehearsed).filter { expected[$0.key] != nil } == expected)
        #expect(rehearsed.exit == 0)
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == before)
        for text in ["ZTAG", "ZUSER.ZREPUTATION", "ZPOST_ZTOPIC_INDEX", "copy. The store is unchanged"] {
            #expect(try moult("repair", "forum.sqlite", "--dry-run").output.contains(text), "\(text)")
        }
        let repaired = try moult("repair", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(repaired.exit == 0, "\(repaired)")
        #expect(repaired.output.contains("Next: `moult repair forum.sqlite --model Forum.xcdatamodeld --dry-run`"))
        #expect(
            try SQLiteShell.run(store, "SELECT count(*), min(ZREPUTATION), max(ZREPUTATION) FROM ZUSER") == "20|1|1\n")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZTAG; SELECT count(*) FROM ZPOST") == "0\n200\n")
        #expect(try moult("rollback", "forum.sqlite").exit == 0)
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == before)
    }

    @Test
    func `validate and doctor name what is missing and the command that makes it; plan refuses with the same`() throws {
        let moult = try besideIncompleteStore()
        let validated = try moult("validate", "forum.sqlite", "--json")
        #expect(validated.exit == 1)
        let codes = (try validated.document["findings"] as? [[String: any Sendable]] ?? []).map {
            $0["code"] as? String
        }
        #expect(Set(codes).isSuperset(of: ["table-missing", "column-missing"]))
        let diagnosis = try moult("doctor", "forum.sqlite")
        #expect(diagnosis.exit == 1 && diagnosis.output.contains("moult repair forum.sqlite"))
        #expect(diagnosis.output.contains("reads the whole table (200 rows)"))
        let refused = try moult("repair", "forum.sqlite", "--only", "dangling", "--json")
        #expect(refused.exit == 4 && refused.output.contains("Leave --only out"))
    }

    @Test func `a missing unique index and the duplicates that prevent it are one repair`() throws {
        let moult = try Tool.besideForumModel()
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        let entity = try #require(text.range(of: "<entity name=\"User\""))
        let end = try #require(text.range(of: "</entity>", range: entity.upperBound..<text.endIndex))
        let unique = """
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
            </uniquenessConstraints>
            """
        try text.replacingCharacters(in: end.lowerBound..<end.lowerBound, with: unique)
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let made = try moult(
            "create", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows", "User=20")
        try #require(made.exit == 0, "\(made.errors)")
        let store = moult.folder.path + "/forum.sqlite"
        let index = "Z_User_UNIQUE_name"
        _ = try SQLiteShell.run(
            store,
            "DROP INDEX \(index); UPDATE ZUSER SET ZNAME = (SELECT ZNAME FROM ZUSER WHERE Z_PK = 1) WHERE Z_PK = 2")
        #expect(try moult("validate", "forum.sqlite").exit == 1)
        let repaired = try moult("repair", "forum.sqlite")
        #expect(repaired.exit == 0 && !repaired.output.contains("cannot be made"), "\(repaired)")
        #expect(repaired.output.contains("duplicates") && repaired.output.contains(index))
        #expect(try moult("validate", "forum.sqlite").exit == 0)
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM sqlite_master WHERE name = '\(index)'") == "1\n")
    }
}
