import Foundation
import TestSupport
import Testing

/// `moult mirror`, as scripts use it.
@Suite struct MirrorVerbTests {  // tier: long
    private func begun() throws -> Tool {
        let moult = try StoreVerbTests.besideForumStore()
        let start = try moult(
            "mirror", "start", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--at", "new.sqlite", "--json")
        #expect(start.exit == 0, "\(start.errors)")
        #expect(try start.document["state"] as? String == "mirroring")
        return moult
    }

    private static func error(_ result: Tool.Result, _ key: String) throws -> String {
        (try result.document["error"] as? [String: any Sendable])?[key] as? String ?? ""
    }

    @Test func `a mirror is begun, asked, brought up to date, verified and ended without naming the model again`()
        throws
    {
        let moult = try begun()
        let status = try moult("mirror", "status", "forum.sqlite", "--check", "--json")
        #expect(status.exit == 0, "\(status.errors)")
        #expect(try status.document["behind"] as? Bool == false)
        let all = try moult("mirror", "sync", "forum.sqlite", "--all", "--json")
        #expect(try all.document["inserted"] as? Int == 0)
        let verified = try moult("mirror", "verify", "forum.sqlite")
        #expect(verified.exit == 0, "\(verified.output)\(verified.errors)")
        #expect(verified.output.hasPrefix("Equal: "))
        #expect(try moult("status", "new.sqlite", "--model", "Forum.xcdatamodeld", "--check").exit == 0)
        #expect(try moult("mirror", "stop", "forum.sqlite").exit == 0)
        let ended = try moult("mirror", "sync", "forum.sqlite", "--json")
        #expect(ended.exit == 2)
        #expect(try Self.error(ended, "code") == "usage")
    }

    @Test func `a second store that is gone or was written to is an error with its place`() throws {
        let moult = try begun()
        let path = moult.folder.path + "/new.sqlite"
        _ = try SQLiteShell.run(path, "UPDATE ZPOST SET Z_OPT = 77 WHERE Z_PK = (SELECT min(Z_PK) FROM ZPOST)")
        let changed = try moult("mirror", "sync", "forum.sqlite", "--json")
        #expect(changed.exit == 3)
        #expect(try Self.error(changed, "code") == "mirrorDiverged")
        #expect(try Self.error(changed, "place").contains("ZPOST"))
        #expect(try moult("mirror", "verify", "forum.sqlite").exit == 1)
        #expect(try moult("mirror", "sync", "forum.sqlite", "--overwrite").exit == 0)
        #expect(try moult("mirror", "verify", "forum.sqlite").exit == 0)
        try FileManager.default.removeItem(atPath: path)
        let gone = try moult("mirror", "sync", "forum.sqlite", "--json")
        #expect(gone.exit == 4)
        #expect(try Self.error(gone, "place").hasSuffix("new.sqlite"))
        let nowhere = try moult("mirror", "status", "nowhere.sqlite", "--json")
        #expect(nowhere.exit == 4)
        #expect(try Self.error(nowhere, "code") == "fileNotFound")
    }

    @Test func `a store that follows and was migrated is named, not compared`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let start = try moult(
            "mirror", "start", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--to", "Forum 2", "--at", "new.sqlite")
        #expect(start.exit == 0, "\(start.errors)")
        let cut = try moult("mirror", "cutover", "forum.sqlite", "--accept-losses")
        #expect(cut.exit == 0, "\(cut.output)\(cut.errors)")
        #expect(try moult("migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        for words in [["cutover", "forum.sqlite", "--undo"], ["verify", "forum.sqlite"]] {
            let result = try moult.run(Tool.path, ["mirror"] + words + ["--json"])
            #expect(result.exit == 3)
            #expect(try Self.error(result, "code") == "mirrorDiverged")
            #expect(try Self.error(result, "message").contains("no longer of version Forum"))
        }
        #expect(try moult("mirror", "stop", "forum.sqlite").exit == 0)
    }

    @Test func `the record keeps the request, and one of an earlier version of Moult is still read`() throws {
        let moult = try begun()
        let path = moult.folder.path + "/forum.sqlite.moult/mirror.json"
        let json = try Data(contentsOf: URL(fileURLWithPath: path))
        var record = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let request = try #require(record["request"] as? [String: Any])
        let models = try #require(request["models"] as? [String: Any])
        let model = try #require(models["path"] as? String)
        #expect(model.hasPrefix("/") && model.hasSuffix("/Forum.xcdatamodeld"))
        // An earlier version of Moult finds the model by it.
        #expect(record["input"] as? [String: String] == ["model": model])
        record["request"] = nil
        record["input"] = ["model": model, "cloudkit": ""]
        try JSONSerialization.data(withJSONObject: record).write(to: URL(fileURLWithPath: path))
        let sync = try moult("mirror", "sync", "forum.sqlite", "--all", "--json")
        #expect(sync.exit == 0, "\(sync.errors)")
        #expect(try sync.document["inserted"] as? Int == 0)
        // What is no request is refused, and nothing is written.
        record["input"] = nil
        record["request"] = ["store": 1]
        let broken = try JSONSerialization.data(withJSONObject: record)
        try broken.write(to: URL(fileURLWithPath: path))
        let refused = try moult("mirror", "sync", "forum.sqlite", "--json")
        #expect(try Self.error(refused, "code") == "metadataInvalid")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == broken)
    }
}
