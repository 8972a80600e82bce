import Foundation
import MoultBasics
import MoultModel
import TestSupport

/// Values for generated histories, and what becomes of one in a wider type, written down apart from Moult's own rules.
enum HistoryValues {
    /// The default of an attribute; that of a transformable would have to be an archive.
    static func standard(_ type: AttributeType) -> AttributeValue? {
        switch type {
        case .boolean: .boolean(true)
        case .integer16, .integer32, .integer64: .integer(42)
        case .float, .double: .double(4.25)
        case .decimal: .decimal("42.5")
        case .string: .string("standard 'é'")
        case .date: .date(1_000)
        case .binary: .binary([1, 0, 2])
        case .uuid: .uuid(Array(repeating: 7, count: 16))
        case .uri: .uri("moult:standard")
        default: nil
        }
    }

    /// The default that a model gets in place of the standard one.
    static func otherStandard(_ type: AttributeType) -> AttributeValue? {
        switch type {
        case .boolean: .boolean(false)
        case .integer16, .integer32, .integer64: .integer(-7)
        case .float, .double: .double(-0.5)
        case .decimal: .decimal("7.25")
        case .string: .string("another")
        case .date: .date(-2_000)
        case .binary: .binary([9])
        case .uuid: .uuid(Array(repeating: 9, count: 16))
        case .uri: .uri("moult:other")
        default: nil
        }
    }

    /// The types that hold every value of another.
    static func wider(_ type: AttributeType) -> [AttributeType] {
        switch type {
        case .boolean: [.integer16, .integer32, .integer64, .float, .double, .decimal]
        case .integer16: [.integer32, .integer64, .float, .double, .decimal]
        case .integer32: [.integer64, .double, .decimal]
        case .integer64: [.decimal]
        case .float: [.double]
        default: []
        }
    }

    /// The types that a value may be asked to become although not every one has an equal there.
    static func narrower(_ type: AttributeType) -> [AttributeType] {
        switch type {
        case .integer16: [.boolean, .string]
        case .integer32: [.integer16, .float]
        case .integer64: [.double, .double, .integer32, .float]
        case .decimal: [.double, .integer64, .float]
        case .double: [.float, .integer64, .decimal]
        case .float: [.integer32, .decimal]
        case .string: [.integer64, .double, .decimal]
        default: []
        }
    }

    /// Whether ``converted(_:to:)`` says what becomes of every value of a type in another one.
    static func converts(_ old: AttributeType, to new: AttributeType) -> Bool {
        let whole: Set<AttributeType> = [.boolean, .integer16, .integer32, .integer64]
        return switch new {
        case old: false
        case .double: whole.union([.decimal, .float, .string]).contains(old)
        case .float, .decimal, .boolean: whole.contains(old)
        default: whole.contains(new) && whole.union([.decimal, .double, .float, .string]).contains(old)
        }
    }

    /// The witness's text of the equal value of another type, by plain arithmetic; nil where there is none.
    static func converted(_ text: String, to type: AttributeType) -> String? {
        let (whole, real): (Int64?, Double)
        switch text.prefix(2) {
        case "f:":
            guard let number = number(text.dropFirst(2)) else { return nil }
            (whole, real) = (Int64(exactly: number), number)
        case "i:", "b:", "n:", "s:":
            let digits = text.hasPrefix("s:") ? String(decoding: bytes(text), as: UTF8.self) : String(text.dropFirst(2))
            guard digits.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(digits) else {
                return nil
            }
            (whole, real) = (Int64(digits) ?? Int64(exactly: number), number)
        default: return nil
        }
        switch type {
        case .boolean: return whole == 0 ? "b:0" : whole == 1 ? "b:1" : nil
        case .integer16: return whole.flatMap { Int16(exactly: $0) }.map { "i:\($0)" }
        case .integer32: return whole.flatMap { Int32(exactly: $0) }.map { "i:\($0)" }
        case .integer64: return whole.map { "i:\($0)" }
        case .decimal: return whole.map { "n:\($0)" }
        case .float: return whole.flatMap { Float(exactly: $0) }.map { self.text(.double(Double($0))) }
        case .double:
            guard let whole else { return self.text(.double(real)) }
            return Double(exactly: whole).map { self.text(.double($0)) }
        default: return nil
        }
    }

