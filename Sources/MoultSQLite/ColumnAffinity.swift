/// The type affinity of a column, by which SQLite converts the values that it is given. It follows from the column's
/// declared type (sqlite.org/datatype3.html, 3.1).
package enum ColumnAffinity: Sendable {
    case integer, text, blob, real, numeric

    package init(declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        self =
            has("INT")
            ? .integer
            : has("CHAR", "CLOB", "TEXT")
                ? .text : type.isEmpty || has("BLOB") ? .blob : has("REAL", "FLOA", "DOUB") ? .real : .numeric
    }
}
