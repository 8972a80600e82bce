import MoultModel
import MoultSQLite
import MoultStore

/// A runner that executes a script piece by piece: one statement, or one range of its keys, in each transaction of the
/// working copy, which also records the position. A process that dies leaves the copy after the last complete piece.
struct PacedScript {
    let runner: ScriptRunner
    let units: MigrationUnits
    let pace: CallBudget
    /// The number of keys in the first range, and in every range when only units are counted.
    let keysPerPiece: Int64

    private var statements: [StoreScript.Statement] { runner.script.statements }

    /// The position that a working copy has reached in the script.
    private struct Position {
        /// The next statement.
        var statement = 0
        /// The highest key of it that is done; nil if none is.
        var key: Int64?
        /// The number of its rows that are done.
        var rows: Int64 = 0
    }

    /// - Throws: ``CallBudget/Stop`` when the time is over.
    func run(on connection: Connection) throws {
        var position = try position(of: connection)
        let places = try runner.places(on: connection)
        while statements.indices.contains(position.statement) {
            let first = statements[position.statement]
            var next = position.statement + 1
            if let keys = first.keys, first.rows.progress > 0 {
                try run(first, keys, from: &position, at: places[position.statement], on: connection)
            } else {
                next = try run(from: position.statement, at: places, on: connection)
            }
            runner.report(endOf: places[next - 1], first)
            position = Position(statement: next)
        }
    }

    /// Runs one statement, or several consecutive ones that change only the catalogue. Returns the position after them.
    private func run(from start: Int, at places: [ScriptRunner.Place], on connection: Connection) throws -> Int {
        var piece = statements[start...].prefix { $0.keys == nil && units.isOfTheCatalogue($0) }
        if piece.isEmpty { piece = statements[start...start] }
        try pace.perform(units.unit(of: piece)) {
            try connection.transaction {
                for (index, statement) in zip(piece.indices, piece) {
                    try runner.run(statement, at: places[index], on: connection)
                }
                try note(Position(statement: piece.endIndex), on: connection)
            }
        }
        return piece.endIndex
    }

    /// Drops the table that held the position; it is not part of the new store.
    static func forget(on connection: Connection) throws {
        try connection.execute("DROP TABLE IF EXISTS main.\(table)")
    }
}

// MARK: - Ranges

extension PacedScript {
    private func run(
        _ statement: StoreScript.Statement, _ keys: StoreScript.Statement.Keys, from position: inout Position,
        at place: ScriptRunner.Place, on connection: Connection
    ) throws {
        var size = PieceSize(keysPerPiece, isFixed: !pace.mayRunAhead)
        while let first = try connection.lowestKey(of: keys.table, after: position.key) {
            try size.fit(into: pace, or: units.unit(of: [statement]))
            let (sum, overflow) = first.addingReportingOverflow(size.keys - 1)
            let range = first...(overflow ? Int64.max : sum)
            guard let limited = statement.limited(to: range, rows: min(size.keys, statement.rows.progress)) else {
                return
            }
            let start = pace.clock.elapsed
            let piece = place.piece(after: position.rows, rows: limited.rows.progress)
            let unit = units.unit(of: [limited])
            try pace.perform(unit, expecting: size.seconds ?? pace.seconds(of: unit)) {
                try connection.transaction {
                    try runner.run(limited, at: piece, on: connection)
                    position.rows += connection.changes
                    position.key = range.upperBound
                    try note(position, on: connection)
                }
            }
            size.learn(pace.clock.elapsed - start)
            runner.report(endOf: piece)
        }
        try connection.transaction { try note(Position(statement: position.statement + 1), on: connection) }
    }
}

/// The number of keys in the next range, adjusted to the time that earlier ranges took.
private struct PieceSize {
    private(set) var keys: Int64
    private var secondsPerKey: Double?
    private let isFixed: Bool

    init(_ keys: Int64, isFixed: Bool) {
        self.keys = max(keys, 1)
        self.isFixed = isFixed
    }

    /// The seconds that the next range is expected to take; nil if unknown.
    var seconds: Double? { secondsPerKey.map { $0 * Double(keys) } }

    mutating func learn(_ seconds: Double) {
        secondsPerKey = max(seconds, 1e-6) / Double(keys)
        guard !isFixed, let secondsPerKey else { return }
        let wanted = CostModel.range / secondsPerKey
        keys = Int64(min(max(wanted, Double(keys) / 4, 100), Double(keys) * 4, 1e12))
    }

    /// Makes the range smaller if little time is left.
    mutating func fit(into pace: CallBudget, or unit: MigrationUnit) throws {
        guard let seconds, !isFixed, !pace.hasTime(for: seconds) else { return }
        let share = pace.left / (seconds * CostModel.margin)
        guard share * seconds > CostModel.leastRange else { throw CallBudget.Stop(next: unit) }
        keys = max(1, Int64(Double(keys) * share))
    }
}

// MARK: - In the working copy

extension PacedScript {
    private static let table = "moult_position"

    private func position(of connection: Connection) throws -> Position {
        guard try connection.hasTable(Self.table) else { return Position() }
        let positions = try connection.rows("SELECT statement, key, done FROM main.\(Self.table)") {
            Position(statement: Int(clamping: $0.integer(0)), key: $0.value(1).integer, rows: $0.integer(2))
        }
        return positions.first ?? Position()
    }

    /// Records the position in the open transaction.
    private func note(_ position: Position, on connection: Connection) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS main.\(Self.table) (statement INTEGER, key INTEGER, done INTEGER);
            DELETE FROM main.\(Self.table)
            """)
        try connection.run(
            "INSERT INTO main.\(Self.table) VALUES (?, ?, ?)",
            [
                .integer(Int64(position.statement)), position.key.map(SQLiteValue.integer) ?? .null,
                .integer(position.rows),
            ])
    }
}

extension Connection {
    /// Returns the lowest `Z_PK` above a key, or of all rows.
    fileprivate func lowestKey(of table: String, after key: Int64?) throws -> Int64? {
        guard let key else { return try integer("SELECT min(Z_PK) FROM \(table)") }
        return try integer("SELECT min(Z_PK) FROM \(table) WHERE Z_PK > ?", [.integer(key)])
    }
}
