import MoultBasics

/// The texts that must not occur in a copy, as a set to search bytes for.
struct OriginalTexts {
    /// The shortest text to search for. Shorter ones occur anywhere by chance.
    static let shortest = 4
    /// The longest text to search for. A longer text is recognised by its beginning, because a store may split it.
    static let longest = 64

    private var texts: Set<[UInt8]> = []
    /// The lengths of the texts, by their first four bytes.
    private var lengths: [UInt32: [Int]] = [:]
    /// A bit for the hash of each beginning, so that most positions need no lookup in the table.
    private var beginnings = [UInt64](repeating: 0, count: 1 << 14)

    init(_ texts: some Sequence<[UInt8]>) {
        for text in texts.lazy.filter(Self.isLong).map({ Array($0.prefix(Self.longest)) })
        where self.texts.insert(text).inserted {
            let beginning = text.withUnsafeBytes { Self.beginning(of: $0, at: 0) }
            let bit = Self.bit(of: beginning)
            beginnings[bit >> 6] |= 1 << UInt64(bit & 63)
            if lengths[beginning]?.contains(text.count) != true { lengths[beginning, default: []].append(text.count) }
        }
    }

    var isEmpty: Bool { texts.isEmpty }

    /// Returns the range of the first of the texts that occurs in the bytes; nil if none does.
    func first(in bytes: [UInt8], from start: Int = 0) -> Range<Int>? {
        guard bytes.count >= Self.shortest, !texts.isEmpty else { return nil }
        return bytes.withUnsafeBytes { bytes in
            for place in start..<max(start, bytes.count - Self.shortest + 1) {
                if let range = text(in: bytes, at: place) { return range }
            }
            return nil
        }
    }

    /// Returns every text that occurs in the bytes.
    func all(in bytes: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        var start = 0
        while let range = first(in: bytes, from: start) {
            found.insert(Array(bytes[range]))
            start = range.lowerBound + 1
        }
        return found
    }

    private func text(in bytes: UnsafeRawBufferPointer, at place: Int) -> Range<Int>? {
        let beginning = Self.beginning(of: bytes, at: place)
        let bit = Self.bit(of: beginning)
        guard beginnings[bit >> 6] & 1 << UInt64(bit & 63) != 0, let lengths = lengths[beginning] else { return nil }
        for length in lengths where place + length <= bytes.count {
            if texts.contains(Array(bytes[place..<place + length])) { return place..<place + length }
        }
        return nil
    }

    private static func beginning(of bytes: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    }

    private static func bit(of beginning: UInt32) -> Int { Int((beginning &* 2_654_435_761) >> 12) }

    /// Whether a text has at least four characters.
    static func isLong(_ text: [UInt8]) -> Bool {
        text.count >= shortest && text.lazy.filter { $0 & 0xC0 != 0x80 }.count >= shortest
    }
}

/// The kind of a text, by the value that it can be converted to. Its stand-in must be of the same kind.
enum TextKind: Equatable {
    /// A decimal number: its sign, the digits before and after the decimal point, and the exponent.
    case number(sign: String, whole: String, fraction: String?, exponent: String)
    /// A UUID in its form of 36 characters.
    case uuid
    /// A date in ISO 8601 order, perhaps with a time; `day` is the number of days since 1970.
    case date(day: Int64)
    /// The URI of an object. The UUID of its store follows the scheme.
    case object
    /// A word that stands for a Boolean or a number, such as `yes` or `nan`.
    case word
    case plain

    static let objectScheme = "x-coredata://"

