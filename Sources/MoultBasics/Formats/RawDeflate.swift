import CZlib

/// Raw DEFLATE (RFC 1951, without the zlib header), the compression of a store's model cache.
package enum RawDeflate {
    /// - Parameter limit: the maximum number of bytes of the result.
    /// - Throws: `MigrationError` with code `propertyListInvalid` for damaged, truncated or oversized data.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(MigrationError) -> [UInt8] {
        var stream = z_stream()
        guard moult_inflate_init(&stream, -MAX_WBITS) == Z_OK else { throw outOfMemory }
        defer { inflateEnd(&stream) }
        let (output, status) = run(&stream, over: bytes, limit: limit) { inflateStep(&$0) }
        guard status == Z_STREAM_END else {
            let reason = output.count >= limit ? "is larger than \(limit) bytes" : "is damaged or cut"
            throw MigrationError(
                .propertyListInvalid, "The compressed data \(reason).", place: "byte \(stream.total_in)",
                remedy: "Name the model files; then the compressed model is not needed.")
        }
        return output
    }

    package static func deflate(_ bytes: [UInt8]) throws(MigrationError) -> [UInt8] {
        var stream = z_stream()
        guard moult_deflate_init(&stream, Z_DEFAULT_COMPRESSION, -MAX_WBITS) == Z_OK else { throw outOfMemory }
        defer { deflateEnd(&stream) }
        let (output, status) = run(&stream, over: bytes, limit: .max) { deflateStep(&$0) }
        guard status == Z_STREAM_END else { throw outOfMemory }
        return output
    }

    private static func inflateStep(_ stream: inout z_stream) -> Int32 { CZlib.inflate(&stream, Z_NO_FLUSH) }
    private static func deflateStep(_ stream: inout z_stream) -> Int32 { CZlib.deflate(&stream, Z_FINISH) }

    /// Feeds all input to `step` and collects the output, until the stream ends, fails or exceeds `limit`.
    private static func run(
        _ stream: inout z_stream, over bytes: [UInt8], limit: Int, step: (inout z_stream) -> Int32
    ) -> (output: [UInt8], status: Int32) {
        var input = bytes
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var output: [UInt8] = []
        var status = Z_BUF_ERROR
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            repeat {
                chunk.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = UInt32(clamping: room.count)
                    status = step(&stream)
                    output += room.prefix(room.count - Int(stream.avail_out))
                }
            } while status == Z_OK && output.count <= limit
        }
        return (output, output.count > limit ? Z_BUF_ERROR : status)
    }

    private static var outOfMemory: MigrationError {
        MigrationError(.internal, "zlib could not start.", remedy: "Free some memory and try again.")
    }
}
