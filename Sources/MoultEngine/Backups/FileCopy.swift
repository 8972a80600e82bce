import MoultBasics
import MoultSQLite

/// A copy of a database file that does not change meanwhile, compared byte for byte with what was read.
///
/// Each piece is read back and compared while another thread adds it to the SHA-256, which takes as long.
struct FileCopy {
    private let source: DatabaseFile
    private let pageSize: Int
    private let size: Int64
    private let path: String
    private let system: any System

    private static let pieceSize: Int64 = 1 << 20

    /// - Parameters:
    ///   - source: a connection that excludes every writer, and whose database has no WAL; nil is returned if its file
    ///     cannot be read directly.
    ///   - path: the path of the copy.
    init?(of source: Connection, to path: String, _ system: any System) throws {
        guard let file = DatabaseFile(source), let pageSize = try source.integer("PRAGMA page_size"),
            let count = try source.integer("PRAGMA page_count"), pageSize >= 512
        else { return nil }
        (self.source, self.pageSize, size) = (file, Int(pageSize), pageSize * count)
        (self.path, self.system) = (path, system)
    }

    /// Writes the copy, an empty file, and compares it; only compares it if it is a clone.
    ///
    /// - Parameter progress: receives the bytes copied and their total; if it returns false, the copy ends early.
    /// - Returns: the size and the SHA-256 of the copy; nil if `progress` ended it.
    /// - Throws: `inputOutput` if a page of the copy is not read as it was written; errors of the file system.
    func make(isCloned: Bool, _ progress: (Int64, Int64) -> Bool) throws -> BackupFolder.Proof? {
        guard !isCloned else { return try run(progress) { _, _ in } }
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        guard let target = DatabaseFile(connection) else { throw MigrationError.changedOnTheWay(path) }
        return try run(progress) { try target.write($0, at: $1) }
    }

    private func run(
        _ progress: (Int64, Int64) -> Bool, _ write: (UnsafeRawBufferPointer, Int64) throws -> Void
    ) throws -> BackupFolder.Proof? {
        // One piece is digested while the next is copied.
        let pieces = (0..<2).map { _ in Piece(capacity: Int(min(Self.pieceSize, max(size, 1)))) }
        let digest = Digest()
        var pending: BackgroundWork<Void>?
        defer { _ = try? pending?.wait() }
        var (offset, turn): (Int64, Int) = (0, 0)
        while offset < size {
            let piece = pieces[turn]
            piece.take(offset, Int(min(Self.pieceSize, size - offset)))
            try source.read(into: piece.bytes, at: offset)
            try write(UnsafeRawBufferPointer(piece.bytes), offset)
            try pending?.wait()
            pending = BackgroundWork(isSequential: size <= Self.pieceSize) { digest.add(piece) }
            try compare(piece)
            offset += Int64(piece.bytes.count)
            turn = 1 - turn
            guard progress(offset, size) else { return nil }
        }
        try pending?.wait()
        return BackupFolder.Proof(size: size, sha256: digest.finish())
    }

    private func compare(_ piece: Piece) throws {
        var place = 0
        try system.readPieces(of: path, from: piece.offset, count: Int64(piece.bytes.count)) { bytes in
            try bytes.withUnsafeBytes { bytes in
                let original = UnsafeRawBufferPointer(rebasing: piece.bytes[place..<(place + bytes.count)])
                guard let one = bytes.baseAddress, let other = original.baseAddress,
                    memcmp(one, other, bytes.count) != 0
                else { return }
                throw differs(at: piece.offset + Int64(place + zip(bytes, original).prefix { $0 == $1 }.count))
            }
            place += bytes.count
        }
        guard place == piece.bytes.count else { throw differs(at: piece.offset + Int64(place)) }
    }

    private func differs(at offset: Int64) -> MigrationError {
        .changedOnTheWay(path, page: Int(offset / Int64(pageSize)) + 1)
    }

    /// Some bytes of the source. One thread at a time uses it.
    private final class Piece: @unchecked Sendable {
        private let memory: UnsafeMutableRawBufferPointer
        private(set) var bytes: UnsafeMutableRawBufferPointer
        private(set) var offset: Int64 = 0

        init(capacity: Int) {
            memory = .allocate(byteCount: capacity, alignment: 4096)
            bytes = memory
        }

        deinit { memory.deallocate() }

        func take(_ offset: Int64, _ count: Int) {
            self.offset = offset
            bytes = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
        }
    }

    /// The SHA-256 of the pieces so far. One thread at a time uses it.
    private final class Digest: @unchecked Sendable {
        private var stream = SHA256Stream()

        func add(_ piece: Piece) { stream.update(UnsafeRawBufferPointer(piece.bytes)) }

        func finish() -> String { stream.finish().hexadecimal }
    }
}
