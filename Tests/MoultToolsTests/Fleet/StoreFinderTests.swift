import Foundation
import MoultBasics
import TestSupport
import Testing

@testable import MoultTools

@Suite("Finding the stores of a fleet")
struct StoreFinderTests {
    @Test
    func `a store is found by what it contains, once, whatever names lead to it; nothing else is listed`() throws {
        let ground = try FleetGround()
        let files = FileManager.default
        let plain = try ground.store("s/a/no-suffix")
        let deep = try ground.store("s/b/c/d/store.sqlite")
        try files.linkItem(atPath: plain, toPath: ground.path + "/s/hard")
        try files.createSymbolicLink(atPath: ground.path + "/s/soft", withDestinationPath: deep)
        try files.createSymbolicLink(atPath: ground.path + "/s/loop", withDestinationPath: ground.path + "/s")
        try files.createSymbolicLink(atPath: ground.path + "/s/dangling", withDestinationPath: "nowhere")
        try ground.store("s/a/no-suffix.moult/backups/1/store")
        try Data("SQLite format 3".utf8).write(to: URL(fileURLWithPath: ground.path + "/s/short"))
        try Data(repeating: 7, count: 5_000).write(to: URL(fileURLWithPath: ground.path + "/s/x.sqlite"))
        _ = try SQLiteShell.run(ground.path + "/s/other.db", "CREATE TABLE a (b)")
        _ = try ChildProcess.run("mkfifo", [ground.path + "/s/pipe"])
        let (path, summary) = try ground.plan(["\(ground.path)/s", "\(ground.path)/s/b", "\(ground.path)/s/*/c"])
        #expect(Set(try ground.entries(path).map(\.inode)).count == 2)
        #expect(try ground.entries(path).map(\.path).contains(deep))
        #expect(summary.stores == 2 && summary.repeated == 4)
        #expect(try ground.entries(path).flatMap(\.findings).map(\.code) == ["hard-linked"])
    }

    @Test func `a root that names nothing is an error, and a line of a list that does so is reported`() throws {
        let ground = try FleetGround()
        let store = try ground.store("one")
        #expect(throws: (any Error).self) { try ground.plan([ground.path + "/nothing"]) }
        let list = ground.path + "/list"
        try "\(store)\n\(ground.path)/gone\n".write(toFile: list, atomically: true, encoding: .utf8)
        let look = try StoreLook(ground.versions, target: nil)
        let summary = try FleetPlan(ground.manifest(), look: look, outlook: { _ in }).run([], lists: [list]) { _ in }
        #expect(summary.stores == 1 && summary.missedCount == 1)
        #expect(summary.missed.first?.place == ground.path + "/gone")
    }

    @Test func `a result that cannot be read is damaged, not missing`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/1.json"
        try Data().write(to: URL(fileURLWithPath: path))
        // More than is ever read of one.
        #expect(truncate(path, 6 << 30) == 0)
        #expect(try ShardFolder(folder.path, 0).contents().torn == [path])
    }

    @Test func `a damaged database is listed as unreadable, with the reason; one of no version as unknown`() throws {
        let ground = try FleetGround()
        let store = try ground.store("s/damaged")
        let file = try #require(FileHandle(forUpdatingAtPath: store))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 400))
        try file.close()
        let other = try ground.store("s/other")
        _ = try SQLiteShell.run(
            other, "UPDATE Z_METADATA SET Z_PLIST = replace(hex(Z_PLIST), hex('Forum'), hex('Farum'))")
        let entries = try ground.entries(ground.plan(["\(ground.path)/s"]).path)
        #expect(entries.map(\.state) == [.unreadable, .unreadable])
        #expect(entries.allSatisfy { !$0.findings.isEmpty })
    }

    @Test func `the stores of a device's backup have their names on the device`() throws {
        let ground = try FleetGround()
        let identifier = "31bb7ba8914766d4ba40d6dfb6113c8b614be442"
        try ground.store("b/31/\(identifier)")
        // Made by Python, as iTunes lays it out.
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            db.execute('CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)')
            db.execute('INSERT INTO Files VALUES (?, ?, ?, 1, NULL)', (sys.argv[2], 'AppDomain-org.forum', 'Library/forum.sqlite'))
            db.commit()
            """
        let made = try ChildProcess.run("python3", ["-c", script, ground.path + "/b/Manifest.db", identifier])
        #expect(made.exit == 0, "\(made.output)")
        let entries = try ground.entries(ground.plan(["\(ground.path)/b"]).path)
        #expect(entries.map(\.name) == ["AppDomain-org.forum/Library/forum.sqlite"])
        #expect(SharedFileSystem.refusal(of: entries[0], on: "ext4")?.code == .unsupported)
    }

    @Test func `planning changes no byte and no time of any file`() throws {
        let ground = try FleetGround()
        for number in 0..<5 { try ground.store("s/\(number)") }
        let look = ["-c", "cd '\(ground.path)/s' && find . -printf '%p %T@ %C@ %s\\n' | sort; sha256sum *"]
        let before = try ChildProcess.run("bash", look).output
        _ = try ground.plan(["\(ground.path)/s"])
        #expect(try ChildProcess.run("bash", look).output == before)
    }
}
