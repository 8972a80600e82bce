/// The characters that may stand for one another: letters of one case and one part of Unicode, digits but zero.
struct CharacterClass {
    /// Units stand for characters. What is no character has a number of its own, so that a text can be made of its units
    /// again: bytes that are not UTF-8, and the scheme at the beginning of an address.
    private static let (firstByte, firstScheme): (UInt32, UInt32) = (0x11_0000, 0x12_0000)
    private static let schemes = ["https://", "http://", "file:///", "mailto:", "data:"].map { Array($0.utf8) }

    private var known: [UInt32: [UInt32]] = [:]

    /// The units that may stand for a unit, ascending; nil for one that stays as it is.
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

    /// Characters of one kind that have all bytes but the last in common in UTF-8.
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
