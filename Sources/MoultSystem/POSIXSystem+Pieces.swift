import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension POSIXSystem {
    func readPieces(of path: String, from offset: Int64, count: Int64, _ body: ([UInt8]) throws -> Void) throws
        -> Int64
    {
        try withDescriptor(path, O_RDONLY, to: "read") { descriptor in
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
