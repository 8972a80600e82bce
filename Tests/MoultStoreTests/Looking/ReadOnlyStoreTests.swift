import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

struct ReadOnlyStoreTests {
    let folder: ScratchFolder
    let scratch: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        scratch = try ScratchFolder()
    }

    private func path(_ name: String = "a.sqlite") -> String { folder.path + "/" + name }
    private func probe(_ path: String) throws -> ReadOnlyStore { try ReadOnlyStore(path, folder: scratch.path) }

    private static let tables =
        "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY); CREATE TABLE Z_PRIMARYKEY (x); CREATE TABLE Z_METADATA (x);"

    /// Every file of a folder with all that a look could change: its bytes, its inode and its times but the last access.
    /// SQLite gives a log to the owner of the store if it runs as root, which sets the time when its metadata changed.
    private func record(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            var status = stat()
            #expect(stat(folder + "/" + name, &status) == 0)
            let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
            #if canImport(Darwin)
                let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
            #else
                let (modified, changed) = (status.st_mtim, status.st_ctim)
            #endif
            let isGiven = name.hasSuffix("-wal") && geteuid() == 0
            let time =
                "\(modified.tv_sec).\(modified.tv_nsec) \(isGiven ? "" : "\(changed.tv_sec).\(changed.tv_nsec)")"
            return "\(name) \(status.st_ino) \(time) \(bytes.count) \(bytes.hashValue)"
        }
    }

    @Test func `a store at rest is read where it lies`() throws {
        _ = try SQLiteShell.run(path(), Self.tables + "INSERT INTO ZA VALUES (1)")
        let before = try record(folder.path)
        let probe = try probe(path())
        #expect(probe.way == .immutable)
        #expect(try probe.connection.integer("SELECT count(*) FROM ZA") == 1)
        #expect(probe.isUndisturbed)
        #expect(try record(folder.path) == before)
        _ = try SQLiteShell.run(path(), "INSERT INTO ZA VALUES (2)")
        #expect(!probe.isUndisturbed)
    }

    @Test func `rows that lie in the WAL of a process that runs are seen and nothing changes`() throws {
        let writer = try SQLiteProcess(path())
        try writer.run("PRAGMA journal_mode = WAL; \(Self.tables) INSERT INTO ZA VALUES (1), (2);")
        let before = try record(folder.path)
        #expect(before.count == 3)
        let probe = try probe(path())
        #expect(probe.way == .privateCopy)
        #expect(try probe.connection.integer("SELECT count(*) FROM ZA") == 2)
        probe.close()
        #expect(try record(folder.path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test func `a WAL that a dead process left is read and stays`() throws {
        let writer = try SQLiteProcess(path())
        try writer.run("PRAGMA journal_mode = WAL; \(Self.tables) INSERT INTO ZA VALUES (1), (2), (3);")
        writer.kill()
        let before = try record(folder.path)
        #expect(
            try ReadOnlyStore.read(path(), folder: scratch.path) {
                try $0.connection.integer("SELECT count(*) FROM ZA")
            } == 3)
        #expect(try record(folder.path) == before)
    }

    @Test func `metadata in the log of a dead process is read without a copy, and changes nothing`() throws {
        func metadata() -> StoreMetadata? {
            ReadOnlyStore.metadata(besideLogOf: path(), system: POSIXSystem())
        }
        let plist = PropertyList.dictionary(["Kept": .string("in the log")]).binary.hexadecimal
        let table = "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"
        _ = try SQLiteShell.run(path(), "PRAGMA journal_mode = WAL; \(table)")
        // Without a log there is no need for it.
        #expect(metadata() == nil)
        let writer = try SQLiteProcess(path())
        try writer.run("PRAGMA wal_autocheckpoint = 0; INSERT INTO Z_METADATA VALUES (1, 'U', x'\(plist)')")
        // As long as a process has the store open, it is not to be locked.
        #expect(metadata() == nil)
        writer.kill()
        for hasIndex in [true, false] {
            if !hasIndex { try FileManager.default.removeItem(atPath: path() + "-shm") }
            let before = try record(folder.path)
            #expect(before.count == (hasIndex ? 3 : 2))
            #expect(metadata() == StoreMetadata(uuid: "U", entries: ["Kept": .string("in the log")]))
            #expect(try record(folder.path) == before)
        }
        #expect(try SQLiteShell.run(path(), "SELECT count(*) FROM Z_METADATA") == "1\n")
    }

    @Test func `an error of a private copy names the store`() throws {
        let app = try Connection(path(), mode: .create)
        try app.execute("PRAGMA journal_mode = WAL; " + Self.tables)
        let probe = try probe(path())
        #expect(probe.way == .privateCopy && probe.connection.path != path())
        let errors = [
            { _ = try probe.connection.integer("SELECT nothing FROM ZA") },
            { _ = try StoreMetadata(from: probe.connection) },
            { _ = try StoreSnapshot(probe.connection) },
        ].map { work in #expect(throws: MigrationError.self) { try work() } }
        for error in errors {
            #expect(error?.place.contains(scratch.path) == false && error?.message.contains(scratch.path) == false)
        }
        #expect(errors[0]?.place.contains(path()) == true)
    }

    @Test func `a hot journal hides what was not committed, and stays`() throws {
        _ = try SQLiteShell.run(path(), Self.tables + "INSERT INTO ZA VALUES (1)")
        let writer = try SQLiteProcess(path())
        // A cache this small makes SQLite write pages before the end of the transaction.
        try writer.run(
            """
            PRAGMA cache_size = 1; BEGIN; CREATE TABLE b (v);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO b SELECT randomblob(500) FROM n; INSERT INTO ZA VALUES (2);
            """)
        writer.kill()
        let before = try record(folder.path)
        #expect(before.count == 2)
        let probe = try probe(path())
        #expect(probe.way == .privateCopy)
        #expect(try probe.connection.integer("SELECT count(*) FROM ZA") == 1)
        #expect(try probe.connection.text("PRAGMA integrity_check") == "ok")
        probe.close()
        #expect(try record(folder.path) == before)
    }

    @Test func `a writer that never rests leaves a read-only look`() throws {
        let writer = try SQLiteProcess(path())
        try writer.run("PRAGMA journal_mode = WAL; \(Self.tables) INSERT INTO ZA VALUES (1), (2);")
        let probe = try ReadOnlyStore(path(), system: RestlessSystem(store: path()), folder: scratch.path)
        #expect(probe.way == .readOnly)
        #expect(try probe.connection.integer("SELECT count(*) FROM ZA") == 2)
        probe.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test func `each kind of file that is no usable store has a message of its own`() throws {
        let system = POSIXSystem()
        _ = try SQLiteShell.run(path(), Self.tables + "INSERT INTO ZA SELECT value FROM generate_series(1, 9999)")
        let whole = try system.read(path())
        _ = try SQLiteShell.run(path("plain"), "CREATE TABLE t (v)")
        let damaged = whole[..<100] + [UInt8](repeating: 0xEE, count: 4000) + whole[4100...]
        let files: [(String, [UInt8])] = [
            ("empty", []), ("random", (0..<5000).map { UInt8(128 + $0 * 37 % 128) }), ("xml", Array("<?xml ?>".utf8)),
            ("plist", Array("bplist00".utf8)), ("short", Array(whole[..<9])), ("header", Array(whole[..<60])),
            ("cut", Array(whole.dropLast(5000))), ("damaged", Array(damaged)),
        ]
        for (name, bytes) in files { try system.write(bytes, to: path(name)) }
        var messages: [String: MigrationError] = [:]
        for name in files.map(\.0) + ["nothing", "plain", ""] {
            messages[name] = #expect(throws: MigrationError.self) { try probe(path(name)) }
        }
        #expect(Set(messages.values.map { $0.message.replacingOccurrences(of: $0.place, with: "") }).count == 11)
        let codes = messages.mapValues { $0.code.description }
        #expect(
            codes == [
                "": "notAStore", "nothing": "fileNotFound", "empty": "notAStore", "random": "notAStore",
                "xml": "notAStore", "plist": "notAStore", "short": "storeCorrupted", "header": "storeCorrupted",
                "cut": "storeCorrupted", "damaged": "storeCorrupted", "plain": "notAStore",
            ])
        #expect(messages.values.allSatisfy { $0.exitCode == 4 && !$0.remedy.isEmpty && !$0.place.isEmpty })
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `every store of the corpus can be opened`() throws {
        #expect(Corpus.stores.count > 15)
        for store in Corpus.stores {
            let tables = try ReadOnlyStore.read(store, folder: scratch.path) { try $0.connection.catalogue().tables }
            #expect(!tables.isEmpty, "\(store)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }
}

/// A machine on which somebody writes to a store whenever it is copied.
private struct RestlessSystem: ForwardingSystem {
    let store: String

    func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        try real.copy(path, to: copy, rights)
        _ = try SQLiteShell.run(store, "CREATE TABLE IF NOT EXISTS t (v); INSERT INTO t VALUES (1)")
    }
}
