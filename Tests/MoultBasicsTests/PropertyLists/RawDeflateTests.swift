import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite struct RawDeflateTests {
    @Test func `what is deflated comes back`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
        let small = try RawDeflate.deflate(bytes)
        #expect(try RawDeflate.inflate(small, limit: bytes.count) == bytes)
        #expect(try RawDeflate.inflate(RawDeflate.deflate([]), limit: 0) == [])
    }

    @Test func `a stored block of RFC 1951 is read`() throws {
        #expect(try RawDeflate.inflate([0x01, 0x02, 0x00, 0xFD, 0xFF, 0x68, 0x69], limit: 2) == Array("hi".utf8))
    }

    @Test func `cut, damaged and too large data is refused`() throws {
        let small = try RawDeflate.deflate([UInt8](repeating: 7, count: 100_000))
        for (bytes, limit) in [(small, 99_999), (Array(small.dropLast(3)), 100_000), ([0x07], 10), ([], 10)] {
            let error = #expect(throws: MigrationError.self) { try RawDeflate.inflate(bytes, limit: limit) }
            #expect(error?.code == .propertyListInvalid)
        }
    }

    @Test func `mutated data never crashes`() throws {
        let bytes = try RawDeflate.deflate(PropertyListTests.sample.binary)
        for seed in UInt64(0)..<5000 { _ = try? RawDeflate.inflate(bytes.mutated(seed: seed), limit: 1 << 20) }
    }
}
