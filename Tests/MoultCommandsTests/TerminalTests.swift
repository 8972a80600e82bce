import Foundation
import TestSupport
import Testing

/// A command on a terminal, with a person at the keys. Python makes the terminal.
@Suite("On a terminal")
struct TerminalTests {  // tier: long
    private static let person = """
        import fcntl, os, pty, select, struct, sys, termios
        columns, awaited, keys, program = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode(), sys.argv[4:]
        process, terminal = pty.fork()
        if process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execvp(program[0], program)
        seen = b""
        while True:
            if awaited and awaited in seen:
                os.write(terminal, keys)
                awaited = b""
            if not select.select([terminal], [], [], 25)[0]:
                break
            try:
                read = os.read(terminal, 4096)
            except OSError:
                break
            if not read:
                break
            seen += read
        sys.stdout.buffer.write(seen)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        """

    /// Runs a command on a terminal of that width, and types the keys when the awaited text has been shown.
    private func type(
        _ keys: String, after awaited: String, columns: Int = 80, _ moult: Tool, _ program: [String]
    ) throws -> Tool.Result {
        var terminal = moult
        // A server of tests may set these.
        terminal.environment.merge(["CI": "", "TERM": "xterm", "COLUMNS": "", "NO_COLOR": "1"]) { $1 }
        return try terminal.run(
            "/usr/bin/env", ["python3", "-c", Self.person, "\(columns)", awaited, keys] + program)
    }

    @Test(arguments: ["q", "\u{3}", "\n"])
    func `any other key ends the screen of a store at once`(key: String) throws {
        let moult = try StoreVerbTests.besideForumStore()
        // The shell shows that the terminal is as it was.
        let line = "'\(Tool.path)' forum.sqlite; echo code $?; stty -a | grep -o -e '-*icanon' -e '-*isig'"
        let result = try type(key, after: "b opens it", moult, ["/bin/bash", "-c", line])
        #expect(result.output.contains("code 0"), "\(result)")
        #expect(result.output.contains("isig") && !result.output.contains("-icanon"), "\(result)")
    }

    @Test func `b opens the page of the store with its model`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let bin = moult.folder.path + "/bin"
        #expect(try moult.shell("mkdir bin && cp '\(Tool.path)' bin/moult").exit == 0)
        try "#!/bin/sh\nprintf 'page of %s' \"$*\"\n".write(
            toFile: bin + "/moult-browse", atomically: true, encoding: .utf8)
        #expect(try moult.shell("chmod +x bin/moult-browse").exit == 0)
        let result = try type("b", after: "b opens it", moult, [bin + "/moult", "forum.sqlite"])
        #expect(result.exit == 0, "\(result)")
        let shown = try #require(result.output.range(of: "page of ")).upperBound
        #expect(result.output[shown...].contains("\"store\":\"forum.sqlite\""), "\(result)")
        #expect(result.output[shown...].contains("Forum.xcdatamodeld"), "\(result)")
    }

    @Test func `migrate shows the plan before it begins, and asks nothing`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try type(
            "", after: "", moult, [Tool.path, "migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld"])
        #expect(result.exit == 0, "\(result)")
        let lines = result.output.components(separatedBy: "\r\n")
        let plan = try #require(lines.firstIndex(of: "Forum → Forum 2 → Forum 3"))
        let done = try #require(lines.firstIndex { $0.contains("Migrated Forum → Forum 3") })
        #expect(plan < done && lines[plan + 1].hasPrefix("253 rows, "), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("Nothing is lost. It takes about") }, "\(lines)")
        // A pipe gets none of it.
        let piped = try StoreVerbTests.besideForumStore()
        let quiet = try piped("migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(!quiet.errors.contains("Nothing is lost"))
    }

    @Test func `text keeps to the width of the terminal`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        for words in [["help", "plan"], ["plan", "forum.sqlite"], ["backup", "--help"], []] {
            let result = try type("", after: "", columns: 50, moult, [Tool.path] + words)
            let lines = result.output.components(separatedBy: "\r\n")
            let long = lines.filter { $0.count > 50 && !$0.contains("moult ") }
            #expect(lines.count > 10 && long.allSatisfy { !$0.contains(". ") }, "\(long)")
            #expect(long.allSatisfy { $0.split(separator: " ").count <= 2 }, "\(words): \(long)")
        }
    }
}
