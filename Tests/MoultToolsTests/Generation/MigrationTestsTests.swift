import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// Files of tests that a person edits and Moult adds to.
@Suite("Generated tests of migrations")
struct MigrationTestsTests {
    private static let mark = "        // moult: "

    private static func versions(_ names: [String] = ["Forum", "Forum 2", "Forum 3"]) throws -> ModelVersions {
        let all = try ModelVersions(
            contentsOf: packageRoot.appendingPathComponent("Examples/Forum.xcdatamodeld").path)
        return ModelVersions(versions: all.versions.filter { names.contains($0.name) })
    }

    private static func tests(_ versions: ModelVersions) throws -> MigrationTests {
        let pairs = try versions.versions.indices.flatMap { to in
            try (0..<to).map { try MigrationTests.Pair(versions, from: $0, to: to) }
        }
        return MigrationTests(named: "Forum", ofModelAt: "Forum.xcdatamodeld", imports: [], pairs: pairs)
    }

    @Test func `each pair has what its mapping carries over, renames with both names, and nothing else`() throws {
        let text = try Self.tests(try Self.versions()).merged(into: nil, place: "").text
        let parts = text.components(separatedBy: Self.mark)
        #expect(parts.count == 5)
        let first = parts[1]
        let far = parts[2]
        #expect(first.hasPrefix("Forum → Forum 2, ") && far.hasPrefix("Forum → Forum 3, "))
        #expect(first.contains("\"Post.text as Post.body\""), "\(first)")
        #expect(text.contains("\"Thread as Topic\"") && !first.contains("Topic"), "\(text)")
        #expect(!first.contains("editedAt") && !first.contains("viewCount"), "\(first)")
    }

    @Test
    func `what a person has edited stays, what nobody has edited is written again, and new pairs are added`() throws {
        let before = try Self.tests(try Self.versions(["Forum", "Forum 2"])).merged(into: nil, place: "")
        #expect(before.fates == [.added])
        let whole = try Self.tests(try Self.versions())
        let added = try whole.merged(into: before.text, place: "")
        #expect(added.fates == [.unchanged, .added, .added])
        #expect(try added.text == whole.merged(into: nil, place: "").text)
        // One pair without a property, another by an older generator, and code of one's own.
        let edited = added.text.replacing("\"Post.text as Post.body\",", with: "", maxReplacements: 1)
            .replacing("TestStore(at: version", with: "TestStore(at: version, seed: 5")
        #expect(edited != added.text)
        let again = try whole.merged(into: edited, place: "")
        #expect(again.fates == [.edited, .unchanged, .unchanged] && again.text == edited)
        // A version that is gone takes the pairs that nobody has edited with it.
        let fewer = try Self.tests(try Self.versions(["Forum 2", "Forum 3"])).merged(into: edited, place: "")
        #expect(fewer.fates == [.unchanged])
        #expect(fewer.text.contains("// moult: Forum → Forum 2, ") && !fewer.text.contains("Forum → Forum 3, "))
    }

    @Test func `a file without a list of pairs is refused`() throws {
        let error = #expect(throws: MigrationError.self) {
            try Self.tests(try Self.versions()).merged(into: "import Testing\n", place: "Tests.swift")
        }
        #expect(error?.code == .wouldReplace && error?.place == "Tests.swift")
    }

}
