import Foundation
import MoultBasics
import MoultModel
import Synchronization
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

    @Test func `a copy has the holes of its source, at the same places`() throws {
        for (name, pieces) in [("holes", [0, 4 << 20]), ("begins", [3 << 20]), ("empty", [])] {
            try system.write([], to: path(name))
            #expect(truncate(path(name), 64 << 20) == 0)
            for place in pieces {
                let file = try #require(FileHandle(forUpdatingAtPath: path(name)))
                try file.seek(toOffset: UInt64(place))
                try file.write(contentsOf: Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 7 + place) }))
                try file.close()
            }
            try system.copy(path(name), to: path(name + " copy"))
            #expect(FileManager.default.contentsEqual(atPath: path(name), andPath: path(name + " copy")))
            var record = stat()
            #expect(stat(path(name + " copy"), &record) == 0 && record.st_blocks * 512 < 1 << 20)
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func `the room for large sorts is looked for where SQLite writes them`() throws {
        let (first, second, missing) = (path("first"), path("second"), path("missing"))
        for folder in [first, second] { try system.makeFolder(folder) }
        for environment in [
            ["SQLITE_TMPDIR": first, "TMPDIR": second], ["SQLITE_TMPDIR": missing, "TMPDIR": second],
            ["SQLITE_TMPDIR": "", "TMPDIR": missing],
        ] {
            let shell = try SQLiteProcess(":memory:", environment: environment)
            try shell.run(
                """
                PRAGMA temp.cache_size = 1;
                CREATE TEMP TABLE t AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000)
                SELECT zeroblob(1000) FROM n
                """)
            let descriptors = "/proc/\(shell.identifier)/fd"
            let open = try FileManager.default.contentsOfDirectory(atPath: descriptors).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
            }
            let folder = try system.resolve(POSIXSystem.sortingFolder { environment[$0] })
            #expect(open.contains { $0.hasPrefix(folder + "/etilqs_") }, "\(environment): \(open)")
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

/// What other users may find, or may have put, where files are made and read.
struct SharedFolderTests {
    private struct LaterSystem: ForwardingSystem {
        var now: Timestamp { Timestamp(seconds: real.now.seconds + 3_600) }
    }

    let system = POSIXSystem()
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func mode(_ name: String) throws -> UInt32? { try system.status(of: path(name))?.mode }

    @Test func `what is made is this user's alone, or for the readers of another file`() throws {
        try system.write([1], to: path("own"))
        try system.append([1], to: path("added"))
        try system.makeFolder(path("folder"))
        try system.copy(path("own"), to: path("copy"))
        _ = try system.lock(path("lock"))
        for name in ["own", "added", "copy", "lock"] { #expect(try mode(name) == 0o600) }
        #expect(try mode("folder") == 0o700)
        for (given, file, inner) in [
            (0o640, 0o640, 0o750), (0o664, 0o664, 0o775), (0o400, 0o600, 0o700), (0o755, 0o644, 0o755),
        ] {
            let rights = FileRights.like(path("own"))
            try system.setMode(UInt32(given), of: path("own"))
            for name in ["file", "made", "inner", "other"] { try system.remove(path(name)) }
            try system.write([1], to: path("file"), rights)
            try system.makeFile(path("made"), rights)
            try system.makeFolder(path("inner"), rights)
            try system.copy(path("folder/../copy"), to: path("other"), rights)
            for name in ["file", "made", "other"] { #expect(try mode(name) == UInt32(file)) }
            #expect(try mode("inner") == UInt32(inner))
        }
        try system.write([1], to: path("alone"), .like(path("nothing")))
        #expect(try mode("alone") == 0o600)
    }

    @Test func `nothing is written through a link, and nothing is read below a sidecar through one`() throws {
        try system.write([7], to: path("victim"))
        #expect(symlink(path("victim"), path("link")) == 0)
        #expect(throws: MigrationError.self) { try system.write([1], to: path("link")) }
        #expect(throws: MigrationError.self) { try system.append([1], to: path("link")) }
        #expect(throws: MigrationError.self) { try system.lock(path("link")) }
        #expect(throws: MigrationError.self) { try system.makeFile(path("link"), .own) }
        #expect(throws: MigrationError.self) { try system.copy(path("link"), to: path("copy")) }
        #expect(try system.read(path("link")) == [7])
        try system.makeFolder(path("a.sqlite.moult"))
        #expect(symlink(path("victim"), path("a.sqlite.moult/log.txt")) == 0)
        #expect(symlink(folder.path, path("a.sqlite.moult/backups")) == 0)
        #expect(symlink(folder.path, path("b.sqlite.moult")) == 0)
        for name in ["a.sqlite.moult/log.txt", "a.sqlite.moult/backups/victim", "b.sqlite.moult/victim"] {
            let error = #expect(throws: MigrationError.self) { try system.read(path(name)) }
            #expect(error?.code == .fileNotReadable && error?.message.contains("symbolic link") == true)
            #expect(throws: MigrationError.self) { try system.write([1], to: path(name)) }
        }
        #expect(try system.read(path("victim")) == [7])
    }

    @Test func `a pipe, a device and a folder are no files, and nobody waits for them`() throws {
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        for path in [path("pipe"), "/dev/zero", folder.path] {
            let error = #expect(throws: MigrationError.self) { try system.read(path) }
            #expect(error?.code == .fileNotReadable && error?.place == path)
            #expect(throws: MigrationError.self) { try system.digest(of: path) }
            #expect(throws: MigrationError.self) { try system.append([1], to: path) }
            #expect(throws: MigrationError.self) { try system.lock(path) }
            #expect(throws: MigrationError.self) { try system.copy(path, to: self.path("copy")) }
        }
    }

    @Test func `a file that is larger than the limit is not read`() throws {
        try system.write([1, 2, 3], to: path("file"))
        #expect(try system.read(path("file"), limit: 3) == [1, 2, 3])
        let error = #expect(throws: MigrationError.self) {
            try system.read(path("file"), limit: 2, as: .metadataInvalid)
        }
        #expect(error?.code == .metadataInvalid && error?.message.contains("3 bytes") == true)
        #expect(truncate(path("file"), 6 << 30) == 0)
        #expect(throws: MigrationError.self) { try system.read(path("file")) }
        // What /proc shows has no size.
        #expect(try !system.read("/proc/self/stat").isEmpty)
    }

    @Test func `a dead process's temporary folder goes, and never that of a living one`() throws {
        let living = try TemporaryFolder("rehearsal", in: folder.path, system)
        // The lock is in the folder, and goes with the process.
        for (name, hasLock) in [
            ("moult-rehearsal-dead", true), ("moult-probe-begun", false), ("other", true),
            // What earlier versions have left: they removed the lock before the data.
            ("moult-probe-0123456789abcdef", false),
        ] {
            try system.makeFolder(path(name))
            try system.write([1], to: path(name + "/source"))
            if hasLock { try system.write([], to: path(name + "/.moult-lock")) }
        }
        #expect(symlink(folder.path, path("moult-test-link")) == 0)
        try TemporaryFolder("test", in: folder.path, system).remove()
        #expect(try system.exists(path("moult-rehearsal-dead")))
        try TemporaryFolder("test", in: folder.path, LaterSystem()).remove()
        let left = ["moult-probe-begun", Path.name(of: living.path), "moult-test-link", "other"]
        #expect(try system.list(folder.path) == left.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        living.remove()
        #expect(try !system.exists(living.path))
    }

    @Test func `a process that dies while it removes its folder leaves nothing that the next one does not remove`()
        throws
    {
        for count in 0..<7 {
            do {
                let dead = try TemporaryFolder("probe", in: folder.path, DyingSystem(removals: count))
                // Some of the names come before that of the lock, and some after it.
                for name in ["-journal", ".data", "store", "store-wal"] {
                    try system.write([1], to: dead.path + "/" + name)
                }
                dead.remove()
                // As long as there is data, the lock says whose it is.
                let left = try system.exists(dead.path) ? system.list(dead.path) : []
                #expect(left.isEmpty || left.contains(".moult-lock"), "after \(count) removals: \(left)")
            }
            try TemporaryFolder("test", in: folder.path, LaterSystem()).remove()
            #expect(try system.list(folder.path) == [], "after \(count) removals")
        }
    }

    /// A machine on which nothing is removed any more after so many removals.
    private final class DyingSystem: ForwardingSystem {
        private let left: Mutex<Int>

        init(removals: Int) { left = Mutex(removals) }

        func remove(_ path: String) throws -> Bool {
            let isAlive = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard isAlive else { throw MigrationError.system("remove", path, error: EIO) }
            return try real.remove(path)
        }
    }

    @Test func `a name that is taken is not replaced, whatever has it`() throws {
        let folder = try ScratchFolder()
        let system = POSIXSystem()
        let (file, taken) = (folder.path + "/file", folder.path + "/taken")
        try system.write(Array("new".utf8), to: file)
        try system.write(Array("old".utf8), to: taken)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "nowhere")
        try system.makeFolder(folder.path + "/empty")
        for name in ["taken", "link", "empty"] {
            let error = #expect(throws: MigrationError.self) {
                try system.rename(file, toUnused: folder.path + "/" + name)
            }
            #expect(error?.code == .usage && error?.message.contains(name) == true)
        }
        #expect(try system.read(taken) == Array("old".utf8))
        #expect(throws: MigrationError.self) { try system.rename(folder.path + "/empty", toUnused: taken) }
        try system.rename(file, toUnused: folder.path + "/free")
        #expect(try system.read(folder.path + "/free") == Array("new".utf8) && !system.exists(file))
        try system.rename(folder.path + "/empty", toUnused: folder.path + "/folder")
        #expect(try system.list(folder.path) == ["folder", "free", "link", "taken"])
    }

    @Test func `an error of the disk, a full one and a full table of files are called by their names`() {
        #expect(
            MigrationError.system("read", "x", error: EIO).message == "The disk failed while Moult tried to read x.")
        #expect(MigrationError.system("make", "x", error: ENOSPC).code == .insufficientStorage)
        #expect(MigrationError.system("make", "x", error: EDQUOT).code == .insufficientStorage)
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