    /// The witness's text of the same value in another type.
    static func widened(_ text: String, to type: AttributeType) -> String {
        guard let number = Int64(text.dropFirst(2)), text.hasPrefix("i:") || text.hasPrefix("b:") else { return text }
        switch type {
        case .integer16, .integer32, .integer64: return "i:\(number)"
        case .double, .float: return AttributeValue.double(Double(number)).witnessText
        case .decimal: return "n:\(number)"
        default: return text
        }
    }

    /// The witness's text of the equal value of a narrower type.
    static func narrowed(_ text: String, to type: AttributeType) -> String {
        let digits = String(text.dropFirst(2))
        let number =
            text.hasPrefix("f:") ? UInt64(digits, radix: 16).map(Double.init(bitPattern:)) : Double(digits)
        guard let number, ["i:", "b:", "f:", "n:"].contains(String(text.prefix(2))) else { return text }
        switch type {
        case .boolean: return number == 1 ? "b:1" : "b:0"
        case .integer16, .integer32, .integer64:
            // The digits of a double are those of its bits.
            return "i:" + ((text.hasPrefix("f:") ? nil : Int64(digits)) ?? Int64(exactly: number) ?? 0).description
        case .float, .double: return Self.text(.double(number))
        case .decimal where text.hasPrefix("f:"): return "n:" + StoreWitness.plain("\(number)")
        case .decimal: return "n:\(digits)"
        default: return text
        }
    }

    /// Whether a narrower type has a value that is equal to a number of that text; true of what is no number.
    static func hasEqual(_ text: String, in type: AttributeType) -> Bool {
        let digits = text.dropFirst(2)
        let number = text.hasPrefix("f:") ? self.number(digits) : Double(digits)
        guard let number, ["i:", "b:", "f:", "n:"].contains(text.prefix(2)) else { return true }
        let whole = (text.hasPrefix("f:") ? nil : Int64(digits)) ?? Int64(exactly: number)
        switch type {
        case .boolean: return whole == 0 || whole == 1
        case .integer16: return whole.flatMap(Int16.init(exactly:)) != nil
        case .integer32: return whole.flatMap(Int32.init(exactly:)) != nil
        case .integer64: return whole != nil
        case .float: return Double(Float(number)) == number
        case .double: return whole.map { Int64(exactly: Double($0)) == $0 } ?? true
        default: return true
        }
    }

    /// Some value of the type that follows from the texts of others.
    static func digest(_ texts: [String], as type: AttributeType) -> AttributeValue? {
        // A decimal may be spelt in more than one way.
        let texts = texts.map { text in
            text.hasPrefix("n:") ? Double(text.dropFirst(2)).map { "n:\($0)" } ?? text : text
        }
        let sum = texts.joined(separator: " ").utf8.reduce(0) { ($0 * 31 + Int($1)) % 997 }
        return switch type {
        case .boolean: .boolean(sum % 2 == 0)
        case .integer16, .integer32, .integer64: .integer(Int64(sum))
        case .float, .double: .double(Double(sum) / 4)
        case .decimal: .decimal("\(sum).25")
        case .string: .string("\(sum) 'é'")
        case .date: .date(Double(sum) * 1000.5)
        // Some belong into files of their own.
        case .binary: .binary([UInt8](repeating: UInt8(sum % 256), count: sum % 5 == 0 ? 120_000 : sum))
        case .uuid: .uuid([UInt8](repeating: UInt8(sum % 256), count: 16))
        case .uri: .uri("moult:\(sum)")
        default: nil
        }
    }

    /// The witness's text of a text in capitals.
    static func uppercased(_ text: String) -> String { changed(text) { $0.uppercased() } }

    /// The witness's text of what becomes of a text.
    static func changed(_ text: String, _ change: (String) -> String) -> String {
        guard text.hasPrefix("s:") else { return text }
        return self.text(.string(change(String(decoding: bytes(text), as: UTF8.self))))
    }

