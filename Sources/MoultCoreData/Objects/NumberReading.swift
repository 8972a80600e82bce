import Foundation

/// Numbers as a caller may hand them over: any of Swift's, or an `NSNumber`.
enum NumberReading {
    /// The whole number; nil for what is none or does not fit.
    static func integer(_ value: Any) -> Int64? {
        switch value {
        case let flag as Bool where type(of: value) == Bool.self: flag ? 1 : 0
        case let number as any BinaryInteger: Int64(exactly: number)
        case let number as any BinaryFloatingPoint: Int64(exactly: Double(number))
        case let number as Decimal: Int64(exactly: number)
        case let number as NSNumber: Int64(exactly: number.doubleValue).map { _ in number.int64Value }
        default: nil
        }
    }

    static func double(_ value: Any) -> Double? {
        switch value {
        case let number as any BinaryFloatingPoint: Double(number)
        case let number as any BinaryInteger: Double(number)
        case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
        case let number as NSNumber: number.doubleValue
        default: nil
        }
    }

    static func flag(_ value: Any) -> Bool? {
        if type(of: value) == Bool.self { return value as? Bool }
        switch integer(value) {
        case 0: return false
        case 1: return true
        default: return nil
        }
    }
}

extension Int64 {
    /// Nil if the number has a fraction or is too great.
    fileprivate init?(exactly number: Decimal) {
        self.init("\(number)")
    }
}
