import Foundation
import TestSupport
import Testing

/// What is made from a store is no more readable than the store, wherever it lies and however the process ends.
@Suite("Permissions of what verbs make")
struct PermissionTests {  // tier: long
    /// Every file and folder below that somebody else may use in any way, but for the example's inputs.
    private static func readable(_ moult: Tool) throws -> [String] {
        let found = try moult.shell("find . -mindepth 1 -perm /077 ! -path './Forum.*' -printf '%m %P\\n'")
        return found.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: VerbExample.tried(oneIn: 2).filter { !$0.isFromNoStore })
    func `nothing that a verb makes of a store is for more readers than the store`(example: VerbExample) throws {
        let moult = try example.fixture()
        #expect(try Self.readable(moult) == [])
        let result = try moult.shell(example.command)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try Self.readable(moult) == [])
    }

    private static let long = VerbExample.tried(oneIn: 2).filter { example in
        [
            "migrate", "salvage", "mirror start", "backup create", "backup export", "doctor", "test", "rollback",
            "repair",
        ]
        .contains(example.verb)
    }

    @Test(arguments: long)
    func `and neither is what a process leaves that is killed`(example: VerbExample) throws {
        let moult = try example.fixture()
        let begun = Date()
        #expect(try moult.shell(example.command).exit == 0)
        let whole = Date().timeIntervalSince(begun)
        var random = SeededGenerator.ofRun(example.command)
        for _ in Tier.faults.rounds(quick: 1, full: 200, sharedBy: Self.long.count) {
            let moult = try example.fixture()
            let after = String(format: "%.3f", Double.random(in: 0...min(whole, 3), using: &random))
            _ = try moult.shell("timeout -s KILL \(after) " + example.command)
            let readable = try Self.readable(moult)
            #expect(readable == [], "after \(after) s, MOULT_SEED=\(SeededGenerator.seedOfRun)")
        }
    }

    @Test func `the records of a store that several users share are for all of them`() throws {
        let example = try #require(VerbExample.all.first { $0.verb == "status" })
        let moult = try example.fixture()
        let line =
            "rm -r forum.sqlite.moult; chmod 664 forum.sqlite; moult migrate forum.sqlite --model Forum.xcdatamodeld"
        #expect(try moult.shell(line).exit == 0)
        let modes = try moult.shell("cd forum.sqlite.moult && stat -c '%a %n' . lock log.txt runs.jsonl backups")
        #expect(modes.output == "775 .\n664 lock\n664 log.txt\n664 runs.jsonl\n775 backups\n")
    }

    @Test func `an older folder beside a store is closed for those who may not read the store`() throws {
        let example = try #require(VerbExample.all.first { $0.verb == "status" })
        let moult = try example.fixture()
        let line = "chmod 755 forum.sqlite.moult; moult migrate forum.sqlite --model Forum.xcdatamodeld"
        #expect(try moult.shell(line).exit == 0)
        #expect(try moult.shell("stat -c %a forum.sqlite.moult").output == "700\n")
    }

    @Test(.enabled(if: geteuid() == 0))
    func `what root makes beside a store of somebody else belongs to that user`() throws {
        let makers = ["migrate", "rollback", "mirror start", "salvage"]
        for example in VerbExample.tried where makers.contains(example.verb) {
            let moult = try example.fixture()
            _ = try moult.shell("chown -R 12345:12345 .")
            let result = try moult.shell(example.command)
            #expect(result.exit == 0, "\(result.errors)")
            let others = try moult.shell("find . -mindepth 1 ! -path './tmp/*' \\( ! -uid 12345 -o ! -gid 12345 \\)")
            #expect(others.output == "", "\(example.command)")
        }
    }
}
