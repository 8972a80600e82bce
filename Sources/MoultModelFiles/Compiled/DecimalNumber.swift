import MoultBasics

/// A decimal number in archived form: a mantissa of up to 128 bits and a power of ten.
package struct DecimalNumber: Sendable, Hashable {
    var isNegative: Bool
    var mantissa: UInt128
    var exponent: Int
    /// Whether the number is `NaN`, stored as a negative number with mantissa 0.
    private var isNaN: Bool { isNegative && mantissa == 0 }

    /// Reads an archived `NSDecimalNumber`.
    init?(archived value: KeyedArchive.Value) {
        guard let bytes = value["NS.mantissa"]?.data, bytes.count == 16,
            let exponent = value["NS.exponent"]?.integer, (-128...127).contains(exponent),
            let length = value["NS.length"]?.integer, (0...8).contains(length)
        else { return nil }
        // Eight words of sixteen bits, the least significant first, each in the byte order of the writing machine.
        let isBigEndian = value["NS.mantissa.bo"]?.integer == 2
        mantissa = (0..<Int(length)).reversed().reduce(0) { sum, word in
            let pair = (UInt128(bytes[2 * word]), UInt128(bytes[2 * word + 1]))
            return sum << 16 | (isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0)
        }
        self.exponent = Int(exponent)
        isNegative = value["NS.negative"]?.boolean ?? false
    }

    /// Reads digits with a sign, a point and a power of ten, such as `-12.50` or `1e-3`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
        guard let digits = parts.first, parts.count <= 2 else { return nil }
        let numerals = digits.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
        guard numerals.count <= 2, digits.count - numerals.map(\.count).reduce(numerals.count - 1, +) <= 1,
            let mantissa = UInt128(numerals.joined()), let power = parts.count == 2 ? Int16(parts[1]).map(Int.init) : 0,
            (-128...127).contains(power - (numerals.count == 2 ? numerals[1].count : 0))
        else { return nil }
        isNegative = digits.hasPrefix("-") && mantissa != 0
        self.mantissa = mantissa
        exponent = power - (numerals.count == 2 ? numerals[1].count : 0)
        while self.mantissa != 0, self.mantissa % 10 == 0, exponent < 0 {
            self.mantissa /= 10
            exponent += 1
        }
    }

    /// The exact digits, as `Decimal` prints them.
    package var text: String {
        if isNaN { return "NaN" }
        let sign = isNegative ? "-" : ""
        let digits = String(mantissa)
        if exponent >= 0 || mantissa == 0 {
            return sign + digits + String(repeating: "0", count: mantissa == 0 ? 0 : exponent)
        }
        let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
        let whole = padded.dropLast(-exponent)
        let fraction = padded.suffix(-exponent)
        let last = fraction.lastIndex { $0 != "0" }
        return sign + whole + (last.map { "." + fraction[...$0] } ?? "")
    }
}
