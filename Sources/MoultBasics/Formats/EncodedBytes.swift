extension [UInt8] {
    /// Standard base64 with padding.
    package var base64: String {
        var text: [UInt8] = []
        text.reserveCapacity((count + 2) / 3 * 4)
        for start in stride(from: 0, to: count, by: 3) {
            let group = self[start..<Swift.min(start + 3, count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? base64Alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Lower-case hexadecimal.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes standard base64; nil for any other text, such as one with missing padding or foreign characters.
    package init?(base64 text: String) {
        let digits = [UInt8](text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        self = []
        reserveCapacity(digits.count / 4 * 3)
        var bits: UInt32 = 0
        for place in 0..<(digits.count - padding) {
            guard let value = base64Values[Int(digits[place])] else { return nil }
            bits = bits << 6 | value
            if place % 4 != 0 { append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * UInt32(place % 4)))) }
        }
    }
}

private let base64Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// The value of each byte as a base64 digit; nil for other bytes.
private let base64Values: [UInt32?] = {
    var values = [UInt32?](repeating: nil, count: 256)
    for (value, digit) in base64Alphabet.enumerated() { values[Int(digit)] = UInt32(value) }
    return values
}()

extension [UInt8] {
    /// Sixteen bytes in UUID notation, in upper case; any other number of bytes as hexadecimal digits.
    package var uuidText: String {
        let digits = [Character]("0123456789ABCDEF")
        var text = ""
        for (index, byte) in enumerated() {
            if count == 16, [4, 6, 8, 10].contains(index) { text.append("-") }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }
}
