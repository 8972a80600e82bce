/// Values as the bytes of a text, for millions of fields: without a String for each.
extension [UInt8] {
    /// A number's digits, with a sign if it is negative.
    mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var (start, rest) = (count, number.magnitude)
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var end = count - 1
        while start < end {
            swapAt(start, end)
            (start, end) = (start + 1, end - 1)
        }
    }

    /// The last digits of a number that is not negative, so many.
    mutating func append(digits: Int, of number: Int) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }

    /// Two digits for each byte.
    mutating func append(hexadecimal bytes: UnsafeRawBufferPointer, isUpper: Bool = false) {
        let letter = isUpper ? UInt8(ascii: "A") - 10 : UInt8(ascii: "a") - 10
        for byte in bytes {
            let (high, low) = (byte >> 4, byte & 15)
            append(high < 10 ? UInt8(ascii: "0") + high : letter + high)
            append(low < 10 ? UInt8(ascii: "0") + low : letter + low)
        }
    }

    /// A UUID of 16 bytes, as Foundation writes it.
    mutating func append(uuid bytes: UnsafeRawBufferPointer) {
        for (start, end) in [(0, 4), (4, 6), (6, 8), (8, 10), (10, 16)] {
            if start > 0 { append(UInt8(ascii: "-")) }
            append(hexadecimal: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isUpper: true)
        }
    }
}
