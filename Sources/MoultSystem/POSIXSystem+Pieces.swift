import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension POSIXSystem {
    // `man 2 lseek`: the next place where something was written, and the next where nothing was.
    #if os(Linux)
        static let (seekData, seekHole): (Int32, Int32) = (3, 4)
    #else
        static let (seekData, seekHole): (Int32, Int32) = (4, 3)
    #endif

    func writtenParts(of path: String) throws -> [Range<Int64>] {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            let size = Int64(lseek(descriptor, 0, SEEK_END))
            var (parts, place): ([Range<Int64>], Int64) = ([], 0)
            while place < size {
                let start = Int64(lseek(descriptor, off_t(place), Self.seekData))
                if start < 0, errno == ENXIO { break }
                // What does not know of holes has none.
                let next = start < 0 ? place : start
                let hole = start < 0 ? -1 : Int64(lseek(descriptor, off_t(next), Self.seekHole))
                let end = hole <= next ? size : min(hole, size)
                guard next < end else { break }
                parts.append(next..<end)
                place = end
            }
            return parts
        }
    }

    func readPieces(of path: String, from offset: Int64, count: Int64, _ body: ([UInt8]) throws -> Void) throws
        -> Int64
    {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            var (place, left) = (offset, count)
            while left > 0 {
                var piece = [UInt8](repeating: 0, count: Int(min(left, 1 << 20)))
                let read = retrying { pread(descriptor, &piece, piece.count, off_t(place)) }
                guard read >= 0 else { throw MigrationError.system("read", path) }
                if read == 0 { break }
                piece.removeLast(piece.count - read)
                try body(piece)
                place += Int64(read)
                left -= Int64(read)
            }
            return place - offset
        }
    }
}
