import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// Repairs the faults of a working copy, one kind after another, and records its changes for the verification.
final class RepairRun {
    let site: CodeContext
    let objects: ObjectStore
    let quarantine: QuarantineWriter
    private let search: RepairSearch
    private let fixing: RuleFixing

    var connection: Connection { site.connection }

    /// The author recorded in persistent history.
    static let author = "Moult"

    /// The ledger of rules creates the temporary tables that the verification reads.
    init(_ site: CodeContext, _ objects: ObjectStore) throws {
        self.site = site
        self.objects = objects
        quarantine = try QuarantineWriter(site.connection)
        search = RepairSearch(site.connection, objects)
        fixing = try RuleFixing(objects, site.connection) { guard !site.isCancelled() else { throw site.cancellation } }
        try site.connection.execute(
            """
            CREATE TEMP TABLE moult_fault (key INTEGER PRIMARY KEY, other INTEGER);
            CREATE TEMP TABLE moult_told (
                tbl TEXT, key INTEGER, property TEXT, PRIMARY KEY (tbl, key, property)) WITHOUT ROWID;
            CREATE TEMP TABLE moult_leaving (
                tbl TEXT, key INTEGER, level INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID
            """)
    }

    func mend(_ faults: [RepairFault]) throws -> RepairReport {
        var report = RepairReport()
        for (number, fault) in faults.enumerated() {
            guard !site.isCancelled() else { throw site.cancellation }
            defer { site.report(Double(number + 1) / Double(faults.count), nil) }
            var finding = try search.finding(fault)
            guard finding.count > 0 else { continue }
            let before = quarantine.count
            // Use one transaction of persistent history for each kind of fault, with its deletions and updates.
            try objects.writing(author: Self.author, contextName: "repair \(fault.rule.rawValue)") {
                try mend(fault)
                try tellHistory()
            }
            finding.quarantined = quarantine.count - before
            finding.left = try search.finding(fault).count
            report.faults.append(finding)
        }
        return report
    }

    private func mend(_ fault: RepairFault) throws {
        try collect(fault)
        switch fault.action {
        case .clear(let link): try clear(link, where: "Z_PK IN (SELECT key FROM temp.moult_fault)")
        case .unlink(let table, let columns): try unlink(table, columns)
        case .answer(let link, let inverse): try answer(link, inverse)
        case .number(let table, let entities): try number(table, entities, fault)
        case .renumber(let link): try renumber(link)
        case .merge(let entity): try merge(entity, fault)
        case .quarantine(let table): try quarantineOrphans(table, fault)
        case .rule(let rule): _ = try fixing.run([rule])
        case .recount(let table, let column, let property, let counted):
            try tell(property, of: table, where: "Z_PK IN (SELECT key FROM temp.moult_fault)")
            try connection.run(
                """
                UPDATE main.\(table.quotedName) AS r SET \(column.quotedName) = \(counted) \
                WHERE Z_PK IN (SELECT key FROM temp.moult_fault)
                """)
        case .history(let statement):
            try connection.run("\(statement) WHERE Z_PK IN (SELECT key FROM temp.moult_fault)")
        case .trim(let table):
            try connection.run("DELETE FROM main.\(table) WHERE Z_PK IN (SELECT key FROM temp.moult_fault)")
        case .raise(let table, let number):
            try connection.run(
                """
                UPDATE main.Z_PRIMARYKEY SET Z_MAX = max(\(PrimaryKeyRow.highestSQL), 0, \
                ifnull((SELECT max(Z_PK) FROM main.\(table.quotedName)), 0)) WHERE Z_ENT = ?
                """, [.integer(Int64(number))])
        }
    }

    /// Stores the faulty rows in a table: the repair changes the results of the fault's query.
    private func collect(_ fault: RepairFault) throws {
        try connection.execute("DELETE FROM temp.moult_fault")
        guard !fault.select.isEmpty else { return }
        let hasOther: Bool
        switch fault.action {
        case .answer, .merge: hasOther = true
        default: hasOther = false
        }
        try connection.run(
            "INSERT OR IGNORE INTO temp.moult_fault SELECT *\(hasOther ? "" : ", NULL") FROM (\(fault.select))")
    }

    /// Verifies that the number of removed objects equals the number in the quarantine.
    func verifyCount(_ report: RepairReport) throws {
        let gone = try objects.layout.tables.reduce(Int64(0)) { sum, table in
            let name = table.name.quotedName
            let count = try connection.integer(
                "SELECT (SELECT count(*) FROM source.\(name)) - (SELECT count(*) FROM main.\(name))")
            return sum + (count ?? 0)
        }
        guard gone == quarantine.count else {
            throw MigrationError(
                .verificationFailed,
                "\(Quantity.count(gone, "object has", plural: "objects have")) left the store; the quarantine has "
                    + "\(Quantity.count(quarantine.count)).",
                place: connection.path, remedy: "The store is unchanged. Report this as a bug.")
        }
    }

