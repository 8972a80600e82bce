import MoultModel
import MoultSQLite

/// The two trials of a store's objects: among the tables of the new version, and among those of the store as it is.
struct ObjectTrials {
    private let after: ObjectTrial
    private let makeBefore: () throws -> ObjectTrial
    /// Made where something fails in the other.
    private var before: ObjectTrial?

    /// - Parameter gone: the objects that have no place in the new version in any case.
    init(
        _ foreign: ForeignObjects, _ source: StoreLayout, _ destination: StoreLayout, without gone: Set<Catalogue.Entry>
    ) throws {
        let own =
            destination.tables.map(\.sql) + destination.joinTables.map(\.sql) + destination.virtualTables.map(\.sql)
        after = try ObjectTrial(
            own, with: foreign.surroundings.filter { !gone.contains($0) && !foreign.leaving.contains($0.name) },
            indexes: destination.indexes.map(\.sql) + foreign.lastingIndexes.compactMap(\.sql))
        makeBefore = {
            try ObjectTrial(
                source.tables.map(\.sql) + source.joinTables.map(\.sql), with: foreign.surroundings,
                indexes: foreign.ownIndexes.compactMap(\.sql))
        }
    }

    func close() {
        after.close()
        before?.close()
    }

    /// Tries the candidates and returns those that do not work, with SQLite's reasons: what the migration would break
    /// and what is broken already.
    ///
    /// What another object needs may go: the rest is tried again until nothing more fails.
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

    /// The reasons why SQLite refuses to write tables that it wrote before, while foreign keys are on.
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

    /// The first answer that the store as it is does not give.
    private mutating func contradiction(of entry: Catalogue.Entry, _ answers: [String?]) throws -> String? {
        // An index that this SQLite cannot make could not be put back into its table.
        if entry.kind == .index, let reason = answers.first ?? nil, !isElsewhere(entry) { return reason }
        let trial = try before ?? makeBefore()
        before = trial
        let known = trial.answers(about: entry)
        guard (known.first ?? nil) == nil else { return nil }
        return zip(answers, known).lazy.compactMap { $1 == nil ? $0 : nil }.first
    }

    /// Whether an index belongs to a table that cannot be made here, for want of its module.
    private func isElsewhere(_ entry: Catalogue.Entry) -> Bool { after.isRefused(entry.tableName) }
}
