import MoultBasics
import MoultSQLite

/// An empty database with the tables and indexes of a version and the foreign objects of a store, for using these
/// objects as an app would.
///
/// Only the first statement of each SQL text from a store is run, as SQLite does when it opens the file, so that
/// anything a malicious catalogue adds after it is ignored. A statement that takes too long is interrupted.
struct SchemaObjectCheck {
    private let connection: Connection
    /// SQLite's reasons for refusing to create objects here, by name in capitals.
    private var refused: [String: String] = [:]

    /// - Parameters:
    ///   - tables: the statements that create the version's own tables.
    ///   - objects: the other objects, in the order of the catalogue.
    ///   - indexes: the statements that create Core Data's own indexes, which an object may refer to.
    init(_ tables: [String], with objects: [Catalogue.Entry], indexes: [String]) throws {
        connection = try Connection(":memory:", mode: .create)
        // An app trusts its own schema, so that its triggers can write to its search tables.
        try connection.execute("PRAGMA trusted_schema = ON")
        try connection.registerCoreDataStubs()
        for table in tables { try connection.run(table) }
        for entry in objects where entry.kind != .trigger {
            guard let sql = entry.sql else { continue }
            if let reason = fault({ try connection.run(sql) }) { refused[entry.name.uppercased()] = reason }
        }
        for index in indexes { _ = fault { try connection.run(index) } }
    }

    func close() { connection.close() }

    /// Returns whether SQLite cannot create a table, an index or a view here.
    func isRefused(_ name: String) -> Bool { refused[name.uppercased()] != nil }

    private func refusal(of entry: Catalogue.Entry) -> String? { refused[entry.name.uppercased()] }

    func drop(_ entry: Catalogue.Entry) {
        guard entry.kind != .trigger else { return }
        _ = fault { try connection.execute("DROP \(entry.kind.rawValue) \(entry.name.quotedName)") }
    }

    /// Returns the results of the statements that use an object: nil for success, or SQLite's error message.
    ///
    /// The same statements run in each database, so that the results in two databases can be compared.
    func answers(about entry: Catalogue.Entry) -> [String?] {
        switch entry.kind {
        case .index: return [refusal(of: entry)]
        case .view: return [refusal(of: entry)] + use("SELECT * FROM \(entry.name.quotedName)")
        case .table:
            guard entry.isVirtual else { return [refusal(of: entry)] }
            return [refusal(of: entry)] + use("SELECT * FROM \(entry.name.quotedName)")
        case .trigger: return answers(aboutTrigger: entry)
        }
    }

    /// Tries a trigger alone, so that errors of other triggers are not attributed to it.
    private func answers(aboutTrigger entry: Catalogue.Entry) -> [String?] {
        let refusal = fault { try connection.run(entry.sql ?? "") }
        guard entry.sql != nil, refusal == nil else { return [refusal] }
        let table = entry.tableName.quotedName
        let names = (try? connection.columns(of: entry.tableName))?.map(\.name) ?? []
        let columns = names.map(\.quotedName)
        let all = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
        let answers =
            use("INSERT INTO \(table) DEFAULT VALUES") + use("UPDATE \(table) SET \(all)")
            + use("DELETE FROM \(table)")
        _ = fault { try connection.execute("DROP TRIGGER \(entry.name.quotedName)") }
        _ = fault { try connection.execute("DELETE FROM \(table)") }
        return [nil] + answers + [missingUpdate(entry, names)]
    }

    /// Returns an error for a trigger on the update of missing columns. SQLite accepts it, but it never fires.
    private func missingUpdate(_ entry: Catalogue.Entry, _ columns: [String]) -> String? {
        let present = Set(columns.map { $0.uppercased() })
        let awaited = entry.updatedColumns
        guard let first = awaited.first, awaited.allSatisfy({ !present.contains($0.uppercased()) }) else { return nil }
        return "no such column: \(first)"
    }

    /// Returns the reason why SQLite refuses every write to a table while foreign keys are on; nil if it does not.
    ///
    /// https://sqlite.org/foreignkeys.html, section 3: such errors are found when a statement is compiled.
    func foreignKeyFault(_ table: Catalogue.Entry) -> String? {
        defer { _ = fault { try connection.execute("PRAGMA foreign_keys = OFF") } }
        return fault {
            try connection.execute("PRAGMA foreign_keys = ON")
            try connection.prepare("INSERT INTO \(table.name.quotedName) DEFAULT VALUES").finalise()
        }
    }

    /// Compiles a statement to check its names, and runs it to check those that virtual tables use internally.
    private func use(_ sql: String) -> [String?] {
        [fault { try connection.prepare(sql).finalise() }, fault { try connection.run(sql) }]
    }

    /// The limit, in units of ``Connection/instructionsPerPulse``: a few seconds at most.
    private static let patience = 1_000

    private func fault(_ body: () throws -> Void) -> String? {
        var rounds = 0
        do {
            try connection.watched(
                by: {
                    rounds += 1
                    return rounds < Self.patience
                }, during: body)
            return nil
        } catch let error as MigrationError where error.code == .cancelled || error.code == .dataConflict {
            // The statement was interrupted, or a constraint or a RAISE rejects the test row. Neither is a fault.
            return nil
        } catch {
            return Self.words(error)
        }
    }

