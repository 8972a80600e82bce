import Foundation

extension Decimal {
    /// The number's exact digits: its `description`, which takes twenty times as long to make.
    package var digits: String {
        let number = abs(Double(truncating: significand as NSDecimalNumber))
        // Every integer below 2^53 is a `Double` without a loss. Zero, NaN and longer numbers are not among them.
        guard number >= 1, number < 0x1p53 else { return description }
        var (rest, exponent) = (UInt64(number), exponent)
        // 16 digits, or 17 with a point, a sign, and as many zeros as the exponent, which is of 8 bits, asks for.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160) { bytes in
            var start = bytes.count
            func put(_ byte: UInt8) {
                start -= 1
                bytes[start] = byte
            }
            while exponent > 0 {
                put(UInt8(ascii: "0"))
                exponent -= 1
            }
            while exponent < 0, rest % 10 == 0 {
                rest /= 10
                exponent += 1
            }
            while rest > 0 || exponent < 0 {
                put(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
                exponent += 1
                guard exponent == 0 else { continue }
                put(UInt8(ascii: "."))
                if rest == 0 { put(UInt8(ascii: "0")) }
            }
            if isSignMinus { put(UInt8(ascii: "-")) }
            return String(decoding: bytes[start...], as: UTF8.self)
        }
    }
}
