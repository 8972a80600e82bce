import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import TestSupport
import Testing

@testable import MoultTesting

/// What a power cut leaves, as POSIX promises it and not a bit more.
struct DiskModelTests {
    private static func root(_ folder: ScratchFolder) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path + "/disk", withIntermediateDirectories: true)
        return try POSIXSystem().resolve(folder.path + "/disk")
    }

    /// What lies in the folder after a cut at the last call of `body`.
    private static func cut(seed: UInt64 = 0, _ body: @escaping (FaultSystem, String) throws -> Void) throws -> [String:
        String]
    {
        let folder = try ScratchFolder()
        let root = try root(folder)
        try POSIXSystem().write(Array("old".utf8), to: root + "/there")
        let calls = try FaultDisk(root, nil)
        try calls.run { try body($0, root) }.get()
        for name in try POSIXSystem().list(root) { try POSIXSystem().removeTree(root + "/" + name) }
        try POSIXSystem().write(Array("old".utf8), to: root + "/there")
        let disk = try FaultDisk(root, Fault(.powerLoss, at: calls.operations.count, seed: seed))
        let result = try disk.run { try body($0, root) }
        #expect(throws: MigrationError.self) { try result.get() }
        let system = POSIXSystem()
        return try system.files(below: root).reduce(into: [:]) {
            $0[$1] = String(decoding: try system.read(root + "/" + $1), as: UTF8.self)
        }
    }

    @Test func `a name without its folder's synchronisation is gone, and so are contents without their own`() throws {
        let left = try Self.cut { system, root in
            try system.write(Array("new".utf8), to: root + "/named")
            try system.write(Array("new".utf8), to: root + "/both")
            try system.synchronise(root + "/both")
            try system.synchronise(root)
            try system.write(Array("new".utf8), to: root + "/nameless")
            try system.synchronise(root + "/nameless")
            try system.write(Array("newer".utf8), to: root + "/there")
            try system.setMode(0o600, of: root + "/there")
        }
        #expect(left == ["named": "", "both": "new", "there": "old"])
    }

    @Test func `a rename is whole or not at all`() throws {
        for seed in UInt64(0)..<40 {
            let left = try Self.cut(seed: seed) { system, root in
                try system.write(Array("new".utf8), to: root + "/part")
                try system.synchronise(root + "/part")
                try system.synchronise(root)
                try system.rename(root + "/part", to: root + "/there")
                try system.setMode(0o600, of: root + "/there")
            }
            #expect(left == ["there": "new"] || left == ["there": "old", "part": "new"], "seed \(seed)")
        }
    }

    @Test func `a renamed folder keeps what lies in it`() throws {
        let left = try Self.cut { system, root in
            try system.makeFolder(root + "/a.part")
            try system.write(Array("new".utf8), to: root + "/a.part/file")
            try system.synchronise(root + "/a.part/file")
            try system.synchronise(root + "/a.part")
            try system.rename(root + "/a.part", to: root + "/a")
            try system.synchronise(root)
            try system.setMode(0o600, of: root + "/there")
        }
        #expect(left == ["a/file": "new", "there": "old"])
    }

    @Test func `a name that a durable rename has taken away does not come back`() throws {
        for seed in UInt64(0)..<20 {
            let left = try Self.cut(seed: seed) { system, root in
                try system.makeFolder(root + "/a")
                try system.write(Array("new".utf8), to: root + "/made")
                try system.synchronise(root + "/made")
                try system.rename(root + "/made", to: root + "/a/made")
                // The one folder makes the rename durable, and the other comes later.
                try system.synchronise(root + "/a")
                try system.synchronise(root)
                try system.setMode(0o600, of: root + "/there")
            }
            #expect(left == ["a/made": "new", "there": "old"], "seed \(seed)")
        }
    }

    @Test func `every part of what was not synchronised may be there`() throws {
        var seen: Set<String> = []
        for seed in UInt64(0)..<60 {
            let left = try Self.cut(seed: seed) { system, root in
                try system.append([UInt8](repeating: UInt8(ascii: "x"), count: 1_024), to: root + "/there")
                try system.setMode(0o600, of: root + "/there")
            }
            seen.insert((left["there"] ?? "").replacingOccurrences(of: "\0", with: "_"))
        }
        #expect(seen.contains("old") && seen.contains("old" + String(repeating: "x", count: 1_024)))
        // A sector alone, with nothing or zeroes where the other would be.
        #expect(seen.contains { $0.contains("x") && $0.count { $0 == "x" } < 1_024 })
    }

    @Test func `a file and a folder have their permissions after a power cut, whatever became of their names`() throws {
        let folder = try ScratchFolder()
        let (root, system) = (try Self.root(folder), POSIXSystem())
        try system.write(Array("old".utf8), to: root + "/there")
        let disk = try FaultDisk(root, Fault(.powerLoss, at: 8))
        let result = try disk.run { system in
            try system.setMode(0o640, of: root + "/there")
            try system.makeFolder(root + "/made", .like(root + "/there"))
            try system.write([1], to: root + "/made/file", .like(root + "/there"))
            try system.synchronise(root + "/made")
            try system.rename(root + "/there", to: root + "/elsewhere")
            try system.synchronise(root)
            try system.write([1], to: root + "/own")
            try system.synchronise(root)
        }
        #expect(throws: MigrationError.self) { try result.get() }
        #expect(try system.list(root) == ["elsewhere", "made"])
        let modes = try ["elsewhere", "made", "made/file"].map { try system.status(of: "\(root)/\($0)")?.mode }
        #expect(modes == [0o640, 0o750, 0o640])
    }

    @Test func `SQLite's commits outlive a power cut, and a transaction is whole`() throws {
        for mode in ["DELETE", "WAL"] {
            for number in stride(from: 1, through: 80, by: 3) {
                let folder = try ScratchFolder()
                let root = try Self.root(folder)
                let path = root + "/store"
                _ = try SQLiteShell.run(
                    path, "PRAGMA journal_mode = \(mode); CREATE TABLE t (n); INSERT INTO t VALUES (0)")
                var acknowledged = 0
                let disk = try FaultDisk(root, Fault(.powerLoss, at: number, seed: UInt64(number % 7)))
                _ = try disk.run { _ in
                    let connection = try Connection(path, mode: .readWrite)
                    defer { connection.close() }
                    try connection.execute("PRAGMA synchronous = EXTRA")
                    for next in 1...4 {
                        try connection.execute("BEGIN; INSERT INTO t VALUES (\(next)), (\(next)); COMMIT")
                        acknowledged = next
                    }
                }
                #expect(disk.filesLeftOpen == 0)
                let left = try SQLiteShell.run(path, "PRAGMA integrity_check; SELECT count(*), max(n) FROM t")
                let allowed = [acknowledged, acknowledged + 1].map { "ok\n\($0 * 2 + 1)|\($0)\n" }
                #expect(allowed.contains(left), "\(mode), call \(number)")
            }
        }
    }
}
