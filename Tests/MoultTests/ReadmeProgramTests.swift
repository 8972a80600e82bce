import Foundation
import TestSupport
import Testing

/// The program of the README, which is Examples/Library/main.swift.
@Suite struct ReadmeProgramTests {
    @Test func `the program of the README is the one that is compiled, and has one import`() throws {
        let readme = try String(contentsOf: packageRoot.appendingPathComponent("README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        let file = packageRoot.appendingPathComponent("Examples/Library/main.swift")
        let program = try String(contentsOf: file, encoding: .utf8)
        #expect(blocks.contains(program))
        let lines = program.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 15 && lines.filter { $0.hasPrefix("import") } == ["import Moult"])
    }

    @Test func `it plans, migrates and rolls back`() throws {
        let forum = try ForumStore()
        let before = try forum.sql("SELECT Z_PK, ZTEXT, ZTHREAD FROM ZPOST")
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("library-example").path
        let output = forum.folder.path + "/output"
        let exit = try ChildProcess(
            program, output: .files(output: output, errors: output), folder: forum.folder.path
        ).wait()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(exit == 0)
        for line in ["Forum → Forum 2 → Forum 3", "Migrated to Forum 3; the backup is", "Back at Forum"] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(try forum.sql("SELECT Z_PK, ZTEXT, ZTHREAD FROM ZPOST") == before)
    }
}
