import Foundation
import MoultModel
import MoultSystem
import TestSupport
import Testing

struct POSIXSystemTests {
    let system = POSIXSystem()
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    @Test func `a copy equals its source, whatever its size`() throws {
        for size in [0, 1, 4096, 3_000_001] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try system.write(bytes, to: path("a\(size)"))
            try system.copy(path("a\(size)"), to: path("b\(size)"))
            #expect(FileManager.default.contentsEqual(atPath: path("a\(size)"), andPath: path("b\(size)")))
            #expect(throws: MigrationError.self) { try system.copy(path("a\(size)"), to: path("b\(size)")) }
        }
    }

    @Test func `a digest is what sha256sum prints`() throws {
        try system.write(Array("Moult\n".utf8), to: path("text"))
        let printed = try ChildProcess.run("sha256sum", [path("text")]).output
        #expect(try printed.hasPrefix(system.digest(of: path("text")).hexadecimal + " "))
    }

    @Test func `an atomic write replaces a file and leaves nothing beside it`() throws {
        try system.writeAtomically([1], to: path("file"))
        try system.writeAtomically([2, 3], to: path("file"))
        #expect(try system.read(path("file")) == [2, 3])
        #expect(try system.list(folder.path) == ["file"])
    }

    @Test func `a lock is refused while it is held and free afterwards`() throws {
        var held = try system.lock(path("lock"))
        #expect(held != nil)
        #expect(try system.lock(path("lock")) == nil)
        held = nil
        #expect(try system.lock(path("lock")) != nil)
    }

    @Test func `status tells size, links and kind, and nil where nothing is`() throws {
        try system.write([1, 2, 3], to: path("file"))
        #expect(link(path("file"), path("other")) == 0)
        let status = try #require(try system.status(of: path("file")))
        #expect((status.size, status.links, status.kind) == (3, 2, .file))
        #expect(try system.status(of: folder.path)?.kind == .folder)
        #expect(try system.status(of: path("nothing")) == nil)
        #expect(try system.status(of: path("file/below")) == nil)
    }

    @Test func `removing a tree does not follow a symbolic link`() throws {
        try system.makeFolder(path("kept"))
        try system.write([1], to: path("kept/file"))
        try system.makeFolder(path("gone"))
        try system.makeFolder(path("gone/deeper"))
        try system.write([1], to: path("gone/deeper/file"))
        #expect(symlink(path("kept"), path("gone/link")) == 0)
        try system.removeTree(path("gone"))
        #expect(try system.list(folder.path) == ["kept"])
        #expect(try system.list(path("kept")) == ["file"])
    }

    @Test func `a running process has a start time and a dead one has none`() throws {
        let own = try #require(system.startTime(ofProcess: system.processIdentifier))
        #expect(system.startTime(ofProcess: system.processIdentifier) == own)
        #expect(system.startTime(ofProcess: 1) != own)
        #expect(system.startTime(ofProcess: Int32.max) == nil)
    }

    @Test func `errors name the path and carry the system's words`() throws {
        let error = #expect(throws: MigrationError.self) { try system.read(path("nothing")) }
        #expect(error?.code == .fileNotFound)
        #expect(error?.place == path("nothing"))
        #expect(error?.cause == "No such file or directory")
    }
}

struct PathTests {
    @Test(arguments: [
        ("/a/b.sqlite", "b.sqlite", "/a", "b"), ("b.sqlite", "b.sqlite", ".", "b"), ("/b", "b", "/", "b"),
        ("/a/b/", "b", "/a", "b"), ("/", "/", "/", "/"), (".b", ".b", ".", ".b"), ("a//b.c.d", "b.c.d", "a", "b.c"),
    ])
    func `a path has a name, a folder and a stem`(path: String, name: String, folder: String, stem: String) {
        #expect(Path.name(of: path) == name)
        #expect(Path.folder(of: path) == folder)
        #expect(Path.stem(of: path) == stem)
    }
}

struct TimestampTests {
    @Test func `the texts are those of Foundation's formatter`() {
        for seconds in stride(from: Int64(-3_000_000_000), to: 8_000_000_000, by: 86_399 * 977) {
            let expected = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
            let timestamp = Timestamp(seconds: seconds)
            #expect(timestamp.iso8601 == expected)
            #expect(Timestamp(iso8601: expected) == timestamp)
        }
        #expect(Timestamp(seconds: 0).iso8601Basic == "19700101T000000Z")
        #expect(Timestamp(iso8601: "1970-01-01T00:00:01.5Z") == Timestamp(seconds: 1, nanoseconds: 500_000_000))
        #expect(Timestamp(iso8601: "yesterday") == nil)
    }
}
