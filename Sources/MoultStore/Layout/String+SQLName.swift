import MoultSQLite

extension String {
    /// The name as Core Data writes it, bare; quoted only where SQLite would not read it as one name.
    package var sqlName: String {
        let isBare = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "$"), 0x80...:
                true
            default: false
            }
        }
        guard isBare, let first = utf8.first else { return quotedName }
        return first == UInt8(ascii: "$") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) ? quotedName : self
    }
}

extension String {
    /// Whether the SQL has that name as a whole word, bare or quoted.
    package func names(_ name: String) -> Bool {
        if contains(name.quotedName) { return true }
        return split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.contains { $0 == name }
    }
}

extension [String] {
    /// Names with commas between them.
    package var sqlList: String { map(\.sqlName).joined(separator: ", ") }
}
