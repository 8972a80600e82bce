import CSQLite

/// Digests of the blocks that SQLite has written to a file since it was last read again.
///
/// A block is a page of a database, or a header or a page in a WAL. The memory is bounded by reading again earlier
/// (``isFull``).
struct WrittenBlocks {
    private struct Block {
        let count: Int32
        let digest: Int
    }

    private var blocks: [Int64: Block] = [:]
    private var end: Int64 = 0
    /// The size of every block, where all begin at a multiple of it, as the pages of a database do; 0 while there is none,
    /// and nil for any other blocks.
    private var pageSize: Int32? = 0
    private var differs = false

    /// Two mebibytes of digests at most, for 64 MB of pages.
    var isFull: Bool { blocks.count >= 16_384 }

    /// Whether a write would cover a part of a block that is not proven yet, and so has to wait for the proof.
    func overlaps(_ count: Int32, at offset: Int64) -> Bool {
        guard offset < end, blocks[offset]?.count != count, !isPage(count, at: offset) else { return false }
        return blocks.contains { $0.key < offset + Int64(count) && offset < $0.key + Int64($0.value.count) }
    }

    private func isPage(_ count: Int32, at offset: Int64) -> Bool {
        count > 0 && offset % Int64(count) == 0 && (pageSize == 0 || pageSize == count)
    }

    mutating func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let count = Int32(bytes.count)
        pageSize = isPage(count, at: offset) ? count : nil
        blocks[offset] = Block(count: count, digest: Self.digest(bytes))
        end = max(end, offset + Int64(bytes.count))
    }

    /// Forgets what lies beyond the new end of the file.
    mutating func truncate(to size: Int64) {
        guard size < end else { return }
        blocks = blocks.filter { $0.key + Int64($0.value.count) <= size }
        end = size
    }

    /// Reads every block again, in the order of the file, and forgets it if it is as it was written.
    ///
    /// - Returns: SQLite's result code of a read that failed.
    mutating func prove(_ read: (UnsafeMutableRawPointer?, Int32, Int64) -> Int32) -> Int32 {
        var bytes = [UInt8](repeating: 0, count: Int(blocks.values.map(\.count).max() ?? 0))
        for (offset, block) in blocks.sorted(by: { $0.key < $1.key }) {
            let (result, digest) = bytes.withUnsafeMutableBytes { buffer in
                let result = read(buffer.baseAddress, block.count, offset)
                return (result, Self.digest(UnsafeRawBufferPointer(rebasing: buffer[..<Int(block.count)])))
            }
            // SQLite reads zeros beyond the end of the file, which then differ.
            guard result == SQLITE_OK || result == IOError.shortRead else { return result }
            if digest != block.digest { differs = true }
        }
        (blocks, end, pageSize) = ([:], 0, 0)
        return SQLITE_OK
    }

    /// Whether a proof has found a block that is read otherwise than it was written, since this was last asked.
    mutating func takeDifference() -> Bool {
        defer { differs = false }
        return differs
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}
