import Foundation
import MoultBasics
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// A small store in a folder of its own, made by the sqlite3 shell.
final class EngineFixture: Sendable {
    let folder: ScratchFolder
    let store: String

    /// - Parameters:
    ///   - isWAL: whether the rows lie in a WAL that a dead process left, not yet in the store's own file.
    init(rows: Int = 1_000, isWAL: Bool = false, hash: UInt8 = 1) throws {
        folder = try ScratchFolder()
        store = folder.path + "/Forum data.sqlite"
        let writer = try SQLiteProcess(store)
        let complaint = try writer.run(
            """
            PRAGMA auto_vacuum = 2; PRAGMA journal_mode = \(isWAL ? "WAL" : "DELETE"); PRAGMA wal_autocheckpoint = 0;
            BEGIN;
            CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATE FLOAT, ZNAME VARCHAR, ZDATA BLOB );
            CREATE INDEX ZITEM_ZNAME_INDEX ON ZITEM (ZNAME);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            INSERT INTO ZITEM SELECT value, 1, 1, value / 7.0, 'Item ' || value, zeroblob(value % 90)
                FROM generate_series(1, \(rows));
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Item', 0, \(rows));
            INSERT INTO Z_METADATA VALUES (1, 'FE8EA8F2-2D16-4A0A-8AD4-4C8A4D9D6F36', \(Self.metadata(hash: hash)));
            COMMIT
            """)
        #expect(
            complaint.hasSuffix(isWAL ? "wal\n0\n" : "delete\n0\n") || complaint == (isWAL ? "wal\n0\n" : "delete\n0\n")
        )
        if isWAL { writer.kill() } else { writer.end() }
    }

    /// A store of the first of ``KillableVersions`` made by Moult's own writer: `rows` items, each with a link.
    ///
    /// - Parameter isWAL: whether the last rows lie in a WAL that a dead process left.
    init(killable rows: Int, isWAL: Bool) throws {
        folder = try ScratchFolder()
        store = folder.path + "/Forum data.sqlite"
        let maker = try StoreCreator(KillableVersions.make().versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: rows / 2, counts: ["Author": 3], isHostile: false).fill(writer)
        try writer.finish()
        guard isWAL else { return }
        let last = try SQLiteProcess(store)
        _ = try last.run("PRAGMA wal_autocheckpoint = 0; UPDATE ZITEM SET ZNAME = 'in the log' WHERE Z_PK % 50 = 0")
        last.kill()
    }

    /// A metadata list with one entity's version hash, as an SQL literal.
    static func metadata(hash: UInt8) -> String {
        let list = PropertyList.dictionary([
            "NSStoreModelVersionHashes": .dictionary(["Item": .data([UInt8](repeating: hash, count: 32))]),
            "Kept": .string("of the application"),
        ])
        return "x'\(list.binary.map { String(format: "%02x", $0) }.joined())'"
    }

    var sidecar: String { store + ".moult" }

    /// The sqlite3 shell's hash over all rows of all tables, in a copy, so that looking heals nothing.
    func logicalHash() throws -> String {
        let copy = try ScratchFolder()
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy.path + "/store" + suffix)
        }
        let path = copy.path + "/store"
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
        return try SQLiteShell.run(path, ".sha3sum --schema")
    }

    /// The names in the sidecar, and those of unfinished backups.
    func sidecarNames() throws -> [String] {
        let backups = (try? FileManager.default.contentsOfDirectory(atPath: sidecar + "/backups")) ?? []
        return try (FileManager.default.contentsOfDirectory(atPath: sidecar) + backups.filter { $0.hasPrefix(".") })
            .sorted()
    }

    /// Everything beside the store that holds bytes, but for the sidecar.
    func namesBeside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0 != "Forum data.sqlite" && $0 != "Forum data.sqlite.moult"
        }.sorted()
    }

    func shell(_ sql: String) throws -> String { try SQLiteShell.run(store, sql) }
}

/// The helper process of the tests.
final class EngineChild {
    let process: ChildProcess
    private var text = ""

    /// - Parameter phase: where the child stops itself and waits to be killed.
    init(_ verb: String, _ store: String, stoppingAt phase: String? = nil, seed: UInt64? = nil) throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process = try ChildProcess(
            folder.appendingPathComponent("engine-child").path,
            [verb, store] + (phase.map { [$0] } ?? seed.map { ["\($0)"] } ?? []), output: .readOutputOnly)
    }

    /// Waits until the child has printed the line, or has ended.
    func wait(for line: String) {
        while !text.hasPrefix(line + "\n"), !text.contains("\n\(line)\n") {
            let bytes = process.readSome()
            if bytes.isEmpty { return }
            text += String(decoding: bytes, as: UTF8.self)
        }
    }

    /// All that the child prints until it ends.
    func output() -> String {
        while true {
            let bytes = process.readSome()
            guard !bytes.isEmpty else { return text }
            text += String(decoding: bytes, as: UTF8.self)
        }
    }

    func kill() { process.kill() }

    func end() -> Int32 { process.wait() }
}
