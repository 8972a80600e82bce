import MoultModel

/// Values for attributes: everyday values, and the extremes that break readers.
struct SampleValues {
    private var generator: SeededGenerator
    private let isHostile: Bool
    private let nils: Int?

    init(seed: UInt64, isHostile: Bool, nils: Int? = nil) {
        generator = SeededGenerator(seed: seed)
        self.isHostile = isHostile
        self.nils = nils
    }

    /// Returns a value of the attribute for the object at `position`; nil now and then for an optional one, and always
    /// for a type without values.
    mutating func value(of attribute: AttributeDescription, position: Int) -> AttributeValue? {
        if attribute.isOptional, isNil(at: position) { return nil }
        // The extremes come first, so that a few objects hold all of them.
        if isHostile, let extreme = Self.extremes(of: attribute), position - 1 < extreme.count, position > 0 {
            return extreme[position - 1]
        }
        // Now and then a picture, which is stored in a file of its own.
        if attribute.allowsExternalBinaryDataStorage, attribute.type == .binary, position > 0, position % 1000 == 0 {
            return .binary(Self.huge)
        }
        return ordinary(attribute.type)
    }

    private mutating func isNil(at position: Int) -> Bool {
        if let nils { return Int.random(in: 0..<100, using: &generator) < nils }
        return position == 0 || Int.random(in: 0..<5, using: &generator) == 0
    }

    /// Returns a value that no other position has.
    func uniqueValue(of attribute: AttributeDescription, position: Int) -> AttributeValue? {
        let number = Int64(position) + 1
        switch attribute.type {
        case .integer16 where number > Int16.max: return nil
        case .integer16, .integer32, .integer64: return .integer(number)
        case .double, .float: return .double(Double(number))
        case .decimal: return .decimal("\(number)")
        case .date: return .date(Double(number))
        case .string: return .string("unique \(number)")
        case .uri: return .uri("moult://unique/\(number)")
        case .uuid: return .uuid(Array(repeating: 0, count: 8) + Self.bytes(of: UInt64(number)))
        case .binary: return .binary(Self.bytes(of: UInt64(number)))
        case .transformable: return .transformable(Self.bytes(of: UInt64(number)))
        case .undefined, .boolean, .objectID, .composite: return nil
        }
    }

    // MARK: - Everyday values

    private mutating func ordinary(_ type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16: .integer(Int64(Int16.random(in: -1000...1000, using: &generator)))
        case .integer32, .integer64: .integer(Int64.random(in: -1_000_000...1_000_000, using: &generator))
        case .decimal:
            .decimal("\(Int.random(in: 0...99_999, using: &generator)).\(Int.random(in: 1...9, using: &generator))")
        case .double: .double(Double.random(in: -1e6...1e6, using: &generator))
        case .float: .double(Double(Float.random(in: -1e3...1e3, using: &generator)))
        case .string: .string(words())
        case .boolean: .boolean(Bool.random(using: &generator))
        case .date: .date((Double.random(in: 0...800_000_000, using: &generator) * 1000).rounded() / 1000)
        case .uuid: .uuid(randomBytes(16))
        case .uri: .uri("https://example.org/\(Int.random(in: 0...999_999, using: &generator))?q=%C3%A9")
        case .binary: .binary(randomBytes(Int.random(in: 1...64, using: &generator)))
        case .transformable: .transformable(randomBytes(Int.random(in: 1...64, using: &generator)))
        case .undefined, .objectID, .composite: nil
        }
    }

    private mutating func words() -> String {
        let count = Int.random(in: 1...8, using: &generator)
        return (0..<count).map { _ in Self.vocabulary[Int.random(in: 0..<Self.vocabulary.count, using: &generator)] }
            .joined(separator: " ")
    }

    private mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }

    private static let vocabulary = [
        "wing", "feather", "nest", "swift", "tower", "summer", "north", "wind", "café", "straße", "naïve", "東京",
        "évent", "chimney", "flight", "colony", "dusk", "swarm", "eaves", "return",
    ]

    // MARK: - Extremes

    private static func extremes(of attribute: AttributeDescription) -> [AttributeValue]? {
        switch attribute.type {
        case .integer16: return [0, Int64(Int16.min), Int64(Int16.max)].map(AttributeValue.integer)
        case .integer32: return [0, Int64(Int32.min), Int64(Int32.max)].map(AttributeValue.integer)
        case .integer64: return [0, .min, .max, 1 << 53 + 1].map(AttributeValue.integer)
        // SQLite stores fifteen digits of a decimal number, in Core Data's own stores too.
        case .decimal:
            return ["0", "-0.000000000000001", "123456789012345", "-99999.99", "1E+20"].map(AttributeValue.decimal)
        case .double:
            return [0, -0.0, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, 0.1]
                .map(AttributeValue.double)
        case .float:
            return [0, Double(Float.greatestFiniteMagnitude), Double(Float.leastNonzeroMagnitude), Double(Float(0.1))]
                .map(AttributeValue.double)
        case .string: return strings.map(AttributeValue.string)
        case .boolean: return [.boolean(false), .boolean(true)]
        // 1901, 2001 to the second, 2001 with a fraction, the year 4001.
        case .date: return [-3_150_000_000, 0, 0.123456789, 63_113_904_000].map(AttributeValue.date)
        case .uuid: return [.uuid(Array(repeating: 0, count: 16)), .uuid(Array(repeating: 255, count: 16))]
        case .uri: return [.uri(""), .uri("file:///tmp/a%20b"), .uri("x:")]
        case .binary: return blobs(isExternal: attribute.allowsExternalBinaryDataStorage).map(AttributeValue.binary)
        case .transformable:
            return blobs(isExternal: attribute.allowsExternalBinaryDataStorage).map(AttributeValue.transformable)
        case .undefined, .objectID, .composite: return nil
        }
    }

    private static let strings = [
        "", " ", "'\";--", "line\nbreak\ttab", "e\u{301}\u{2028}\u{202E}abc", "👩‍👩‍👧‍👦🏳️‍🌈", "\u{FEFF}\u{10FFFF}",
        "NULL", "007", "1e5", String(repeating: "long ", count: 2_000),
    ]

    private static func blobs(isExternal: Bool) -> [[UInt8]] {
        [[], [0], [1, 2, 3], [2] + Array("not a file".utf8) + [0], isExternal ? huge : large]
    }

    private static let large = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let huge = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
}
