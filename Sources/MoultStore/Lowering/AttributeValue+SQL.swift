import MoultModel
import MoultSQLite

extension AttributeValue {
    /// The value as an SQL literal, stored as Core Data stores it in a column of `attribute`.
    func sqlLiteral(for attribute: AttributeDescription) -> String {
        if attribute.allowsExternalBinaryDataStorage, case .blob(let bytes)? = stored {
            return SQLiteValue.blob([1] + bytes).literal
        }
        // Of a default value with more digits Core Data's own column holds the nearest number.
        if case .decimal(let digits) = self, stored == nil { return SQLiteValue.text(digits).literal }
        return (stored ?? .null).literal
    }
}
