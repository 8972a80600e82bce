import MoultModel
import MoultSystem

/// The kind of a text, by what it may be converted to. Its stand-in has to be of the same kind.
enum TextKind: Equatable {
    /// A number in decimal digits: what is before the digits, the digits before the point, those behind it, an exponent.
    case number(sign: String, whole: String, fraction: String?, exponent: String)
    /// In 36 characters.
    case uuid
    /// A date, and perhaps a time, in the order of ISO 8601; the number of its day since 1970.
    case date(day: Int64)
    /// The URI of an object: the UUID of its store comes after the scheme.
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

    /// Numbers of more digits than Int64 has are texts of digits, whose stand-ins are numbers too.
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

    /// The bytes of a UUID in its 36 characters.
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
