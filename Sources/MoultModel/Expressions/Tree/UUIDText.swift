extension [UInt8] {
    /// Sixteen bytes as a UUID is written, in upper case; other bytes as hexadecimal digits.
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
