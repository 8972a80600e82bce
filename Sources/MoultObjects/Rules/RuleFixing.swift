import MoultModel
import MoultSQLite
import MoultStore

/// The fixes of rules, applied to a copy of a store without asking for confirmation.
///
/// The objects that break a rule are collected first, then changed in batches by key, so that memory does not grow with
/// their number. A dry run applies the fixes to a copy that is then discarded.
package struct RuleFixing {
    private let store: ObjectStore
    private let connection: Connection
    private let quarantine: QuarantineWriter
    private let ledger: RuleLedger
    /// The number of objects changed in one transaction.
    private let batchSize: Int
    private let checkpoint: () throws -> Void

    /// The transaction author recorded in persistent history.
    private static let author = "Moult"

    /// - Parameters:
    ///   - connection: the store's connection.
    ///   - checkpoint: called between batches; it throws if the run is cancelled.
    package init(
        _ store: ObjectStore, _ connection: Connection, batchSize: Int = 1_000,
        checkpoint: @escaping () throws -> Void = {}
    ) throws {
        self.store = store
        self.connection = connection
        self.batchSize = max(batchSize, 1)
        self.checkpoint = checkpoint
        quarantine = try QuarantineWriter(connection)
        ledger = try RuleLedger(store, connection)
    }

    /// Applies the fixes of the rules that have one, in their order.
    ///
    /// - Throws: `dataConflict` if a fix would break a constraint of the model.
    package func run(_ rules: [ValidationRule]) throws -> [RuleFixOutcome] {
        try rules.compactMap { rule in try rule.fix.map { try run($0, of: rule) } }
    }

    private func run(_ fix: ValidationRule.Fix, of rule: ValidationRule) throws -> RuleFixOutcome {
        var outcome = RuleFixOutcome(rule: rule.name, fix: fix.word)
        try collect(rule, onlyFirstOfCycle: fix.cutsCycles)
        defer { try? connection.execute("DROP TABLE IF EXISTS temp.moult_violation") }
        var application = try FixApplication(fix, of: rule, store, quarantine, ledger, author: Self.author)
        var last = Int64.min
        while true {
            try checkpoint()
            let batch = try connection.rows(
                "SELECT key, number FROM temp.moult_violation WHERE key > ? ORDER BY key LIMIT \(batchSize)",
                [.integer(last)]
            ) { ($0.integer(0), Int(clamping: $0.integer(1))) }
            guard let end = batch.last else { return outcome }
            last = end.0
            let ids = batch.compactMap { key, number in
                store.layout.entityName(number: number).map {
                    store.id($0, key: key)
                }
            }
            try application.apply(to: ids, &outcome)
        }
    }

    /// Collects the keys of all objects that break a rule.
    private func collect(_ rule: ValidationRule, onlyFirstOfCycle: Bool) throws {
        try connection.execute(
            """
            DROP TABLE IF EXISTS temp.moult_violation;
            CREATE TEMP TABLE moult_violation (key INTEGER PRIMARY KEY, number INTEGER)
            """)
        let insert = try connection.prepare("INSERT OR IGNORE INTO temp.moult_violation VALUES (?, ?)")
        defer { insert.finalise() }
        let violations = RuleViolations(store: store)
        try store.reading {
            try violations.forEachObject(breaking: rule, onlyFirstOfCycle: onlyFirstOfCycle) { id in
                let number = store.layout.entityNumbers[id.entityName] ?? 0
                try insert.run([.integer(id.key), .integer(Int64(number))])
                insert.reset()
            }
        }
    }
}

extension ValidationRule.Fix {
    /// Whether one change is enough to break a whole cycle.
    fileprivate var cutsCycles: Bool {
        switch self {
        case .nullify, .set, .assign: true
        case .delete, .recount, .quarantine: false
        }
    }
}

/// The changes that the fix of one rule has made.
package struct RuleFixOutcome: Sendable, Hashable {
    package var rule: String
    /// The name of the fix: ``ValidationRule/Fix/word``.
    package var fix: String
    /// The number of objects whose values were changed.
    package var changed: Int64 = 0
    /// The number of deleted objects, including those that delete rules deleted.
    package var deleted: Int64 = 0
    /// The number of objects moved to the quarantine.
    package var quarantined: Int64 = 0
    /// The number of default objects that were made.
    package var inserted: Int64 = 0
    /// The first objects, each with a description of its change.
    package var examples: [RuleFinding.Example] = []

    package init(rule: String, fix: String) {
        self.rule = rule
        self.fix = fix
    }

    /// The outcome with the values of objects, for callers that asked for them.
    package var showingValues: RuleFixOutcome {
        var outcome = self
        for position in outcome.examples.indices { outcome.examples[position].hasValues = false }
        return outcome
    }
}

/// A record of the objects and properties that fixes may have changed, so that verification accepts these changes and
/// no others.
///
/// It is kept in temporary tables of the connection: `moult_fixed` (table, key, property), `moult_gone` and `moult_new`
/// (table, key).
package struct RuleLedger {
    private let store: ObjectStore
    private let fixed: Statement
    private let gone: Statement
    private let new: Statement

    package init(_ store: ObjectStore, _ connection: Connection) throws {
        self.store = store
        try Self.makeTables(connection)
        fixed = try connection.prepare("INSERT OR IGNORE INTO temp.moult_fixed VALUES (?, ?, ?)")
        gone = try connection.prepare("INSERT OR IGNORE INTO temp.moult_gone VALUES (?, ?)")
        new = try connection.prepare("INSERT OR IGNORE INTO temp.moult_new VALUES (?, ?)")
    }

    static func makeTables(_ connection: Connection) throws {
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_fixed (
                tbl TEXT, key INTEGER, property TEXT, PRIMARY KEY (tbl, key, property)) WITHOUT ROWID;
            CREATE TEMP TABLE IF NOT EXISTS moult_gone (tbl TEXT, key INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID;
            CREATE TEMP TABLE IF NOT EXISTS moult_new (tbl TEXT, key INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID
            """)
    }

    package func noteChange(of ids: [ObjectID], _ properties: [String]) throws {
        for id in ids {
            let table = try store.columns(of: id.entityName).table
            for property in properties { try fixed.note([.text(table), .integer(id.key), .text(property)]) }
        }
    }

    func noteRemoval(of ids: [ObjectID]) throws {
        for id in ids { try gone.note([.text(try store.columns(of: id.entityName).table), .integer(id.key)]) }
    }

    package func noteInsertion(of ids: [ObjectID]) throws {
        for id in ids { try new.note([.text(try store.columns(of: id.entityName).table), .integer(id.key)]) }
    }
}

extension Statement {
    fileprivate func note(_ values: [SQLiteValue]) throws {
        try run(values)
        reset()
    }
}
