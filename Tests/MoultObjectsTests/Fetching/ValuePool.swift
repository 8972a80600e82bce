import MoultModel
import TestSupport

/// Values that are easily compared wrongly, few of each type, so that two that are drawn are often alike.
struct ValuePool {
    var generator: TestSupport.SeededGenerator

    init(seed: UInt64) { generator = TestSupport.SeededGenerator(seed: seed) }

    mutating func chance(_ part: Int, of whole: Int) -> Bool { Int.random(in: 0..<whole, using: &generator) < part }

    mutating func pick<Elements: RandomAccessCollection>(_ elements: Elements) -> Elements.Element {
        let offset = Int.random(in: 0..<elements.count, using: &generator)
        return elements[elements.index(elements.startIndex, offsetBy: offset)]
    }

    /// A value for an attribute of the type; nil for one of five.
    mutating func value(_ type: AttributeType) -> AttributeValue? {
        if chance(1, of: 5) { return nil }
        switch type {
        case .integer16: return .integer(pick([0, 1, -1, 2, 7, 1950, 1984, Int64(Int16.min), Int64(Int16.max)]))
        case .integer32: return .integer(pick([0, 1, -1, 2, 7, 1950, Int64(Int32.min), Int64(Int32.max)]))
        case .integer64: return .integer(pick(Self.integers))
        case .decimal: return .decimal(pick(Self.decimals))
        case .double: return .double(pick(Self.reals))
        case .float: return .double(Double(Float(pick([0, -0.0, 1, 0.1, -2.5, 7, 1e30]))))
        case .string: return .string(pick(Self.texts))
        case .boolean: return .boolean(chance(1, of: 2))
        case .date: return .date(pick(Self.dates))
        case .binary, .transformable: return .binary(pick(Self.bytes))
        case .uuid: return .uuid(pick(Self.uuids))
        case .uri: return .uri(pick(Self.addresses))
        case .undefined, .objectID, .composite: return nil
        }
    }

    static let integers: [Int64] = [0, 1, -1, 2, 7, 1 << 53, 1 << 53 + 1, .min, .max, .max - 1]
    static let reals: [Double] = [
        0, -0.0, 1, 0.1, -2.5, 7, 2, 9_007_199_254_740_992, 9.223372036854775808e18, 1e300, -1e300,
        .leastNonzeroMagnitude, .infinity,
        -.infinity,
    ]
    // SQLite keeps fifteen digits.
    static let decimals = ["0", "1", "-1", "0.1", "2.5", "7", "99.95", "-0.001", "123456789.25", "1000000000000"]
    static let dates: [Double] = [0, 1, -978_307_200, 0.5, 757_382_400, 757_382_400.25, 86_400]
    static let texts = [
        "", " ", "a", "A", "b", "ab", "abc", "ABC", "Abc", "äbc", "a\u{308}bc", "ÄBC", "e\u{301}", "é", "É", "E", "e",
        "ß", "ss", "SS", "straße", "STRASSE", "ı", "I", "i", "İ", "σ", "ς", "Σ", "日本", "日本語", "👩‍👩‍👧‍👦", "👩", "🇫🇷",
        "\u{10FFFF}", "\u{FFFD}", "\u{FEFF}a", "a\u{0}b", "\u{0}", "a*b", "a?c", "a%", "a_c", "[a]", "\\", "'", "\"",
        "line\nbreak", "ﬁ", "fi", "Å", "\u{212B}", "\u{D7FF}", "\u{E000}", "nil", "1", "007", "1e5",
    ]
    static let bytes: [[UInt8]] = [[], [0], [0, 1], [255], [97, 98], Array(repeating: 0, count: 16)]
    static let uuids: [[UInt8]] = [
        Array(repeating: 0, count: 16), Array(repeating: 255, count: 16), Array(0..<16),
    ]
    static let addresses = ["", "x:", "https://example.org/a", "https://example.org/A", "file:///é"]
}
