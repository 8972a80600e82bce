import Foundation
import TestSupport
import Testing

/// Where a file is expected anything may lie: every command ends, says what it found, and changes nothing through it.
@Suite("What lies where a file is expected")
struct HostileFileTests {  // tier: long
    private static let example = VerbExample(verb: "status", command: "moult status forum.sqlite")

    /// Runs a command within a time and a memory in which no file is read that has no end.
    private func run(_ moult: Tool, _ arguments: String, as user: Int? = nil) throws -> Tool.Result {
        let prefix = user.map { "setpriv --reuid=\($0) --clear-groups " } ?? ""
        return try moult.shell("ulimit -v 4000000; \(prefix)timeout -s KILL 30 moult \(arguments)")
    }

    private func check(_ result: Tool.Result, _ moult: Tool, _ words: String) throws {
        #expect(result.exit < 70, "\(words): \(result)")
        if result.exit > 1 {
            let isSaid =
                (result.errors.contains("error: ") || result.errors.contains("warning: "))
                && result.errors.contains("→ ")
            #expect(
                isSaid || result.output.contains("remedy\":") || result.output.contains("otCoreData"),
                "\(words): \(result)")
        }
        let files = FileManager.default
        #expect(!files.fileExists(atPath: moult.folder.path + "/nothing"), "\(words) has made what a link leads to")
        let victim = files.contents(atPath: moult.folder.path + "/victim").map { String(decoding: $0, as: UTF8.self) }
        #expect(victim == nil || victim == "victim\n", "\(words) has written through a link")
    }

    @Test(arguments: HostileFile.allCases)
    func `as a store`(kind: HostileFile) throws {
        let examples = VerbExample.all.filter {
            $0.command.contains(" forum.sqlite") && !$0.isTrial && $0.verb != "schema export"
        }
        let shift = HostileFile.allCases.firstIndex(of: kind) ?? 0
        for (number, example) in examples.enumerated() where VerbExample.isTried(number + shift, oneIn: 16) {
            let moult = try Self.example.fixture()
            _ = try moult.shell("cp forum.sqlite kept.sqlite")
            try kind.make("forum.sqlite", moult)
            let before = try moult.shell("find . | sort").output
            let words = example.command.dropFirst("moult ".count)
            // Restoring is what a store that cannot be read is for.
            let isRestoring = ["rollback", "backup restore"].contains(example.verb)
            let result = try run(moult, String(words))
            try check(result, moult, "\(kind.rawValue): \(words)")
            let isOfRecords =
                ["runs", "log", "backup list", "backup verify", "backup export", "backup prune", "doctor"]
                .contains { example.verb == $0 } || example.verb.hasPrefix("quarantine")
            guard !isRestoring, !isOfRecords else { continue }
            #expect(result.exit != 0, "\(kind.rawValue): \(words): \(result)")
            if !["backup import", "mirror start"].contains(example.verb) {
                #expect(try moult.shell("find . | sort").output == before, "\(kind.rawValue): \(words)")
            }
        }
    }

    @Test(arguments: HostileInput.all, HostileFile.allCases)
    func `as an input, a record or external data`(input: HostileInput, kind: HostileFile) throws {
        // Six gigabytes of external data are copied like any other, where there is room.
        if input.path.contains("_EXTERNAL_DATA"), [.sparse, .unreadable].contains(kind) { return }
        let kinds = HostileFile.allCases
        let place = HostileInput.all.firstIndex { $0.path == input.path } ?? 0
        let first = (place * kinds.count + (kinds.firstIndex(of: kind) ?? 0)) * 10
        // Each kind comes to each sort of input: the parts and the number of kinds have no divisor in common.
        for (number, command) in input.commands.enumerated()
        where VerbExample.isTried(first + number, oneIn: input.commands.count < 3 ? 7 : 37) {
            // Each page of it is looked at, which takes longer than a command has here.
            if kind == .sparse, command.hasPrefix("salvage ") { continue }
            let moult = try Self.example.fixture()
            let before = try moult.contents()
            try kind.make(input.path, moult)
            let words = "\(input.testDescription) is \(kind.rawValue): \(command)"
            let result = try run(moult, command)
            try check(result, moult, words)
            // A copy of the store for the shell must not wait for a pipe either.
            try? FileManager.default.removeItem(atPath: moult.folder.path + "/" + input.path)
            if result.exit != 0 { #expect(try moult.contents() == before, "\(words)") }
        }
    }

    @Test(arguments: HostileInput.sideFiles)
    func `beside a store under the names of SQLite's own files`(input: HostileInput) throws {
        for (shift, kind) in [HostileFile.pipe, .folder, .device, .loop].enumerated() {
            for (number, command) in input.commands.enumerated() where VerbExample.isTried(number + shift, oneIn: 31) {
                let moult = try Self.example.fixture()
                let before = try moult.contents()
                try kind.make(input.path, moult)
                let result = try run(moult, command)
                try check(result, moult, "\(input.path) is \(kind.rawValue): \(command)")
                try? FileManager.default.removeItem(atPath: moult.folder.path + "/" + input.path)
                if result.exit != 0 { #expect(try moult.contents() == before, "\(kind.rawValue): \(command)") }
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `a file that this user may not read is called so`() throws {
        for (path, command) in [
            ("forum.sqlite", "status forum.sqlite"), ("forum.sqlite", "salvage forum.sqlite tmp/saved.sqlite"),
            ("in.rules.json", "validate forum.sqlite --model Forum.xcdatamodeld --rules in.rules.json"),
            ("plan.json", "migrate forum.sqlite --model Forum.xcdatamodeld --plan plan.json"),
            ("Forum.xcdatamodeld/Forum.xcdatamodel/contents", "hash Forum.xcdatamodeld"),
        ] {
            let moult = try Self.example.fixture()
            _ = try moult.shell("touch \(path); chmod -R a+rX .; chmod a+rwx tmp; chmod 0 \(path)")
            let result = try run(moult, command, as: 65_534)
            #expect(result.exit == 4 || result.exit == 3, "\(command): \(result)")
            #expect(result.errors.contains("ermission"), "\(command): \(result.errors)")
        }
    }

    @Test func `external data that is no plain file is a finding, and no copy is made through it`() throws {
        for kind in [HostileFile.pipe, .folder, .device, .loop, .link] {
            let moult = try Self.example.fixture()
            try kind.make(".forum_SUPPORT/_EXTERNAL_DATA/BBBBBBBB", moult)
            let found = try run(moult, "validate forum.sqlite --model Forum.xcdatamodeld")
            #expect(found.exit == 1 && (found.output + found.errors).contains("BBBBBBBB"), "\(kind): \(found)")
            #expect(try moult.shell("grep -r victim forum.sqlite.moult").output.isEmpty)
            if kind != .folder { #expect(try run(moult, "backup create forum.sqlite").exit != 0, "\(kind)") }
            #expect(try moult.shell("grep -r victim forum.sqlite.moult").output.isEmpty)
        }
    }
}
