import MoultModel
import MoultStore

/// The values of one row in one block of memory. Each value is decoded when it is requested.
///
/// Most values of most fetched objects are never requested. With a separate block for each value, an object would take
/// half as much memory again, and far longer to release.
struct StoredRow: @unchecked Sendable {
    // `Sendable` is safe, because a row never changes after its creation.
    /// A word and a tag for each value, followed by the bytes of texts and blobs. The tag gives the meaning of the
    /// word. For texts and blobs, the word is the offset and the number of their bytes.
    private let memory: ManagedBuffer<Header, UInt8>

    private struct Header {
        let count: Int
        let destinations: Destinations
        let others: [ObjectValue]
    }

    /// The possible destination entities of to-one relationships in the rows of a fetch, shared by all of these rows.
    final class Destinations: Sendable {
        let origins: [ObjectID.Origin]
        init(_ origins: [ObjectID.Origin]) { self.origins = origins }
    }

    /// The meaning of a word. Tags from ``firstDestination`` on mark the key of a destination; the difference is the
    /// index of the destination's entity.
    fileprivate enum ValueTag: UInt8 {
        /// No value, for one of the reasons in ``ObjectSnapshot/values``.
        case missing
        case null, noDestination
        case integer, boolean, double, date
        case wholeDecimal, realDecimal
        case string, uri, binary, uuid, transformable
        /// An index in the list of other values.
        case other
    }

    fileprivate static let firstDestination: UInt8 = 32
    /// Longer values are decoded when the row is built and kept, so that repeated reads do not copy them again.
    fileprivate static let longest = 128

    // The header is read through its address: it is constant, so reading it needs no check for exclusive access.
    var count: Int { memory.withUnsafeMutablePointerToHeader { $0.pointee.count } }
    private var destinations: Destinations { memory.withUnsafeMutablePointerToHeader { $0.pointee.destinations } }
    private var others: [ObjectValue] { memory.withUnsafeMutablePointerToHeader { $0.pointee.others } }

    func isSame(as other: Self) -> Bool { memory === other.memory }

    /// Returns the presence of a value without decoding it.
    func presence(at position: Int) -> PositionedValues.Presence {
        switch tag(at: position) {
        case ValueTag.missing.rawValue: .missing
        case ValueTag.null.rawValue, ValueTag.noDestination.rawValue: .empty
        case ValueTag.wholeDecimal.rawValue, ValueTag.realDecimal.rawValue: .decimal
        default: .present
        }
    }

    subscript(position: Int) -> ObjectValue? {
        let tag = tag(at: position)
        guard tag < Self.firstDestination else {
            let origin = destinations.origins[Int(tag - Self.firstDestination)]
            return .toOne(ObjectID(origin, key: Int64(bitPattern: word(at: position))))
        }
        return switch ValueTag(rawValue: tag) ?? .missing {
        case .missing: nil
        case .null: .attribute(nil)
        case .noDestination: .toOne(nil)
        case .integer: .attribute(.integer(Int64(bitPattern: word(at: position))))
        case .boolean: .attribute(.boolean(word(at: position) != 0))
        case .double: .attribute(.double(Double(bitPattern: word(at: position))))
        case .date: .attribute(.date(Double(bitPattern: word(at: position))))
        case .wholeDecimal: made(.wholeDecimal(Int64(bitPattern: word(at: position))))
        case .realDecimal: made(.realDecimal(Double(bitPattern: word(at: position))))
        case .string: withBytes(at: position) { made(.string($0)) }
        case .uri: withBytes(at: position) { made(.uri($0)) }
        case .binary: withBytes(at: position) { made(.binary($0)) }
        case .uuid: withBytes(at: position) { made(.uuid($0)) }
        case .transformable: withBytes(at: position) { made(.transformable($0)) }
        case .other: others[Int(word(at: position))]
        }
    }

    private func made(_ plain: PlainValue) -> ObjectValue { .attribute(AttributeValue(plain)) }

    private func tag(at position: Int) -> UInt8 {
        let count = count
        precondition(position >= 0 && position < count)
        return memory.withUnsafeMutablePointerToElements { $0[count * 8 + position] }
    }

    /// Returns the word at a position that ``tag(at:)`` has checked.
    private func word(at position: Int) -> UInt64 {
        memory.withUnsafeMutablePointerToElements {
            UnsafeRawPointer($0).loadUnaligned(fromByteOffset: position * 8, as: UInt64.self)
        }
    }

