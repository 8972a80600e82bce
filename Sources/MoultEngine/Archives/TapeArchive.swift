import MoultModel
import MoultSystem

/// An archive in POSIX's own format, which every `tar` reads (POSIX.1-2017, pax Interchange Format).
///
/// Names and sizes that a plain header has no space for go into an extended header before it.
package enum TapeArchive {
    static let blockSize = 512

    /// The fields of a header: where each begins and how long it is.
    enum Field {
        static let name = (0, 100)
        static let mode = (100, 8)
        static let owner = (108, 8)
        static let group = (116, 8)
        static let size = (124, 12)
        static let modified = (136, 12)
        static let checksum = (148, 8)
        static let type = (156, 1)
        static let magic = (257, 8)
        static let prefix = (345, 155)
    }

    /// The largest size that eleven octal digits hold.
    static let largestSize: Int64 = 0o777_7777_7777

    /// The most files that an archive may hold: as many as a manifest has room for.
    static let largestCount = 1 << 20

    /// The sum of all bytes of a header, its own field taken as spaces.
    static func checksum(_ header: [UInt8]) -> Int64 {
        var sum: Int64 = 0
        for (place, byte) in header.enumerated() {
            let isOwn = place >= Field.checksum.0 && place < Field.checksum.0 + Field.checksum.1
            sum += isOwn ? 32 : Int64(byte)
        }
        return sum
    }

    static func padding(of size: Int64) -> Int64 { (Int64(blockSize) - size % Int64(blockSize)) % Int64(blockSize) }

    static func invalid(_ message: String, _ path: String) -> MigrationError {
        MigrationError(
            .backupInvalid, "\(path) is not a complete archive: \(message)", place: path,
            remedy: "Copy it again from its origin, or use another.")
    }
}
