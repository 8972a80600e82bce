import Foundation
import MoultCoreData
import MoultTesting
import TestSupport
import Testing

/// The tests that `forum-reader generate tests` has written.
@Suite("Generated tests of Forum") struct GeneratedTestsTests {
    /// Makes the users of version 3 from everything that version 2 says of them, and forgets it: the engine refuses only
    /// a policy that has not read what would be lost.
    private final class ForgetfulPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard source["userID"] != nil else {
                source.outcome = .quarantined(reason: "The user has no userID.")
                return
            }
            let user = try manager.makeDestinationInstance(forSource: source)
            for name in ["username", "realName", "customTitleHTML", "avatarURL", "lastModifiedDate"] {
                _ = source[name]
            }
            user["username"] = "forgotten"
            for flag in ["administrator", "moderator"] { user[flag] = source[flag] ?? false }
        }
    }

    @Test func `a broken policy turns exactly the pairs red whose way leads over it`() throws {
        var registry = try ForumReaderMigrationTests.registry()
        registry.register(policy: { ForgetfulPolicy() }, named: "UserMigrationPolicy")
        let losses = try ForumReaderMigrationTests.pairs.map { pair in
            (pair, try ForumReaderMigrationTests.store(pair.from, registry: registry).migrate(pair))
        }
        let red = losses.filter { !$0.1.isEmpty }
        let over = ForumReaderMigrationTests.pairs.filter {
            ["ForumReader", "ForumReader 2"].contains($0.from) && ["ForumReader 3", "ForumReader 4"].contains($0.to)
        }
        #expect(over.count == 4 && red.map(\.0) == over, "\(red)")
        #expect(red.allSatisfy { $0.1.contains { $0.hasPrefix("User.username: ") } }, "\(red)")
    }

    @Test func `generating them again changes nothing, whatever was edited`() throws {
        let tool = try ExampleTool("forum-reader")
        let path = packageRoot.appendingPathComponent("Examples/Forum/Tests/ForumReaderMigrationTests.swift").path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let copy = tool.folder.path + "/ForumReaderMigrationTests.swift"
        try text.write(toFile: copy, atomically: true, encoding: .utf8)
        let made = try tool("generate", "tests", "--name", "ForumReader", "--registry", "ForumMigrations.registry()")
        #expect(made.exit == 0, "\(made.output)")
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == text, "\(made.output)")
    }
}
