#if canImport(CommonCrypto)
    import CommonCrypto

    /// SHA-2 by CommonCrypto.
    package enum Digest {
        package static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            var stream = SHA256Stream()
            Array(bytes).withUnsafeBytes { stream.update($0) }
            return stream.finish()
        }

        package static func sha512(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            var context = CC_SHA512_CTX()
            CC_SHA512_Init(&context)
            Array(bytes).withUnsafeBytes { forEachPiece(of: $0) { CC_SHA512_Update(&context, $0, $1) } }
            var output = [UInt8](repeating: 0, count: Int(CC_SHA512_DIGEST_LENGTH))
            CC_SHA512_Final(&output, &context)
            return output
        }

        /// Calls `body` with pieces whose length fits into `CC_LONG`, 32 bits.
        fileprivate static func forEachPiece(
            of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawPointer?, CC_LONG) -> Void
        ) {
            var rest = bytes
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                body(piece.baseAddress, CC_LONG(piece.count))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            }
        }
    }

    /// SHA-256 of bytes that arrive in pieces.
    package struct SHA256Stream: ~Copyable {
        private var context = CC_SHA256_CTX()

        package init() { CC_SHA256_Init(&context) }

        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            Digest.forEachPiece(of: bytes) { CC_SHA256_Update(&context, $0, $1) }
        }

        /// Returns the 32 bytes of the digest; the stream then takes no more pieces.
        package mutating func finish() -> [UInt8] {
            var output = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
            CC_SHA256_Final(&output, &context)
            return output
        }
    }
#else
    import CCrypto

    /// SHA-2 by libcrypto.
    package enum Digest {
        package static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            compute(algorithms.sha256, Array(bytes))
        }
        package static func sha512(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            compute(algorithms.sha512, Array(bytes))
        }

        /// Fetched once, because libcrypto looks up `EVP_sha256()` again for each digest. Never changed or freed.
        private nonisolated(unsafe) static let algorithms = (
            sha256: EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_sha256(),
            sha512: EVP_MD_fetch(nil, "SHA512", nil) ?? EVP_sha512()
        )

        private static func compute(_ algorithm: OpaquePointer?, _ bytes: [UInt8]) -> [UInt8] {
            var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            EVP_Digest(bytes, bytes.count, &output, &length, algorithm, nil)
            return Array(output.prefix(Int(length)))
        }
    }

    /// SHA-256 of bytes that arrive in pieces.
    package struct SHA256Stream: ~Copyable {
        private let context: OpaquePointer?

        package init() {
            context = EVP_MD_CTX_new()
            EVP_DigestInit_ex(context, EVP_sha256(), nil)
        }

        deinit { EVP_MD_CTX_free(context) }

        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }

        /// Returns the 32 bytes of the digest; the stream then takes no more pieces.
        package mutating func finish() -> [UInt8] {
            var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            EVP_DigestFinal_ex(context, &output, &length)
            return Array(output.prefix(Int(length)))
        }
    }
#endif
