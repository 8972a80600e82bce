import MoultModel
import MoultSystem

extension StoreProbe {
    /// The error for a database whose header can be read and whose pages are encrypted, as SQLCipher leaves it with
    /// `cipher_plaintext_header_size` for a store in the folder of an app group; nil for any other file.
    package static func encrypted(_ path: String, _ system: any System) throws -> MigrationError? {
        let first = try system.read(path, prefix: 512)
        // A tree begins after the header of the first page (the SQLite file format, section 1.6).
        guard first.count == 512, first.starts(with: magic), !isTree(first, at: 100) else { return nil }
        // What encrypts a page keeps its nonce and its checksum in the bytes that are reserved (section 1.3.4). Where the
        // fields that have one value each are not plain, nothing after the first sixteen bytes is.
        let isPlain = Array(first[21..<24]) == [64, 32, 32]
        if isPlain, first[20] == 0 { return nil }
        let size = try system.status(of: path)?.size ?? 0
        let pageSize = Int64((isPlain ? first.databasePageSize : nil) ?? 4096)
        let pages = min(size / pageSize, 33)
        var known = 0
        for number in stride(from: 2, through: pages, by: 1) {
            let start = try system.bytes(of: path, from: (number - 1) * pageSize, count: 16)
            // A page of a long value, or of the list of free pages, begins with the number of the next.
            let next = start.prefix(4).reduce(0) { $0 << 8 | Int64($1) }
            if isTree(start, at: 0) || next <= size / pageSize { known += 1 }
        }
        // Chance makes a page in some thousands look like one.
        guard known <= pages / 8 else { return nil }
        return MigrationError(
            .notAStore, "\(path) is encrypted: its header can be read, and none of its pages.", place: path,
            remedy: "Decrypt a copy with the app's key first, such as with sqlcipher_export of SQLCipher, and name the "
                + "copy.")
    }

    private static func isTree(_ bytes: [UInt8], at start: Int) -> Bool {
        guard bytes.count >= start + 8, [2, 5, 10, 13].contains(bytes[start]) else { return false }
        return bytes[start + 7] <= 60
    }
}
