import MoultModel
import MoultSQLite

extension AttributeValue {
    /// The value as an SQL literal, stored as Core Data stores it in a column of `attribute` (STORE_FORMAT 6).
    func sqlLiteral(for attribute: AttributeDescription) -> String {
        if attribute.allowsExternalBinaryDataStorage, case .blob(let bytes)? = stored {
            return SQLiteValue.blob([1] + bytes).literal
        }
        // Of a decimal, NUMERIC affinity makes a number where nothing is lost, and keeps the text otherwise.
        return (stored ?? .null).literal
    }
}
