import Foundation
import MoultCommands
import TestSupport
import Testing

/// Standard output that cannot be written is said, and never taken for success.
@Suite("Standard output that takes nothing")
struct StandardOutputTests {  // tier: long
    /// A pipe whose last reader has gone before the command begins.
    private static let closedPipe = "mkfifo tmp/pipe; exec 9<>tmp/pipe 8>tmp/pipe 9>&-; "

    /// Each way with some verbs; each verb in each way in the tier.
    @Test(arguments: VerbExample.tried(oneIn: 3))
    func `a command says by its exit code that what it printed is not whole`(example: VerbExample) throws {
        // What is tried here is printing, and a trial of every moment prints no more.
        let command = example.command.replacingOccurrences(of: "--seconds 2", with: "--seconds 1")
            .replacingOccurrences(of: "--kill 3", with: "--kill 1")
        let plain = try example.fixture()
        let expected = try plain.shell(command)
        #expect(expected.exit == 0, "\(expected.errors)")
        let after = try plain.contents()
        let place = VerbExample.tried.firstIndex { $0.command == example.command } ?? 0
        let ways = [
            ("\(command) > /dev/full", 74), ("\(Self.closedPipe)\(command) >&8", 141), ("\(command) >&-", 74),
            ("\(command) 2> /dev/full", 0), ("\(command) 2>&-", 0),
        ]
        for (number, (line, code)) in ways.enumerated() where VerbExample.isTried(number - place, oneIn: ways.count) {
            let moult = try example.fixture()
            let result = try moult.shell(line)
            let isSilent = code != 0 && expected.output.isEmpty
            #expect(result.exit == (isSilent ? 0 : Int32(code)), "\(line): \(result.errors)")
            #expect(result.errors.contains("Standard output could not be written") == (code == 74 && !isSilent))
            if code == 0 { #expect(result.output.isEmpty == expected.output.isEmpty) }
            // The work is done, whoever reads of it.
            if !example.isFromNoStore { #expect(try moult.contents().count == after.count, "\(line)") }
        }
    }

    @Test(arguments: UsageTests.leaves + [""])
    func `help, versions and completions too`(path: String) throws {
        let moult = try Tool.besideForumModel()
        try FileManager.default.createDirectory(atPath: moult.folder.path + "/tmp", withIntermediateDirectories: false)
        let number = UsageTests.leaves.firstIndex(of: path) ?? 0
        for words in ["\(path) --help", "help \(path)"].filter({ _ in VerbExample.isTried(number, oneIn: 6) })
            + (path.isEmpty ? ["--version"] : [])
        {
            #expect(try moult.shell("moult \(words) > /dev/full").exit == 74, "\(words)")
            let unread = try moult.shell("rm -f tmp/pipe; \(Self.closedPipe)moult \(words) >&8")
            #expect(unread.exit == 141 && unread.errors.isEmpty, "\(words): \(unread)")
            #expect(try moult.shell("moult \(words) 2> /dev/full").exit == 0, "\(words)")
        }
    }

    @Test func `a command that fails says so, whether it can print or not`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult.shell("moult status nothing.sqlite --json > /dev/full").exit == 4)
        #expect(try moult.shell("moult > /dev/full").exit == 74)
    }
}
