/// A number as a column holds it, INTEGER or REAL; never NaN.
package enum ExpressionNumber: Sendable, Hashable {
    case integer(Int64)
    case real(Double)

    /// Creates the number that a DECIMAL column stores for digits: an integer where they are one that fits, otherwise
    /// the nearest real; nil for `NaN` and for what is no number.
    package init?(digits: String) {
        if let number = Int64(digits) {
            self = .integer(number)
        } else if let number = Double(digits), !number.isNaN {
            self = .real(number)
        } else {
            return nil
        }
    }

    package var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The integer that SQLite's CAST makes of it: cut towards zero, and at the ends of the range.
    package var integer: Int64 {
        switch self {
        case .integer(let number): number
        case .real(let number): number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
        }
    }
}

extension ExpressionNumber: Comparable {
    package static func == (left: ExpressionNumber, right: ExpressionNumber) -> Bool { left.order(right) == 0 }
    package static func < (left: ExpressionNumber, right: ExpressionNumber) -> Bool { left.order(right) < 0 }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let number): hasher.combine(number)
        case .real(let number):
            if let number = Int64(exactly: number) { hasher.combine(number) } else { hasher.combine(number) }
        }
    }

    /// Below, at or above 0, by the exact values: an integer is never rounded to a real (`sqlite3IntFloatCompare`).
    private func order(_ other: ExpressionNumber) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.real(let left), .real(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.integer(let left), .real(let right)): Self.order(left, right)
        case (.real(let left), .integer(let right)): -Self.order(right, left)
        }
    }

    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right)
        if left != whole { return left < whole ? -1 : 1 }
        let fraction = right - right.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }
}
