import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The time of a call with a budget, as a run of policies needs it.
package protocol PolicyPace: AnyObject {
    /// The seconds of the call that have passed.
    var elapsed: Double { get }
    /// The seconds left for pieces; infinite if pieces are counted.
    var left: Double { get }
    /// Whether pieces are counted, so that each is one batch.
    var isCounted: Bool { get }

    /// Performs one piece if there is time for it; otherwise throws the end of the call.
    ///
    /// - Parameters:
    ///   - seconds: the expected time.
    ///   - isMeasured: whether it was measured on this machine.
    func perform(_ sentence: String, seconds: Double, isMeasured: Bool, _ body: () throws -> Void) throws
}

/// The pieces of a run of policies. Each is one transaction of the working copy, which also records the position and
/// everything that the rest of the run needs. A process that dies leaves the copy after the last complete piece.
///
/// The tasks of a run are numbered in their order, which is the same in every call.
final class PolicyPieces {
    private let pace: any PolicyPace
    private let connection: Connection
    /// The most objects of a batch.
    private let batchSize: Int
    /// The number of the next task, and the highest key of it that is done.
    private var position: (task: Int, key: Int64?) = (0, nil)
    /// The results of earlier calls; nil in the first one.
    private(set) var record: PolicyRecord?
    private var task = -1
    private var size: Int
    private var secondsOfObject: Double?

    init(on connection: Connection, _ pace: any PolicyPace, batchSize: Int) throws {
        (self.connection, self.pace, self.batchSize) = (connection, pace, batchSize)
        size = pace.isCounted ? batchSize : min(batchSize, 100)
        try PolicyNotes.begin(on: connection)
        try connection.forEachRow("SELECT task, key, record FROM main.moult_policies") { row in
            position = (Int(clamping: row.integer(0)), row.isNull(1) ? nil : row.integer(1))
            record = try PolicyRecord(
                JSONValue(parsing: Array((row.text(2) ?? "").utf8), place: connection.path, code: .metadataInvalid))
        }
    }

    /// Performs the next task, or the rest of it, in one or several pieces.
    ///
    /// - Parameters:
    ///   - seconds: the expected time of the whole task; nil for a task over objects.
    ///   - body: performs a batch of at most `count` objects after the key, and returns the last key; nil if there are
    ///     no others.
    func perform(
        _ sentence: String, seconds: Double?, if isNeeded: Bool, _ manager: MigrationManager,
        _ body: (_ after: Int64, _ count: Int) throws -> Int64?
    ) throws {
        task += 1
        guard task >= position.task, isNeeded else { return }
        if task > position.task { position = (task, nil) }
        secondsOfObject = nil
        while position.task == task {
            let ofBatch = seconds ?? Double(size) * (secondsOfObject ?? CostModel.object)
            try pace.perform(sentence, seconds: ofBatch, isMeasured: secondsOfObject != nil) {
                let length = min(CostModel.range, pace.left / CostModel.margin)
                let start = pace.elapsed
                let objects = try self.piece(manager, until: start + length - ofBatch, body)
                if seconds == nil { self.learn(max(pace.elapsed - start, 1e-6) / Double(objects)) }
            }
        }
    }

    /// Counts a task that is not needed.
    func skip() { task += 1 }

    /// - Parameter end: the second of the call after which no other batch begins.
    /// - Returns: the most objects that the piece can have had.
    private func piece(
        _ manager: MigrationManager, until end: Double, _ body: (_ after: Int64, _ count: Int) throws -> Int64?
    ) throws -> Int {
        var objects = 0
        try manager.destinationStore.writing {
            try manager.reserveKeys()
            repeat {
                objects += size
                if let last = try body(position.key ?? Int64.min, size) {
                    position.key = last
                } else {
                    position = (task + 1, nil)
                }
            } while position.task == task && !pace.isCounted && pace.elapsed < end
            if let mapping = manager.current { try manager.run.write(manager, mapping) }
            guard manager.userInfo.isEmpty else { throw KeptPolicyState(policy: manager.current?.policyName ?? "") }
            try PolicyNotes.write(position.task, position.key, PolicyRecord(manager), on: connection)
        }
        try connection.proveWrites()
        return objects
    }

