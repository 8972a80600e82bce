import Foundation
import TestSupport
import Testing

/// `moult reconstruct`, and fixtures of the shapes at tags.
@Suite("Reconstruct")
struct ReconstructVerbTests {  // tier: long
    private static let commit = "git -c user.name=T -c user.email=t@example.com commit -q -m A"

    /// A repository whose first two tags have shapes that the model no longer describes.
    private func besideRepository() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let forum = "Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let lines = [
            "mkdir aside", "mv Forum.xcdatamodeld/.xccurrentversion Forum.xcdatamodeld/Forum\\ [23].xcdatamodel aside",
            "git init -q", "git add Forum.xcdatamodeld", Self.commit, "git tag v1",
            "sed -i 's/name=\"subject\"/name=\"headline\"/' \(forum)", "git add Forum.xcdatamodeld", Self.commit,
            "git tag v2", "sed -i 's/name=\"headline\"/name=\"first\"/' \(forum)",
            "mv aside/.xccurrentversion aside/* Forum.xcdatamodeld", "git add Forum.xcdatamodeld", Self.commit,
            "git tag v3",
        ]
        let made = try moult.shell(lines.joined(separator: " && "))
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    @Test func `the shapes are printed with their tags, --check exits with 1, and --write ends it`() throws {
        let moult = try besideRepository()
        let open = try moult("reconstruct", "Forum.xcdatamodeld", "--tags", "v*", "--check")
        #expect(open.exit == 1, "\(open)")
        for line in ["3 tags, 5 shapes, 2 of them missing.", "Forum v1 (missing)", "Forum v2 (missing)", "Forum 3"] {
            #expect(open.output.contains(line), "\(line): \(open)")
        }
        #expect(open.output.contains("Nothing was written. With --write, the missing versions are."), "\(open)")
        let written = try moult("reconstruct", "Forum.xcdatamodeld", "--write", "--check")
        #expect(written.exit == 0 && written.output.contains("Wrote Forum v1, Forum v2 into"), "\(written)")
        #expect(try moult("lock", "Forum.xcdatamodeld", "--check").exit == 0)
        let document = try moult("reconstruct", "Forum.xcdatamodeld", "--json").document
        #expect((document["shapes"] as? [Any])?.count == 5 && document["written"] is NSNull)
        #expect(try moult("changelog", "Forum.xcdatamodeld").exit == 0)
    }

    @Test func `a fixture of each shape migrates, and the generated tests copy it`() throws {
        let moult = try besideRepository()
        let made = try moult(
            "fixture", "Fixtures", "--model", "Forum.xcdatamodeld", "--from-tags", "v*", "--rows", "Forum=2,User=4")
        #expect(made.exit == 0, "\(made)")
        // The edited Forum and Forum 2 were never current at a tag; versions of the model describe them.
        let names = ["Forum 2", "Forum 3", "Forum v1", "Forum v2", "Forum"]
        let stores = try FileManager.default.contentsOfDirectory(atPath: moult.folder.path + "/Fixtures")
            .filter { !$0.hasPrefix(".") }
        #expect(Set(stores) == Set(names.map { "\($0).sqlite" }))
        let unknown = try moult("status", "Fixtures/Forum v1.sqlite", "--model", "Forum.xcdatamodeld", "--json")
        #expect(try unknown.document["state"] as? String == "unknown")
        let write = try moult("reconstruct", "Forum.xcdatamodeld", "--stores", "Fixtures", "--write")
        #expect(write.exit == 0, "\(write)")
        for name in ["Forum v1", "Forum v2"] {
            let path = "Fixtures/\(name).sqlite"
            #expect(try SQLiteShell.run(moult.folder.path + "/" + path, "SELECT count(*) FROM ZUSER") == "4\n")
            let status = try moult("status", path, "--model", "Forum.xcdatamodeld", "--json")
            #expect(try status.document["version"] as? String == name)
        }
        // A folder of frozen stores is a model.
        let hashes = try moult("hash", "Fixtures", "--json").document["versions"] as? [String: Any]
        #expect(Set(hashes?.keys.map(\.self) ?? []) == Set(names))
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Fixtures/Forum 2.sqlite")
        let tests = try moult(
            "generate", "tests", "Forum.xcdatamodeld", "-o", "Tests", "--fixtures", "Fixtures", "--json")
        #expect(tests.exit == 0, "\(tests)")
        let text = try String(contentsOfFile: moult.folder.path + "/Tests/ForumMigrationTests.swift", encoding: .utf8)
        let copy = "try TestStore(copyOf: \"Fixtures\" + \"/\\(version).sqlite\", registry: registry())"
        #expect(text.contains(copy), "\(text)")
        let skipped = try tests.document["skipped"] as? [[String: Any]] ?? []
        #expect(skipped.contains { $0["reason"] as? String == "The folder has no store of the older version." })
        let missing = try moult("generate", "tests", "Forum.xcdatamodeld", "-o", "T", "--fixtures", "Nothing")
        #expect(missing.exit == 4 && !FileManager.default.fileExists(atPath: moult.folder.path + "/T"), "\(missing)")
    }

    @Test func `without git the error says what to install`() throws {
        var moult = try Tool.besideForumModel()
        moult.environment["PATH"] = moult.folder.path
        let result = try moult("reconstruct", "Forum.xcdatamodeld")
        #expect(result.exit == 2 && result.errors.contains("This needs git"), "\(result)")
        #expect(result.errors.contains("Install git.") && !result.errors.contains("--since"), "\(result)")
    }

    @Test func `wrong usage names the option and the model`() throws {
        let moult = try besideRepository()
        #expect(try moult("reconstruct").exit == 2)
        let misspelt = try moult("reconstruct", "Forum.xcdatamodeld", "--tag", "v*")
        #expect(misspelt.exit == 2 && misspelt.errors.contains("--tags"), "\(misspelt)")
        let pattern = try moult("reconstruct", "Forum.xcdatamodeld", "--tags", "release*")
        #expect(pattern.exit == 2 && pattern.errors.contains("no tag that matches release*"), "\(pattern)")
        let store = try moult("create", "a.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(store.exit == 0)
        let own = try moult("reconstruct", "a.sqlite")
        #expect(own.exit == 2 && own.errors.contains("in no model files"), "\(own)")
    }
}
