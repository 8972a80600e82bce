import Foundation
import TestSupport
import Testing

/// A log or a rollback journal of another database next to a sound store. The sqlite3 shell says that the store is sound
/// without it.
@Suite("Side files of other databases")
struct SideFileVerbTests {
    private static func besideStore(_ suffix: String) throws -> (moult: Tool, store: String, before: String) {
        let moult = try StoreVerbTests.besideForumStore()
        let store = moult.folder.path + "/forum.sqlite"
        _ = try SQLiteShell.run(store, "PRAGMA wal_checkpoint(TRUNCATE)")
        if suffix == "-journal" { _ = try SQLiteShell.run(store, "PRAGMA journal_mode = DELETE") }
        let before = try SQLiteShell.run(store, ".sha3sum")
        if suffix == "-wal" {
            try BadStore.giveForeignLog(store)
        } else {
            // The journal of a transaction that has not ended: it makes a file of one page again.
            let other = store + ".other"
            _ = try SQLiteShell.run(other, "CREATE TABLE a (b); DROP TABLE a; VACUUM")
            let writer = try SQLiteProcess(other)
            try writer.run("PRAGMA cache_size = 1; BEGIN; CREATE TABLE c (d)")
            try writer.run("INSERT INTO c SELECT hex(randomblob(500)) FROM generate_series(1, 200)")
            try FileManager.default.copyItem(atPath: other + "-journal", toPath: store + "-journal")
            writer.kill()
        }
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check", immutable: true) == "ok\n")
        return (moult, store, before)
    }

    @Test(arguments: ["-wal", "-journal"])
    func `every verb says that the store is sound without it, and what to do helps`(suffix: String) throws {
        let (moult, store, before) = try Self.besideStore(suffix)
        let model = ["--model", "Forum.xcdatamodeld"]
        var remedy = ""
        for verb in [["validate"], ["status"], ["plan"], ["migrate"], ["doctor"], ["repair"], ["inspect"], ["dump"]] {
            let result = try moult.run(Tool.path, verb + ["forum.sqlite"] + model)
            #expect(result.exit == (verb == ["doctor"] ? 1 : 4), "\(verb) \(result)")
            let said = result.output + result.errors
            #expect(said.contains("The store is sound without the \(suffix) next to it"), "\(verb) \(said)")
            #expect(!said.contains("salvage"), "\(verb) \(said)")
            remedy = said
        }
        #expect(FileManager.default.fileExists(atPath: store + suffix))
        let command = try #require(remedy.components(separatedBy: "away (").dropFirst().first).prefix { $0 != ")" }
        #expect(try moult.shell(String(command)).exit == 0)
        #expect(FileManager.default.fileExists(atPath: store + suffix + ".old"))
        #expect(try moult.run(Tool.path, ["validate", "forum.sqlite"] + model).exit == 0)
        #expect(try SQLiteShell.run(store, ".sha3sum") == before)
    }

    @Test func `a salvage says it too`() throws {
        let (moult, _, _) = try Self.besideStore("-wal")
        let result = try moult("salvage", "forum.sqlite", "saved.sqlite", "--model", "Forum.xcdatamodeld")
        #expect((result.output + result.errors).contains("The store is sound without the -wal"), "\(result)")
    }
}