    private func learn(_ each: Double) {
        guard !pace.isCounted else { return }
        secondsOfObject = each
        size = Int(min(max(CostModel.range / each, 1), Double(size) * 4, Double(batchSize)))
    }
}

/// Thrown when a policy keeps values that the next call would not have. Nothing of the piece is written.
package struct KeptPolicyState: Error {
    /// The name of the policy that was called last.
    package let policy: String
}

/// The tables with which a working copy keeps a run of policies until it is complete. They are no part of the new
/// store.
package enum PolicyNotes {
    private static let tables = [
        "moult_policies", "moult_triggers", "moult_associations", "moult_set_links", rows, quarantine,
    ]
    private static let rows = "moult_policy_rows"
    private static let quarantine = "moult_quarantine"

    /// Makes the tables and drops the app's triggers, unless an earlier call has done so.
    static func begin(on connection: Connection) throws {
        guard try !connection.hasTable("moult_policies") else { return }
        let triggers = try connection.appTriggers()
        try connection.transaction {
            try connection.execute(
                """
                CREATE TABLE main.moult_policies (task INTEGER, key INTEGER, record TEXT);
                CREATE TABLE main.moult_triggers (sql TEXT)
                """)
            for trigger in triggers {
                try connection.run(
                    "INSERT INTO main.moult_triggers VALUES (?)", [trigger.sql.map(SQLiteValue.text) ?? .null])
                try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)")
            }
        }
    }

    /// Records the position in the open transaction.
    static func write(_ task: Int, _ key: Int64?, _ record: PolicyRecord, on connection: Connection) throws {
        try connection.execute("DELETE FROM main.moult_policies")
        try connection.run(
            "INSERT INTO main.moult_policies VALUES (?, ?, ?)",
            [.integer(Int64(task)), key.map(SQLiteValue.integer) ?? .null, .text(record.json.compact)])
    }

    /// Returns the number of rows that ``setAside(from:in:)`` copies.
    package static func count(on connection: Connection) throws -> Int64 {
        try [rows, quarantine].filter { try connection.hasTable($0) }.reduce(0) {
            try $0 + (connection.integer("SELECT count(*) FROM main.\($1)") ?? 0)
        }
    }

    /// Copies what the verification and the commit need, once the policies have run, into an empty file.
    package static func setAside(from connection: Connection, in path: String) throws {
        try connection.attach(path, as: "aside", mode: .readWrite)
        do {
            try connection.transaction(.deferred) {
                for (table, make) in [(rows, MigrationManager.tableOfRows), (quarantine, QuarantineWriter.table)] {
                    try connection.execute(make("aside"))
                    guard try connection.hasTable(table) else { continue }
                    try connection.execute("INSERT INTO aside.\(table) SELECT * FROM main.\(table)")
                }
            }
        } catch {
            try? connection.detach("aside")
            throw error
        }
        try connection.detach("aside")
    }

    /// Lets a verification find the rows that policies have written, in a file made by ``setAside(from:in:)``.
    package static func show(_ path: String, on connection: Connection) throws {
        try connection.attach(path, as: "aside")
        guard try connection.integer("SELECT EXISTS (SELECT 1 FROM aside.\(rows))") == 1 else { return }
        try connection.execute("CREATE TEMP VIEW \(rows) AS SELECT entity, key, made FROM aside.\(rows)")
    }

    /// Drops the tables and creates the app's triggers again. Does nothing if there are no such tables.
    package static func forget(on connection: Connection) throws {
        guard try connection.hasTable("moult_policies") else { return }
        try connection.transaction {
            let triggers = try connection.rows("SELECT sql FROM main.moult_triggers ORDER BY rowid") { $0.text(0) }
            for table in tables { try connection.execute("DROP TABLE IF EXISTS main.\(table)") }
            for sql in triggers.compactMap(\.self) { try connection.run(sql) }
        }
    }
}
