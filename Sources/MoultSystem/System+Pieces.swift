extension System {
    /// Hands over a part of a file in pieces of at most a mebibyte, so that memory does not grow with the file.
    ///
    /// Always of the real machine: it only reads, and files that are not written to.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - count: bytes; the rest of the file when nil.
    /// - Returns: the bytes that were there.
    @discardableResult
    package func readPieces(
        of path: String, from offset: Int64 = 0, count: Int64? = nil, _ body: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        try POSIXSystem().readPieces(of: path, from: offset, count: count ?? .max, body)
    }

    /// The parts of a file in which something was ever written, in ascending order; the others read as zeros and take
    /// no space. Of the real machine, as above.
    package func writtenParts(of path: String) throws -> [Range<Int64>] { try POSIXSystem().writtenParts(of: path) }

    /// A part of a file, for parts that memory holds; shorter where the file ends before.
    package func bytes(of path: String, from offset: Int64, count: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readPieces(of: path, from: offset, count: count) { bytes += $0 }
        return bytes
    }
}