    init(_ bytes: [UInt8]) {
        guard bytes.count <= 128 else {
            self = .plain
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if Self.words.contains(text.lowercased()) {
            self = .word
        } else if let number = Self.number(text) {
            self = number
        } else if bytes.count == 36, Self.uuidBytes(text) != nil {
            self = .uuid
        } else if let day = Self.day(bytes) {
            self = .date(day: day)
        } else if text.hasPrefix(Self.objectScheme), Self.uuidBytes(String(text.dropFirst(13).prefix(36))) != nil,
            text.dropFirst(49).allSatisfy({ $0.isASCII })
        {
            self = .object
        } else {
            self = .plain
        }
    }

    private static let words: Set<String> = ["yes", "no", "true", "false", "nan", "inf", "infinity", "-inf", "+inf"]

    /// Returns the parts of a number; nil for other texts. More digits than Int64 holds are a plain text, whose
    /// stand-in consists of digits too.
    private static func number(_ text: String) -> TextKind? {
        guard text.utf8.first.map({ $0 < 0x40 }) == true, Double(text) != nil else { return nil }
        var rest = text[...]
        let sign = rest.prefix { $0 == "-" || $0 == "+" }
        rest = rest.dropFirst(sign.count)
        let whole = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(whole.count)
        var fraction: Substring?
        if rest.first == "." {
            let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            fraction = digits
            rest = rest.dropFirst(digits.count + 1)
        }
        guard rest.isEmpty || rest.first == "e" || rest.first == "E", whole.isEmpty || Int64(whole) != nil else {
            return nil
        }
        return .number(
            sign: String(sign), whole: String(whole), fraction: fraction.map(String.init), exponent: String(rest))
    }

    /// Returns the bytes of a UUID from its 36 characters.
    static func uuidBytes(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        for (place, character) in characters.enumerated() {
            let isDash = [8, 13, 18, 23].contains(place)
            guard (character == UInt8(ascii: "-")) == isDash else { return nil }
        }
        let digits = characters.filter { $0 != UInt8(ascii: "-") }
        let bytes = stride(from: 0, to: 32, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
        }
        return bytes.count == 16 ? bytes : nil
    }

    private static func day(_ bytes: [UInt8]) -> Int64? {
        guard bytes.count >= 10, bytes.prefix(10).allSatisfy({ $0 < 0x40 }) else { return nil }
        let rest = bytes.dropFirst(10)
        let time = Array("T :.,+-Z0123456789".utf8)
        guard rest.isEmpty || (rest.count >= 6 && rest.allSatisfy(time.contains)) else { return nil }
        let day = String(decoding: bytes.prefix(10), as: UTF8.self)
        return Timestamp(iso8601: day + "T00:00:00Z").map { $0.seconds / 86_400 }
    }
}

/// The characters that may replace one another: letters of one case and one range of Unicode, and digits other than
/// zero.
struct CharacterClass {
    /// Texts are arrays of units, one for each character. Other parts have numbers of their own, so that the units can
    /// be converted back to the text: bytes that are not UTF-8, and the scheme at the start of an address.
    private static let (firstByte, firstScheme): (UInt32, UInt32) = (0x11_0000, 0x12_0000)
    private static let schemes = ["https://", "http://", "file:///", "mailto:", "data:"].map { Array($0.utf8) }

    private var known: [UInt32: [UInt32]] = [:]

    /// Returns the units that may replace a unit, ascending; nil for a unit that stays as it is.
    mutating func members(of unit: UInt32) -> [UInt32]? {
        switch unit {
        case 0x61...0x7A: return Self.lower
        case 0x41...0x5A: return Self.upper
        case 0x31...0x39: return Self.digits
        case ..<0x80, Self.firstByte...: return nil
        default: break
        }
        let members = known[unit] ?? Self.neighbours(of: unit)
        known[unit] = members
        return members.count > 1 ? members : nil
    }

    private static let (lower, upper, digits): ([UInt32], [UInt32], [UInt32]) = (
        Array(0x61...0x7A), Array(0x41...0x5A), Array(0x31...0x39)
    )

    /// Returns the characters of the same category whose UTF-8 form differs only in the last byte.
    private static func neighbours(of unit: UInt32) -> [UInt32] {
        guard let kind = Unicode.Scalar(unit)?.properties.generalCategory else { return [] }
        switch kind {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber, .otherSymbol: break
        default: return []
        }
        let start = unit & ~0x3F
        return (start..<start + 0x40).filter { Unicode.Scalar($0)?.properties.generalCategory == kind }
    }

    // MARK: - Units

    static func units(of bytes: [UInt8]) -> [UInt32] {
        if let scheme = schemes.firstIndex(where: { bytes.starts(with: $0) }) {
            return [firstScheme + UInt32(scheme)] + units(of: Array(bytes.dropFirst(schemes[scheme].count)))
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else {
            return bytes.map { $0 < 0x80 ? UInt32($0) : firstByte + UInt32($0) }
        }
        return text.unicodeScalars.map(\.value)
    }

    static func append(_ unit: UInt32, to bytes: inout [UInt8]) {
        if unit >= firstScheme {
            bytes += schemes[Int(unit - firstScheme)]
        } else if unit >= firstByte {
            bytes.append(UInt8(truncatingIfNeeded: unit))
        } else if unit < 0x80 {
            bytes.append(UInt8(unit))
        } else if let scalar = Unicode.Scalar(unit), let encoded = UTF8.encode(scalar) {
            bytes += encoded
        }
    }
}
