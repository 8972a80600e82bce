import MoultSQLite

/// The source of the values of a column, for a row `s` of the source's table.
enum ColumnSource: Sendable, Hashable {
    /// That column of the row.
    case column(String)
    /// The same, with another value where it is nil.
    case filled(String, SQLiteValue)
    /// The same value for each row.
    case literal(SQLiteValue)
    /// That column's value, converted. The SQL only tests it for NULL and passes it to functions. It never compares it,
    /// because a comparison depends on the declared type.
    case converted(String, SQLText)
    case expression(SQLText)

    static let null = literal(.null)

    var sql: SQLText {
        switch self {
        case .column(let name): "s.\(name: name)"
        case .filled(let name, let value): "COALESCE(s.\(name: name), \(value: value))"
        case .literal(let value): "\(value: value)"
        case .converted(_, let sql), .expression(let sql): sql
        }
    }
}

extension SQLiteValue {
    /// Whether SQL has a literal for it, as a column's default needs one; others are an expression.
    var hasLiteral: Bool {
        switch self {
        case .null, .real, .blob: true
        case .integer(let number): number != .min
        case .text(let text): !text.utf8.contains(0)
        }
    }
}
