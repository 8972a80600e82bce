import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// A sum over the rows of a table that does not depend on their order: what rows that come and go change of it is known
/// without the others.
///
/// It tells whether somebody else wrote to the store that follows. It is no proof that two stores are equal; a
/// comparison of all values is (``MirrorComparison``).
enum MirrorContents {
    /// The sums of tables, by name.
    static func sums(_ connection: Connection, _ tables: [MirroredTable]) throws -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for table in tables {
            sums[table.name] = try sum(connection, table, from: "main.\(table.name.quotedName) AS r")
        }
        return sums
    }

    /// - Parameter rows: what stands behind FROM; the row is called `r`.
    static func sum(_ connection: Connection, _ table: MirroredTable, from rows: String) throws -> Int64 {
        try connection.integer("SELECT moult_sum(\(row(table.columns))) FROM \(rows)") ?? 0
    }

    static func register(on connection: Connection) throws {
        try connection.register(rowFunction)
        try connection.register(SQLiteAggregate("moult_sum", argumentCount: 1) { Sum() })
    }

    /// A function takes no more than 127 arguments: what a row has beyond goes through it again.
    private static func row(_ columns: [String]) -> String {
        var (text, rest) = ("0", columns.map { "r.\($0.quotedName)" }[...])
        while !rest.isEmpty {
            text = "moult_row(\(text), \(rest.prefix(100).joined(separator: ", ")))"
            rest = rest.dropFirst(100)
        }
        return text
    }

    /// FNV-1a over the values' kinds and bytes. Numbers that SQL takes for equal are equal here.
    private static let rowFunction = SQLiteFunction("moult_row", argumentCount: -1) { arguments in
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for index in 0..<arguments.count {
            switch arguments.storageClass(index) {
            case .null: add(0)
            case .integer, .real:
                add(1)
                let bits =
                    Int64(exactly: arguments.real(index)) == arguments.integer(index)
                        || arguments.storageClass(index) == .integer
                    ? UInt64(bitPattern: arguments.integer(index)) : arguments.real(index).bitPattern
                withUnsafeBytes(of: bits) { $0.forEach(add) }
            case .text, .blob:
                add(arguments.storageClass(index) == .text ? 2 : 3)
                arguments.withBytes(index) { $0.forEach(add) }
                add(255)
            }
        }
        return .integer(Int64(bitPattern: hash))
    }

    private final class Sum: SQLiteAggregation {
        private var total: Int64 = 0
        func add(_ arguments: SQLiteArguments) { total &+= arguments.integer(0) }
        func value() -> SQLiteValue { .integer(total) }
    }
}