    /// The bytes of a text's digits.
    private static func bytes(_ text: String) -> [UInt8] {
        let parts = text.dropFirst(2).split(separator: "*")
        if parts.count == 2, let byte = UInt8(parts[0], radix: 16), let count = Int(parts[1]) {
            return [UInt8](repeating: byte, count: count)
        }
        let digits = Array(text.utf8.dropFirst(2))
        return stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
    }

    /// A column holds neither a NaN, which is NULL to SQLite, nor the sign of a zero.
    static func text(_ value: AttributeValue?) -> String {
        switch value {
        case nil: "-"
        case .double(let number)?: number.isNaN ? "-" : AttributeValue.double(number + 0).witnessText
        case .date(let number)?: number.isNaN ? "-" : AttributeValue.date(number + 0).witnessText
        case let value?: asked(value)
        }
    }

    /// What a program asks for, and what the column then holds: of a decimal with more digits than a REAL keeps, the
    /// nearest number. A NaN is refused.
    static func asked(_ value: AttributeValue?) -> String {
        switch value {
        case .binary(let bytes)?, .transformable(let bytes)?: text(of: bytes)
        default: value?.witnessText ?? "-"
        }
    }

    /// Bytes in hexadecimal; of many equal ones, one and their number: `x:05*110000`.
    static func text(of bytes: [UInt8]) -> String {
        let isOne =
            bytes.count > 5_000
            && bytes.withUnsafeBytes { all in
                all.baseAddress.map { memcmp($0, $0 + 1, all.count - 1) == 0 } ?? false
            }
        return "x:" + (isOne ? "\(Array(bytes.prefix(1)).hexadecimal)*\(bytes.count)" : bytes.hexadecimal)
    }

    static func stored(_ text: String) -> String {
        if text.hasPrefix("n:"), Int64(text.dropFirst(2)) == nil, let number = Double(text.dropFirst(2)) {
            return "n:" + StoreWitness.plain("\(number)")
        }
        guard text.hasPrefix("f:") || text.hasPrefix("d:"),
            let number = number(text.dropFirst(2))
        else { return text }
        return number.isNaN ? "-" : number == 0 ? self.text(text.hasPrefix("f:") ? .double(0) : .date(0)) : text
    }

    /// The number of a text's digits, which are its bits.
    private static func number(_ digits: Substring) -> Double? {
        UInt64(digits, radix: 16).map(Double.init(bitPattern:))
    }

    /// The value of a text, as a face of the store takes it; nil for none, and for what no face can say.
    static func value(_ text: String, as type: AttributeType) -> AttributeValue? {
        let rest = text.dropFirst(2)
        switch text.prefix(2) {
        case "i:": return Int64(rest).map(AttributeValue.integer)
        case "b:": return .boolean(rest == "1")
        case "f:": return number(rest).map(AttributeValue.double)
        case "d:": return number(rest).map(AttributeValue.date)
        case "n:": return .decimal(String(rest))
        case "s:": return String(validating: bytes(text), as: UTF8.self).map(AttributeValue.string)
        case "u:": return String(validating: bytes(text), as: UTF8.self).map(AttributeValue.uri)
        case "U:": return .uuid(bytes(text))
        case "x:": return type == .transformable ? .transformable(bytes(text)) : .binary(bytes(text))
        default: return nil
        }
    }

    // MARK: - Texts that are not UTF-8

    /// Bytes that are not UTF-8: a byte that begins nothing, one that continues nothing, longer forms than the shortest,
    /// characters without their end, both halves of a surrogate pair, a number above the last, and UTF-16.
    static let brokenTexts: [[UInt8]] = [
        [0x61, 0xFF, 0xC3, 0x28], [0x61, 0x80], [0xC0, 0xAF, 0x61], [0xE0, 0x80, 0xAF], [0x61, 0xE2, 0x82],
        [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF, 0xFE, 0x61, 0x00],
        Array("sixteen bytes...".utf8) + [0xC2],
    ]

    static func isBroken(_ text: String) -> Bool {
        text.hasPrefix("s:") && String(validating: bytes(text), as: UTF8.self) == nil
    }

    /// The text as code is given it that reads it all the same: with U+FFFD for what is no character.
    static func asRead(_ text: String) -> String {
        isBroken(text) ? self.text(.string(String(decoding: bytes(text), as: UTF8.self))) : text
    }

