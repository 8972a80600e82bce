import Foundation
import TestSupport
import Testing

/// A file that is no store, or a store in a state in which nobody should touch it: what it is, and what is said of it.
struct BadStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: String
    let exit: Int32
    /// What the message has to contain, or its cause.
    let says: String
    /// Only what would change the store is refused; looking at it is safe.
    var isReadable = false
    /// Makes it of `data/forum.sqlite`, a sound store of the first version.
    let make: @Sendable (_ store: String) throws -> Void

    static let all = files + databases + states

    private static let files = [
        BadStore(testDescription: "a missing path", code: "fileNotFound", exit: 4, says: "Nothing is at") {
            try FileManager.default.removeItem(atPath: $0)
        },
        BadStore(testDescription: "a link to nothing", code: "fileNotFound", exit: 4, says: "symbolic link") {
            try FileManager.default.removeItem(atPath: $0)
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "gone.sqlite")
        },
        BadStore(testDescription: "a folder", code: "notAStore", exit: 4, says: "is a folder") {
            try FileManager.default.removeItem(atPath: $0)
            try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false)
        },
        BadStore(testDescription: "an empty file", code: "notAStore", exit: 4, says: "is empty") {
            try Data().write(to: URL(fileURLWithPath: $0))
        },
        BadStore(testDescription: "random bytes", code: "notAStore", exit: 4, says: "does not begin like") { store in
            var generator = SeededGenerator(seed: 1)
            let bytes = (0..<9000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            try Data(bytes).write(to: URL(fileURLWithPath: store))
        },
        BadStore(testDescription: "a zeroed header", code: "storeCorrupted", exit: 4, says: "header was overwritten") {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: $0))
            try file.write(contentsOf: Data(count: 100))
            try file.close()
        },
        BadStore(testDescription: "a truncated store", code: "storeCorrupted", exit: 4, says: "is cut off") {
            try FileHandle(forWritingTo: URL(fileURLWithPath: $0)).truncate(atOffset: 20_000)
        },
        BadStore(testDescription: "a page overwritten", code: "storeCorrupted", exit: 4, says: "damaged") {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: $0))
            // The rest of the first page, where the catalogue begins.
            try file.seek(toOffset: 100)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 3996))
            try file.close()
        },
    ]

    private static let databases = [
        // As SQLCipher leaves a store with cipher_plaintext_header_size: 80 bytes of each page are reserved.
        BadStore(testDescription: "encrypted pages", code: "notAStore", exit: 4, says: "is encrypted") {
            try BadStore.encrypt($0)
        },
        BadStore(
            testDescription: "the log of another file", code: "sideFileForeign", exit: 4, says: "sound without the -wal"
        ) {
            try BadStore.giveForeignLog($0)
        },
        BadStore(testDescription: "a NULL property list", code: "metadataInvalid", exit: 4, says: "is NULL") {
            _ = try SQLiteShell.run($0, "UPDATE Z_METADATA SET Z_PLIST = NULL")
        },
        BadStore(testDescription: "a damaged property list", code: "metadataInvalid", exit: 4, says: "is damaged") {
            _ = try SQLiteShell.run($0, "UPDATE Z_METADATA SET Z_PLIST = substr(Z_PLIST, 1, 300)")
        },
        BadStore(testDescription: "no metadata", code: "metadataInvalid", exit: 4, says: "has no row") {
            _ = try SQLiteShell.run($0, "DELETE FROM Z_METADATA")
        },
        BadStore(
            testDescription: "somebody else's database", code: "notAStore", exit: 4, says: "without Core Data's"
        ) { store in
            try FileManager.default.removeItem(atPath: store)
            _ = try SQLiteShell.run(store, "CREATE TABLE fruit (name TEXT); INSERT INTO fruit VALUES ('pear')")
        },
        BadStore(testDescription: "a table is missing", code: "storeCorrupted", exit: 4, says: "is missing") {
            _ = try SQLiteShell.run($0, "DROP TABLE ZPOST")
        },
    ]

    private static let states = [
        BadStore(
            testDescription: "another name of the file", code: "hardLinked", exit: 3, says: "2 hard links",
            isReadable: true
        ) {
            try FileManager.default.linkItem(atPath: $0, toPath: $0 + ".other")
        },
        BadStore(
            testDescription: "deferred work", code: "deferredWork", exit: 3, says: "put work off", isReadable: true
        ) {
            try MetadataEdit.set("NSPersistentStoreDeferredLightweightMigrationOptionKey", true, in: $0)
            // Of another tool's kind, which nobody here knows.
            _ = try SQLiteShell.run($0, "CREATE TABLE _T_ZPOST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)")
        },
        BadStore(
            testDescription: "a CloudKit mirror", code: "cloudKit", exit: 3, says: "mirrored to CloudKit",
            isReadable: true
        ) {
            // The table that a mirrored store keeps its records in.
            _ = try SQLiteShell.run(
                $0,
                "CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    + "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR )")
        },
        BadStore(
            testDescription: "a version of nobody", code: "storeUnknown", exit: 3, says: "no version", isReadable: true
        ) {
            try MetadataEdit.set(
                "NSStoreModelVersionHashes", ["Post": Data(repeating: 7, count: 32)], in: $0)
        },
    ]
}

extension BadStore {
    /// Leaves the first 32 bytes of a store readable, and no page of it.
    static func encrypt(_ store: String) throws {
        let url = URL(fileURLWithPath: store)
        var bytes = try Data(contentsOf: url)
        var generator = SeededGenerator(seed: 7)
        bytes[20] = 80
        for place in 32..<bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
        try bytes.write(to: url)
    }

    /// Puts the log of another database, which was never written back, next to a store.
    static func giveForeignLog(_ store: String) throws {
        let other = store + ".other"
        _ = try SQLiteShell.run(
            other, "PRAGMA journal_mode = WAL; CREATE TABLE fruit (name TEXT); INSERT INTO fruit VALUES ('pear')",
            arguments: ["-cmd", ".dbconfig no_ckpt_on_close on"])
        try FileManager.default.moveItem(atPath: other + "-wal", toPath: store + "-wal")
        for suffix in ["", "-shm"] { try? FileManager.default.removeItem(atPath: other + suffix) }
    }
}

/// Changes a store's metadata with Foundation's property lists and the sqlite3 shell.
enum MetadataEdit {
    static func set(_ key: String, _ value: Any, in store: String) throws {
        let hex = try SQLiteShell.run(store, "SELECT hex(Z_PLIST) FROM Z_METADATA")
        let list = try PropertyListSerialization.propertyList(from: Data([UInt8](hexadecimal: hex)), format: nil)
        var entries = try #require(list as? [String: Any])
        entries[key] = value
        let data = try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        let literal = data.map { String(format: "%02x", $0) }.joined()
        _ = try SQLiteShell.run(store, "UPDATE Z_METADATA SET Z_PLIST = x'\(literal)'")
    }
}
