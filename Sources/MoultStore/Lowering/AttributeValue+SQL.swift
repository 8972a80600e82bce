import MoultModel
import MoultSQLite

extension AttributeValue {
    /// The value as Core Data stores it in a column of `attribute`.
    func stored(for attribute: AttributeDescription) -> SQLiteValue {
        if attribute.allowsExternalBinaryDataStorage, case .blob(let bytes)? = stored { return .blob([1] + bytes) }
        // Of a default value with more digits Core Data's own column holds the nearest number.
        if case .decimal(let digits) = self, stored == nil { return .text(digits) }
        // SQLite stores NaN as NULL.
        if case .real(let number)? = stored, number.isNaN { return .null }
        return stored ?? .null
    }
}
