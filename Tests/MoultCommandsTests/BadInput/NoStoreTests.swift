import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

/// What a verb says of a path that names no store.
@Suite("What is no store")
struct NoStoreTests {  // tier: long
    @Test(arguments: [
        ("missing.sqlite", "Nothing is at missing.sqlite."), ("none/x.sqlite", "Nothing is at none/x.sqlite."),
        ("folder", "is a folder."), ("text", "does not begin like a SQLite database"), ("empty", "is empty."),
        ("fifo", "neither a file nor a folder."), ("/dev/null", "neither a file nor a folder."),
        ("Forum.xcdatamodeld", "is a model, not a store."), ("model.json", "is a model, not a store."),
        ("model.omo", "is a model, not a store."), ("Own.xcmappingmodel", "is a mapping model, not a store."),
        ("a\nline.sqlite", "Nothing is at a\\u{A}line.sqlite."),
    ])
    func `each kind is named, with the exit code of an unusable store`(path: String, message: String) throws {
        let moult = try Tool.besideForumModel()
        _ = try moult.run("mkfifo", ["fifo"])
        #expect(try moult("schema", "export", "exported", "--model", "Forum.xcdatamodeld").exit == 0)
        for (name, contents) in [("folder/x", ""), ("text", "Some words."), ("empty", ""), ("model.omo", "cut")] {
            let url = URL(fileURLWithPath: "\(moult.folder.path)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contents.utf8).write(to: url)
        }
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/exported/Forum 2.json", toPath: moult.folder.path + "/model.json")
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/Own.xcmappingmodel", withIntermediateDirectories: true)
        for verb in [["status"], ["migrate"], ["backup", "list"], ["runs"], ["salvage"]] {
            let isSalvage = verb == ["salvage"]
            // Whether something can be read of such a file only salvage itself finds out.
            if isSalvage, ["text", "empty"].contains(path) { continue }
            let result = try moult.run(Tool.path, verb + [path] + (isSalvage ? ["saved.sqlite"] : []))
            #expect(result.exit == 4 && result.output.isEmpty, "\(verb) \(result)")
            #expect(result.errors.contains(message), "\(verb) \(result)")
            #expect(!result.errors.split(separator: "\n").contains { $0.hasPrefix("line.sqlite") }, "\(result)")
        }
    }

    @Test func `a model that was named as a store is shown by the verb that the message names`() throws {
        let moult = try Tool.besideForumModel()
        let refused = try moult("inspect", "Forum.xcdatamodeld")
        #expect(refused.exit == 4 && refused.errors.contains("`moult hash Forum.xcdatamodeld` shows"), "\(refused)")
        #expect(try moult("hash", "Forum.xcdatamodeld").exit == 0)
        #expect(try moult("backup", "import", "Forum.xcdatamodeld", "copy.sqlite").errors.contains("is a model"))
        #expect(try moult("rollback", "Forum.xcdatamodeld", "--backups", ".").exit == 3)
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/Forum.xcdatamodeld.moult"))
    }

    @Test func `a folder without a mapping model is not taken for none being named`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for verb in ["plan", "migrate"] {
            let refused = try moult(
                verb, "forum.sqlite", "--model", "Forum.xcdatamodeld", "--mapping", "Forum.xcdatamodeld")
            #expect(refused.exit == 4 && refused.errors.contains("no mapping model"), "\(refused)")
        }
    }

    @Test(arguments: ["a b", "it's", "a\nb'c\\d\t\u{1B}e\u{7F}7é"])
    func `a path is one word of a shell, whatever is in it`(path: String) throws {
        let moult = Tool(folder: try ScratchFolder())
        let quoted = path.shellQuoted
        #expect(try moult.run("bash", ["-c", "printf %s \(quoted)"]).output == path)
        #expect(!quoted.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
}