    /// The text of what is not a number, where a program can ask for it.
    static func notANumber(_ type: AttributeType) -> String? {
        switch type {
        case .double, .float: AttributeValue.double(.nan).witnessText
        case .date: AttributeValue.date(.nan).witnessText
        default: nil
        }
    }

    /// Whether an attribute can have the value of that text.
    static func fits(_ text: String, _ attribute: AttributeDescription) -> Bool {
        guard text != "-" else { return attribute.isOptional }
        guard stored(text) != "-" else { return false }
        let marks: [AttributeType: String] = [
            .boolean: "b:", .integer16: "i:", .integer32: "i:", .integer64: "i:", .decimal: "n:", .double: "f:",
            .float: "f:", .string: "s:", .date: "d:", .binary: "x:", .uuid: "U:", .uri: "u:", .transformable: "x:",
        ]
        guard let mark = marks[attribute.type], text.hasPrefix(mark) else { return false }
        switch attribute.type {
        case .integer16: return Int16(text.dropFirst(2)) != nil
        case .integer32: return Int32(text.dropFirst(2)) != nil
        // A version that a shorter life lacks may have made a double of it.
        case .float:
            return number(text.dropFirst(2)).map { Double(Float($0)) == $0 } ?? false
        default: return true
        }
    }

    /// A value for the object of that number; nil now and then where it may be.
    static func value(of attribute: HistoryModel.Attribute, number: Int, using random: inout HistoryRandom)
        -> AttributeValue?
    {
        let description = attribute.description
        if description.isOptional, Int.random(in: 0..<4, using: &random) == 0 { return nil }
        if attribute.isDistinct { return .string("\(number) \(strings[abs(number) % strings.count])") }
        let choices = values(description)
        return choices.randomElement(using: &random)
    }

    private static func values(_ attribute: AttributeDescription) -> [AttributeValue] {
        switch attribute.type {
        case .boolean: [.boolean(true), .boolean(false)]
        case .integer16: [0, 1, -7, Int64(Int16.min), Int64(Int16.max)].map(AttributeValue.integer)
        case .integer32: [0, -1, 99, Int64(Int32.min), Int64(Int32.max)].map(AttributeValue.integer)
        case .integer64:
            [0, -1, .min, .max, .max - 1, 1 << 53 + 1, 1 << 53 - 1, 1 << 53, -(1 << 53) - 1].map(AttributeValue.integer)
        case .decimal:
            [
                "0", "12.5", "-99999.99", "123456789012345", "0.000000000000001", "9007199254740993",
                "9223372036854775807", "-9223372036854775808", "33.33333333333333333333",
            ].map(AttributeValue.decimal)
        case .double:
            [
                0, -0.0, 0.1, -1.5, 9_007_199_254_740_994, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
                -.infinity,
            ]
            .map(AttributeValue.double)
        case .float:
            [0, -0.0, 0.5, Double(Float.greatestFiniteMagnitude), Double(Float(0.1)), -3].map(
                AttributeValue.double)
        case .string: strings.map(AttributeValue.string)
        case .date: [0, -0.0, -3_150_000_000, 0.123456789, 63_113_904_000, -1e15, 1e18].map(AttributeValue.date)
        case .uuid: [UInt8(0), 255, 17].map { .uuid(Array(repeating: $0, count: 16)) }
        case .uri: ["", "file:///tmp/a%20b", "x:"].map(AttributeValue.uri)
        case .binary:
            blobs.map(AttributeValue.binary)
                + (attribute.allowsExternalBinaryDataStorage ? [.binary(Array(repeating: 5, count: 110_000))] : [])
        case .transformable: blobs.map(AttributeValue.transformable)
        default: []
        }
    }

    private static let strings = [
        "", " ", "\0", "a\0b", "'\";--", "line\nbreak\ttab", "e\u{301}\u{2028}\u{202E}abc", "👩‍👩‍👧‍👦", "\u{FEFF}\u{10FFFF}",
        "NULL", "007",
        "1e5",
    ]
    private static let blobs: [[UInt8]] = [[], [0], [1, 2, 3], [2, 65, 66, 0], Array(repeating: 200, count: 3_000)]
}