    // MARK: - Notes for the verification

    /// Records a property as changed for every row of the table that the condition selects.
    func note(_ property: String, of table: String, where condition: String) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO temp.moult_fixed SELECT \(table.quotedLiteral), Z_PK, \(property.quotedLiteral) \
            FROM main.\(table.quotedName) WHERE \(condition)
            """)
        try tell(property, of: table, where: condition)
    }

    /// The new write counter of a changed row, as SQL, valid for any present value.
    static let nextVersion = "min(ifnull(CAST(Z_OPT AS INTEGER), 0), 9223372036854775806) + 1"

    /// Clears references and their companion columns.
    func clear(_ link: RepairFault.Link, where condition: String) throws {
        try note(link.property, of: link.table, where: condition)
        let columns = ([link.column] + link.companions).map { "\($0.quotedName) = NULL" }.joined(separator: ", ")
        try connection.run(
            "UPDATE main.\(link.table.quotedName) SET \(columns), Z_OPT = \(Self.nextVersion) WHERE \(condition)")
    }

    func unlink(_ table: String, _ columns: [RepairFault.PairColumn]) throws {
        let rows = "main.\(table.quotedName) AS r WHERE r.rowid IN (SELECT key FROM temp.moult_fault)"
        for column in columns {
            try tell(
                column.property, of: column.target, where: "Z_PK IN (SELECT r.\(column.name.quotedName) FROM \(rows))")
        }
        try connection.run(
            "INSERT OR IGNORE INTO temp.moult_gone SELECT \(table.quotedLiteral), key FROM temp.moult_fault")
        try connection.run("DELETE FROM main.\(table.quotedName) WHERE rowid IN (SELECT key FROM temp.moult_fault)")
    }

    func renumber(_ link: RepairFault.Link) throws {
        guard let column = link.entityColumn else { return }
        let condition = "Z_PK IN (SELECT key FROM temp.moult_fault)"
        try note(link.property, of: link.table, where: condition)
        try connection.run(
            """
            UPDATE main.\(link.table.quotedName) AS r SET \(column.quotedName) = (SELECT t.Z_ENT FROM \
            main.\(link.target.quotedName) AS t WHERE t.Z_PK = r.\(link.column.quotedName)) WHERE \(condition)
            """)
    }

    /// Sets the other end if it is free and only one object names it; otherwise clears the unanswered end.
    func answer(_ link: RepairFault.Link, _ inverse: RepairFault.Link) throws {
        let pairs = try connection.rows("SELECT key, other FROM temp.moult_fault ORDER BY key") {
            ($0.integer(0), $0.integer(1))
        }
        for (key, other) in pairs {
            let there = "main.\(inverse.table.quotedName)"
            let isFree = try connection.integer(
                "SELECT 1 FROM \(there) WHERE Z_PK = ? AND \(inverse.column.quotedName) IS NULL", [.integer(other)])
            let named = try connection.integer(
                "SELECT count(*) FROM main.\(link.table.quotedName) WHERE \(link.column.quotedName) = ?",
                [.integer(other)])
            if isFree == 1, named == 1 {
                try set(inverse, of: other, to: key, entityIn: link.table)
            } else if link.isOptional {
                try clear(link, where: "Z_PK = \(key)")
            }
        }
    }

    private func set(_ link: RepairFault.Link, of key: Int64, to other: Int64, entityIn table: String) throws {
        try note(link.property, of: link.table, where: "Z_PK = \(key)")
        let number = link.entityColumn.map {
            ", \($0.quotedName) = (SELECT Z_ENT FROM main.\(table.quotedName) WHERE Z_PK = \(other))"
        }
        try connection.run(
            """
            UPDATE main.\(link.table.quotedName) SET \(link.column.quotedName) = ?\(number ?? ""), \
            Z_OPT = \(Self.nextVersion) WHERE Z_PK = ?
            """, [.integer(other), .integer(key)])
    }
}

// Changes that a repair makes by SQL are recorded in persistent history, like those of a save.

extension RepairRun {
    /// Stores the rows that the condition selects for ``tellHistory()``, with the property that is about to change.
    func tell(_ property: String, of table: String, where condition: String) throws {
        guard objects.history != nil else { return }
        try connection.run(
            """
            INSERT OR IGNORE INTO temp.moult_told SELECT \(table.quotedLiteral), Z_PK, \(property.quotedLiteral) \
            FROM main.\(table.quotedName) WHERE \(condition)
            """)
    }

    /// Writes an update for each recorded object that still exists, in the open transaction.
    func tellHistory() throws {
        guard let history = objects.history else { return }
        let tables = try connection.rows("SELECT DISTINCT tbl FROM temp.moult_told ORDER BY 1") { $0.text(0) ?? "" }
        for table in tables {
            // Property names contain no comma.
            try connection.forEachRow(
                """
                SELECT r.Z_PK, r.Z_ENT, group_concat(t.property) FROM temp.moult_told AS t \
                JOIN main.\(table.quotedName) AS r ON r.Z_PK = t.key WHERE t.tbl = ? GROUP BY r.Z_PK ORDER BY r.Z_PK
                """, [.text(table)]
            ) { row in
                guard let name = objects.layout.entityName(number: Int(clamping: row.integer(1))) else { return }
                let entity = try objects.columns(of: name)
                // A relationship without an inverse belongs only to its owner.
                let properties = (row.text(2) ?? "").split(separator: ",").map(String.init)
                    .filter { entity.shape.position(of: $0) != nil }
                if !properties.isEmpty { try history.updated(entity, row.integer(0), properties: properties) }
            }
        }
        try connection.execute("DELETE FROM temp.moult_told")
    }
}

/// The limit on the references of one relationship that a repair may clear without permission.
///
/// If most references of a relationship lead nowhere, the objects are usually what is wrong: their table has lost its
/// rows, or the model is of another version.
enum ReferenceLimit {
    /// The number of references of a relationship below which a repair is never refused.
    static let fewest: Int64 = 20

    /// Checks the references that a repair has cleared; the old store is the schema `source`.
    ///
    /// - Parameters:
    ///   - faults: everything that the repair has looked for.
    ///   - report: the faults that it has found.
    ///   - accepted: the relationships of which any number may be cleared.
    /// - Throws: `lossNotAccepted`.
    static func check(
        _ faults: [RepairFault], _ report: RepairReport, _ connection: Connection, accepting accepted: AcceptedLosses
    ) throws {
        var refused: [(place: String, cleared: Int64, all: Int64)] = []
        for fault in faults {
            let (entity, property) = fault.place.entityAndProperty
            guard let found = report.faults.first(where: { $0.rule == fault.rule && $0.place == fault.place }),
                let property, !accepted.contains(MigrationLoss(.links, .dropped, entity: entity, property: property)),
                let (cleared, all) = try references(of: fault, found, connection), all >= fewest, cleared > all / 2
            else { continue }
            refused.append((fault.place, cleared, all))
        }
        if let first = refused.first { throw refusal(refused, first.place) }
    }

    /// Returns the number of cleared references and of all that were there; nil for a fault of another kind.
    private static func references(
        of fault: RepairFault, _ found: RepairReport.Fault, _ connection: Connection
    ) throws -> (cleared: Int64, all: Int64)? {
        switch fault.action {
        case .clear(let link), .answer(let link, _):
            let (table, column) = (link.table.quotedName, link.column.quotedName)
            let all = "FROM source.\(table) AS s WHERE s.\(column) IS NOT NULL"
            // An object that has gone to the quarantine has its references there.
            let cleared = "EXISTS (SELECT 1 FROM main.\(table) AS m WHERE m.Z_PK = s.Z_PK AND m.\(column) IS NULL)"
            return (
                try connection.integer("SELECT count(*) \(all) AND \(cleared)") ?? 0,
                try connection.integer("SELECT count(*) \(all)") ?? 0
            )
        case .unlink(let table, _) where fault.rule == .dangling:
            return (found.count, try connection.integer("SELECT count(*) FROM source.\(table.quotedName)") ?? 0)
        default: return nil
        }
    }

    private static func refusal(
        _ refused: [(place: String, cleared: Int64, all: Int64)], _ place: String
    ) -> MigrationError {
        let counts = refused.map { "\($0.cleared) of \($0.all) references of \($0.place)" }.joined(separator: ", ")
        let each = refused.count == 1 ? "more than half" : "each more than half"
        return MigrationError(
            .lossNotAccepted,
            "The repair would clear \(counts), \(each). So many usually have one cause, such as a table that has lost its "
                + "rows, or the model of another version.", place: place,
            remedy: """
                Make sure that the model is the store's own, and compare the numbers of objects with a backup. If the table \
                is damaged: \(MigrationError.damagedStoreRemedy) If the references really lead nowhere, as in a store that \
                was salvaged without the rows: \(permit: .clearing(refused.map(\.place))).
                """
        )
    }
}
