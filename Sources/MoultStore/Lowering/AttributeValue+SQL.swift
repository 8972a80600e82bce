import MoultModel
import MoultSQLite

extension AttributeValue {
    /// The value as Core Data stores it in a column of `attribute`.
    func stored(for attribute: AttributeDescription) -> SQLiteValue {
        if attribute.allowsExternalBinaryDataStorage, case .blob(let bytes)? = stored { return .blob([1] + bytes) }
        // SQLite stores NaN as NULL.
        if case .real(let number)? = stored, number.isNaN { return .null }
        return stored ?? .null
    }
}
