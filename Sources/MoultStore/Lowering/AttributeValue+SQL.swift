import MoultModel
import MoultSQLite

extension AttributeValue {
    /// The value as an SQL literal, stored as Core Data stores it in a column of `attribute` (STORE_FORMAT 6).
    func sqlLiteral(for attribute: AttributeDescription) -> String {
        switch self {
        case .integer(let number): "\(number)"
        case .boolean(let flag): flag ? "1" : "0"
        case .double(let number), .date(let number): Self.literal(number)
        // NUMERIC affinity makes a number of it where nothing is lost, and keeps the text otherwise.
        case .decimal(let digits): digits.quotedLiteral
        case .string(let text), .uri(let text): Self.literal(text)
        case .binary(let bytes), .transformable(let bytes):
            Self.literal(attribute.allowsExternalBinaryDataStorage ? [1] + bytes : bytes)
        case .uuid(let bytes): Self.literal(bytes)
        }
    }

    private static func literal(_ number: Double) -> String {
        // SQLite has no literal for these: infinity overflows from one, and NaN is stored as NULL.
        if number.isNaN { return "NULL" }
        if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
        return "\(number)"
    }

    private static func literal(_ text: String) -> String {
        // A literal ends at the first NUL.
        text.utf8.contains(0) ? "CAST(\(literal(Array(text.utf8))) AS TEXT)" : text.quotedLiteral
    }

    private static func literal(_ bytes: [UInt8]) -> String { "x'\(bytes.hexadecimal)'" }
}
