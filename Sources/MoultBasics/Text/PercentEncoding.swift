extension StringProtocol {
    /// Returns the text with every byte that is not unreserved in a URI written as `%` and two digits.
    ///
    /// - Parameter kept: other characters that stay as they are, such as the slashes of a path.
    package func percentEncoded(keeping kept: String = "") -> String {
        func isKept(_ byte: UInt8) -> Bool { byte.isUnreserved || kept.utf8.contains(byte) }
        if utf8.allSatisfy(isKept) { return String(self) }
        return utf8.reduce(into: "") { text, byte in
            if isKept(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + [byte].hexadecimal.uppercased()
            }
        }
    }

    /// Returns the decoded text; nil if a `%` lacks its digits, or if the bytes are not UTF-8.
    ///
    /// - Parameter plusIsBlank: whether `+` stands for a blank, as in a form.
    package func percentDecoded(plusIsBlank: Bool = false) -> String? {
        utf8.percentDecoded(plusIsBlank: plusIsBlank)
    }
}

extension Collection<UInt8> {
    /// Returns the decoded text; nil if a `%` lacks its digits, or if the bytes are not UTF-8.
    ///
    /// - Parameter plusIsBlank: whether `+` stands for a blank, as in a form.
    package func percentDecoded(plusIsBlank: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(self)
        }
    }

    fileprivate var hexadecimalDigit: UInt8? { Character(Unicode.Scalar(self)).hexDigitValue.map { UInt8($0) } }
}
