import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A runner that executes a script's statements in order, with progress and cancellation inside each.
struct ScriptRunner {
    let script: StoreScript
    let observer: MigrationObserver
    /// The sizes of the tables, if they have been read.
    var sizes: TableSizes?

    /// The position of a statement, or of a piece of one, in the whole script.
    struct Place {
        /// The rows before it, and its own.
        let rowsBefore: Int64
        let rows: Int64
        /// The part of the script that precedes it, 0 to 1, and its own part.
        let start: Double
        let part: Double

        /// Returns the place of a piece of `count` rows that follows `done` rows.
        func piece(after done: Int64, rows count: Int64) -> Place {
            let share = part / Double(max(rows, 1))
            let done = min(done, rows)
            return Place(
                rowsBefore: rowsBefore + done, rows: min(count, rows - done), start: start + share * Double(done),
                part: share * Double(min(count, rows - done)))
        }
    }

    /// Returns the place of each statement, by its expected cost.
    ///
    /// - Parameter connection: the connection to the copy, before the script has run.
    func places(on connection: Connection) throws -> [Place] {
        let costs = try sizes.map { script.costs(by: $0) } ?? script.costs(over: connection)
        let all = max(costs.reduce(0, +), 1e-9)
        var (rows, start): (Int64, Double) = (0, 0)
        return zip(script.statements, costs).map { statement, cost in
            let count = statement.rows.progress
            defer { (rows, start) = (rows + count, start + cost / all) }
            return Place(rowsBefore: rows, rows: count, start: start, part: cost / all)
        }
    }

    /// Runs the script in the open transaction.
    func run(on connection: Connection) throws {
        for (statement, place) in zip(script.statements, try places(on: connection)) {
            try run(statement, at: place, on: connection)
            report(endOf: place, statement)
        }
    }

    /// - Parameter statement: the statement that has ended; nil for a part of a statement.
    func report(endOf place: Place, _ statement: StoreScript.Statement? = nil) {
        observer.report(
            .change, place.start + place.part, rows: place.rowsBefore + place.rows, statement?.sentence,
            table: statement?.table)
    }

    /// Runs a statement in the open transaction.
    func run(_ statement: StoreScript.Statement, at place: Place, on connection: Connection) throws {
        // Outside a transaction the statement would be durable at once.
        guard connection.isInTransaction else {
            throw MigrationError(
                .migrationFailed, "SQLite ended the transaction before: \(statement.sentence)",
                place: connection.path, remedy: "Check whether memory or disk space ran out, and run the command again."
            )
        }
        do {
            if statement.kind == .retypeColumns { return try connection.editSchema(statement.sql) }
            let compiled = try connection.prepare(statement.sql)
            defer { compiled.finalise() }
            let (start, steps) = (place.start, try estimatedSteps(statement, connection))
            try observer.spanning(start...start + place.part).watching(
                connection, as: .change, steps: steps,
                rows: { place.rowsBefore + Int64($0 * Double(place.rows)) }, during: { try compiled.run() })
        } catch let error as MigrationError where error.code == .sqlite {
            throw MigrationError(
                .migrationFailed, "A step of the migration failed: \(statement.sentence)", place: connection.path,
                remedy: "Check the cause. The store is unchanged.", cause: error.cause)
        }
    }

    /// Estimates the steps of SQLite's virtual machine: a statement over many rows runs its program's loops once for
    /// each row. Returns nil for one with few or unknown rows, such as an index.
    private func estimatedSteps(_ statement: StoreScript.Statement, _ connection: Connection) throws -> Double? {
        guard statement.rows.progress > 10_000 else { return nil }
        var loops: Int64 = 0
        try connection.forEachRow("EXPLAIN \(statement.sql)") { row in
            // Next and SorterNext jump back to the start of their loop, the address in their second operand. So does
            // the Goto of an INSERT that takes its rows from another loop. The Goto to 1 ends the preparations, which
            // come last.
            guard let opcode = row.text(1), opcode.hasSuffix("Next") || opcode == "Goto" && row.integer(3) > 1 else {
                return
            }
            loops += max(row.integer(0) - row.integer(3) + 1, 0)
        }
        return Double(statement.rows.progress) * Double(max(loops, 1))
    }
}

/// Work on another thread, or at once on this one, whose result can be awaited.
///
/// The thread is not one of Dispatch's: a forked process, as for each store of a fleet, has none of those.
final class BackgroundWork<Value: Sendable>: @unchecked Sendable {
    // Written once before the thread ends; read only after waiting for it.
    private var result: Result<Value, any Error>?
    private var thread: JoinedThread?

    init(isSequential: Bool = false, _ body: @escaping @Sendable () throws -> Value) {
        thread = isSequential ? nil : .start { self.result = Result { try body() } }
        if thread == nil { result = Result { try body() } }
    }

    func wait() throws -> Value {
        thread?.wait()
        thread = nil
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Sleeps for the given seconds.
    static func wait(seconds: Double) { usleep(UInt32(min(max(seconds, 0), 1_000) * 1e6)) }
}