    /// Returns SQLite's own error message if it rejects a statement.
    static func words(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return words(error)
        }
    }

    /// Returns SQLite's own error message, without its number and the statement.
    private static func words(_ error: any Error) -> String {
        let cause = (error as? MigrationError)?.cause ?? "\(error)"
        let message = cause.split(separator: ":", maxSplits: 1).last ?? cause[...]
        let end = message.firstRange(of: " in: ")?.lowerBound ?? message.endIndex
        let words = String(message[..<end].drop { $0 == " " })
        if words.hasPrefix("foreign key mismatch") { return "it refers to columns that are not a key" }
        // FTS4 gives no more detail.
        return words == "SQL logic error" ? "it asks for a column or a table that is not there" : words
    }
}

extension Catalogue.Entry {
    /// The columns of a trigger's `UPDATE OF`; empty if it fires for any column.
    var updatedColumns: [String] {
        let tokens = (sql ?? "").sqlTokens.prefix { $0.word != "BEGIN" }
        let update = tokens.drop { $0.word != "UPDATE" }.dropFirst()
        guard kind == .trigger, update.first?.word == "OF" else { return [] }
        return update.dropFirst().prefix { $0.word != "ON" }.filter { $0.text != "," }.map(\.name)
    }
}

/// The two trials of a store's objects: among the tables of the new version, and among those of the current store.
struct ObjectTrials {
    private let after: SchemaObjectCheck
    private let makeBefore: () throws -> SchemaObjectCheck
    /// Created when an object fails in the first trial.
    private var before: SchemaObjectCheck?

    /// - Parameter gone: the objects that are dropped in any case.
    init(
        _ foreign: ForeignObjects, _ source: StoreLayout, _ destination: StoreLayout, without gone: Set<Catalogue.Entry>
    ) throws {
        let own =
            destination.tables.map(\.sql) + destination.joinTables.map(\.sql) + destination.virtualTables.map(\.sql)
        after = try SchemaObjectCheck(
            own, with: foreign.surroundings.filter { !gone.contains($0) && !foreign.leaving.contains($0.name) },
            indexes: destination.indexes.map(\.sql) + foreign.lastingIndexes.compactMap(\.sql))
        makeBefore = {
            try SchemaObjectCheck(
                source.tables.map(\.sql) + source.joinTables.map(\.sql), with: foreign.surroundings,
                indexes: foreign.ownIndexes.compactMap(\.sql))
        }
    }

    func close() {
        after.close()
        before?.close()
    }

    /// Tries the candidates and returns those that do not work, with SQLite's reasons: objects that the migration would
    /// break, and objects that are already broken.
    ///
    /// A dropped object may be needed by another one, so the rest is retried until no more fail.
    mutating func run(
        _ candidates: [Catalogue.Entry]
    ) throws -> (dropped: [Catalogue.Entry: String], broken: [Catalogue.Entry: String]) {
        var dropped: [Catalogue.Entry: String] = [:]
        var broken: [Catalogue.Entry: String] = [:]
        var isSettled = false
        while !isSettled {
            isSettled = true
            for entry in candidates where dropped[entry] == nil {
                let answers = after.answers(about: entry)
                guard let reason = answers.lazy.compactMap({ $0 }).first else { continue }
                guard let cause = try contradiction(of: entry, answers) else {
                    broken[entry] = reason
                    continue
                }
                (dropped[entry], broken[entry], isSettled) = (cause, nil, false)
                after.drop(entry)
            }
        }
        return (dropped, broken)
    }

    /// Returns the reasons why SQLite, with foreign keys on, refuses writes to tables that it accepted before.
    mutating func brokenKeys(of tables: [Catalogue.Entry]) throws -> [(table: Catalogue.Entry, reason: String)] {
        var broken: [(table: Catalogue.Entry, reason: String)] = []
        for table in tables where !after.isRefused(table.name) {
            guard let reason = after.foreignKeyFault(table) else { continue }
            let trial = try before ?? makeBefore()
            before = trial
            if trial.foreignKeyFault(table) == nil { broken.append((table, reason)) }
        }
        return broken
    }

    /// Returns the first error that does not occur in the current store.
    private mutating func contradiction(of entry: Catalogue.Entry, _ answers: [String?]) throws -> String? {
        // An index that this SQLite cannot create could not be restored on its table.
        if entry.kind == .index, let reason = answers.first ?? nil, !isElsewhere(entry) { return reason }
        let trial = try before ?? makeBefore()
        before = trial
        let known = trial.answers(about: entry)
        guard (known.first ?? nil) == nil else { return nil }
        return zip(answers, known).lazy.compactMap { $1 == nil ? $0 : nil }.first
    }

    /// Returns whether an index belongs to a table that cannot be created here because its module is missing.
    private func isElsewhere(_ entry: Catalogue.Entry) -> Bool { after.isRefused(entry.tableName) }
}