    private func withBytes<Result>(at position: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let word = word(at: position)
        return memory.withUnsafeMutablePointerToElements {
            body(
                UnsafeRawBufferPointer(
                    start: $0 + count * 9 + Int(truncatingIfNeeded: word & 0xFFFF_FFFF),
                    count: Int(truncatingIfNeeded: word >> 32)))
        }
    }
}

extension StoredRow {
    /// A builder of rows, one after another.
    struct Builder {
        private let destinations: Destinations
        private var words: [UInt64] = []
        private var tags: [UInt8] = []
        private var bytes: [UInt8] = []
        private var others: [ObjectValue] = []

        init(_ destinations: Destinations) { self.destinations = destinations }

        mutating func addNothing() { add(.missing) }
        mutating func addNull() { add(.null) }
        mutating func addNoDestination() { add(.noDestination) }

        mutating func add(_ value: PlainValue) {
            switch value {
            case .integer(let number): add(.integer, UInt64(bitPattern: number))
            case .boolean(let flag): add(.boolean, flag ? 1 : 0)
            case .double(let number): add(.double, number.bitPattern)
            case .date(let seconds): add(.date, seconds.bitPattern)
            case .wholeDecimal(let number): add(.wholeDecimal, UInt64(bitPattern: number))
            case .realDecimal(let number): add(.realDecimal, number.bitPattern)
            case .string(let bytes): add(.string, bytes, value)
            case .uri(let bytes): add(.uri, bytes, value)
            case .binary(let bytes): add(.binary, bytes, value)
            case .uuid(let bytes): add(.uuid, bytes, value)
            case .transformable(let bytes): add(.transformable, bytes, value)
            }
        }

        /// - Parameter index: the index of the entity in ``Destinations/origins``.
        mutating func addDestination(_ index: Int, _ key: Int64) {
            guard let tag = UInt8(exactly: index + Int(firstDestination)) else {
                return add(other: .toOne(ObjectID(destinations.origins[index], key: key)))
            }
            words.append(UInt64(bitPattern: key))
            tags.append(tag)
        }

        /// Adds a value that is already decoded.
        mutating func add(_ value: AttributeValue?) {
            switch value {
            case nil: addNull()
            case .string(var text)?: text.withUTF8 { add(.string(UnsafeRawBufferPointer($0))) }
            case let value?: add(other: .attribute(value))
            }
        }

        private mutating func add(other value: ObjectValue) {
            add(.other, UInt64(others.count))
            others.append(value)
        }

        private mutating func add(_ tag: ValueTag, _ word: UInt64 = 0) {
            words.append(word)
            tags.append(tag.rawValue)
        }

        private mutating func add(_ tag: ValueTag, _ more: UnsafeRawBufferPointer, _ value: PlainValue) {
            guard more.count <= longest else { return add(other: .attribute(AttributeValue(value))) }
            add(tag, UInt64(bytes.count) | UInt64(more.count) << 32)
            bytes.append(contentsOf: more)
        }

        /// Returns the row of the values added since the last one.
        mutating func row() -> StoredRow {
            defer {
                words.removeAll(keepingCapacity: true)
                tags.removeAll(keepingCapacity: true)
                bytes.removeAll(keepingCapacity: true)
                if !others.isEmpty { others = [] }
            }
            return StoredRow(words, tags, bytes, others, destinations)
        }
    }

    private init(
        _ words: [UInt64], _ tags: [UInt8], _ bytes: [UInt8], _ others: [ObjectValue], _ destinations: Destinations
    ) {
        let count = words.count
        memory = ManagedBuffer.create(minimumCapacity: count * 9 + bytes.count) { _ in
            Header(count: count, destinations: destinations, others: others)
        }
        memory.withUnsafeMutablePointerToElements { start in
            let start = UnsafeMutableRawPointer(start)
            words.withUnsafeBytes { start.copyMemory(from: $0) }
            tags.withUnsafeBytes { (start + count * 8).copyMemory(from: $0) }
            bytes.withUnsafeBytes { (start + count * 9).copyMemory(from: $0) }
        }
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
        if let source = bytes.baseAddress { copyMemory(from: source, byteCount: bytes.count) }
    }
}
