import MoultModel
import MoultSQLite

/// An empty database with the tables of a version, in which objects of a store are tried out.
///
/// Of a store's own words the first statement alone is run, as SQLite does when it opens the file: whatever a hostile
/// catalogue has behind it is never read.
struct TargetTrial {
    private let connection: Connection
    /// In capitals, the tables that this SQLite cannot make.
    private var unmade: Set<String> = []

    /// - Parameter others: the tables that stand beside them.
    init(_ layout: StoreLayout, beside others: [Catalogue.Entry]) throws {
        connection = try Connection(":memory:", mode: .create)
        try connection.registerCoreDataStubs()
        for table in layout.tables.map(\.sql) + layout.joinTables.map(\.sql) { try connection.execute(table) }
        // A module or a function that this SQLite does not have is no contradiction.
        for entry in others {
            do {
                try connection.run(entry.sql ?? "")
            } catch {
                unmade.insert(entry.name.uppercased())
            }
        }
    }

    func close() { connection.close() }

    /// Why an object has no place beside these tables; nil where it has, and stays for those that are tried after it.
    func contradiction(of entry: Catalogue.Entry) -> String? {
        guard let sql = entry.sql, entry.kind != .table, !isElsewhere(entry) else { return nil }
        do {
            try connection.run(sql)
        } catch {
            return Self.words(error)
        }
        for question in questions(about: entry) {
            do {
                try connection.prepare(question).finalise()
            } catch {
                guard let reason = Self.missing(error) else { continue }
                _ = try? connection.execute("DROP \(entry.kind.rawValue) \(entry.name.quotedName)")
                return reason
            }
        }
        return nil
    }

    /// Whether an index or a trigger belongs to a table that could not be made here, for want of its module.
    private func isElsewhere(_ entry: Catalogue.Entry) -> Bool {
        entry.kind != .view && unmade.contains(entry.tableName.uppercased())
    }

    /// What SQLite compiles an object's own words for.
    private func questions(about entry: Catalogue.Entry) -> [String] {
        let table = entry.tableName.quotedName
        switch entry.kind {
        case .table, .index: return []
        case .view: return ["SELECT * FROM \(entry.name.quotedName)"]
        case .trigger:
            let columns = (try? connection.columns(of: entry.tableName))?.map(\.name.quotedName) ?? []
            guard !columns.isEmpty else { return [] }
            let all = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
            return [
                "INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(all)", "DELETE FROM \(table)",
            ]
        }
    }

    private static func missing(_ error: any Error) -> String? {
        let words = words(error)
        return ["no such table", "no such column", "has no column"].contains { words.contains($0) } ? words : nil
    }

    /// SQLite's own words, without its number and the statement.
    private static func words(_ error: any Error) -> String {
        let cause = (error as? MigrationError)?.cause ?? "\(error)"
        let message = cause.split(separator: ":", maxSplits: 1).last ?? cause[...]
        let end = message.firstRange(of: " in: ")?.lowerBound ?? message.endIndex
        return String(message[..<end].drop { $0 == " " })
    }
}
