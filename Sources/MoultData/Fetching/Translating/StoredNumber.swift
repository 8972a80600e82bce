import MoultModel

/// The form of numbers in columns that have no unsigned types: one above the signed range is kept as the same bits.
enum StoredNumber {
    /// The number that a column of the type holds.
    static func expression(_ column: StoredExpression, of type: Any.Type) -> StoredExpression {
        switch withoutOptionals(type) {
        case is UInt16.Type: .function("bitwiseAnd:with:", [column, .constant(.integer(0xFFFF))])
        case is UInt32.Type: .function("bitwiseAnd:with:", [column, .constant(.integer(0xFFFF_FFFF))])
        default: column
        }
    }

    /// Whether numbers of the type that are above the signed range are kept as negative ones.
    static func isFolded(_ type: Any.Type) -> Bool {
        let type = withoutOptionals(type)
        return type == UInt.self || type == UInt64.self
    }

    /// In the order of the signed numbers, for one that is kept as the same bits.
    static func ordered(_ number: StoredExpression) -> StoredExpression {
        // The lowest number has no literal in the format language.
        let lowest = StoredExpression.function(
            StoredExpression.Arithmetic.subtract.rawValue, [.constant(.integer(-.max)), .constant(.integer(1))])
        return .function("bitwiseXor:with:", [number, lowest])
    }
}
