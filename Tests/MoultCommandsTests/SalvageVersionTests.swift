import Foundation
import TestSupport
import Testing

/// A store whose first page is damaged, so that SQLite cannot open it, two versions behind its model. What it had is
/// known from the sqlite3 shell, before the damage.
@Suite("The version of a store that SQLite cannot open")
struct SalvageVersionTests {
    private static let tables = ["ZFORUM", "ZUSER", "ZPOST", "ZTHREAD"]

    /// - Parameter pages: of which tables every page is overwritten too.
    private static func damaged(_ pages: [String] = []) throws -> (moult: Tool, counts: [String: Int]) {
        let moult = try Tool.besideForumModel()
        let made = try moult(
            "create", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows",
            "Forum=4,User=50,Thread=80,Post=300")
        try #require(made.exit == 0, "\(made)")
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(store, "PRAGMA wal_checkpoint(TRUNCATE)")
        let counts = try counts(store)
        let list = pages.map { "'\($0)'" }.joined(separator: ", ")
        let gone = try SQLiteShell.run(store, "SELECT pageno FROM dbstat WHERE name IN (\(list))")
            .split(separator: "\n").compactMap { Int($0) }
        let url = URL(fileURLWithPath: store)
        var bytes = try Data(contentsOf: url)
        // The kind of the tree on the first page.
        bytes[100] ^= 0xFF
        for page in gone { for place in (page - 1) * 4096..<page * 4096 { bytes[place] = 0xA5 } }
        try bytes.write(to: url)
        #expect(throws: SQLiteShell.Failure.self) { try SQLiteShell.run(store, "SELECT * FROM sqlite_master") }
        return (moult, counts)
    }

    private static func counts(_ store: String) throws -> [String: Int] {
        let sql = tables.map { "SELECT '\($0)', count(*) FROM \($0)" }.joined(separator: " UNION ALL ")
        let rows = try SQLiteShell.run(store, sql).split(separator: "\n").map { $0.split(separator: "|") }
        return Dictionary(uniqueKeysWithValues: rows.map { (String($0[0]), Int($0[1]) ?? -1) })
    }

    private static let salvage = ["salvage", "forum.sqlite", "saved.sqlite", "--model", "Forum.xcdatamodeld"]

    @Test func `the metadata say which version it is, and every row is placed`() throws {
        let (moult, counts) = try Self.damaged()
        let result = try moult.run(Tool.path, Self.salvage)
        #expect(result.exit == 1, "\(result)")
        #expect(result.output.hasPrefix("The store is of version Forum, by its metadata.\n"), "\(result.output)")
        #expect(try Self.counts(moult.folder.path + "/saved.sqlite") == counts)
    }

    @Test func `without metadata every version is tried, and the one that places most rows is said first`() throws {
        let (moult, counts) = try Self.damaged(["Z_METADATA", "Z_MODELCACHE"])
        let document = try moult.run(Tool.path, Self.salvage + ["--json"]).document
        #expect(document["version"] as? String == "Forum" && document["versionBy"] as? String == "rows")
        let tried = try #require(document["tried"] as? [[String: any Sendable]])
        #expect(Set(tried.compactMap { $0["version"] as? String }) == ["Forum", "Forum 2", "Forum 3"])
        let saved = moult.folder.path + "/saved.sqlite"
        #expect(try Self.counts(saved) == counts)
        let files = try FileManager.default.contentsOfDirectory(atPath: moult.folder.path)
        #expect(!files.contains { $0.hasSuffix(".part") })
        let tables = try #require(document["tables"] as? [[String: any Sendable]])
        let names = tables.map { "\($0["name"] as? String ?? "") \($0["rows"] as? Int ?? -1)" }
        #expect(names == counts.map { "\($0.key) \($0.value)" }.sorted() && names.count == 4, "\(names)")
        #expect(tables.allSatisfy { $0["missing"] as? Int == 0 && $0["partial"] as? Int == 0 }, "\(tables)")
        try FileManager.default.removeItem(atPath: saved)
        try? FileManager.default.removeItem(atPath: saved + ".aside.sqlite")
        let first = try moult.run(Tool.path, Self.salvage).output.split(separator: "\n").first ?? ""
        #expect(first.contains("Of the 3 versions of the model, Forum places the most rows"), "\(first)")
    }

    @Test func `a model inside the store says it where the metadata are gone`() throws {
        let (moult, counts) = try Self.damaged(["Z_METADATA"])
        let document = try moult.run(Tool.path, Self.salvage + ["--json"]).document
        #expect(document["version"] as? String == "Forum" && document["versionBy"] as? String == "model")
        #expect(try Self.counts(moult.folder.path + "/saved.sqlite") == counts)
    }

    @Test func `the doctor's advice names the version, and does what it says`() throws {
        let (moult, counts) = try Self.damaged()
        let doctor = try moult("doctor", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        let advice = "moult salvage forum.sqlite SAVED.sqlite --model Forum.xcdatamodeld --version Forum"
        #expect(doctor.exit == 1 && doctor.output.contains(advice + "\n"), "\(doctor)")
        #expect(try moult.shell(advice).exit == 1)
        #expect(try Self.counts(moult.folder.path + "/SAVED.sqlite") == counts)
    }
}
