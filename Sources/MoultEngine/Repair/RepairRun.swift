import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultTransform

/// Mends the faults of a working copy, one kind after the other, and notes what it changes for the verification.
final class RepairRun {
    let site: MigrationSite
    let objects: ObjectStore
    let quarantine: QuarantineWriter
    private let search: RepairSearch
    private let fixing: RuleFixing

    var connection: Connection { site.connection }

    /// The author recorded in persistent history.
    static let author = "Moult"

    /// The rules' own ledger has the temporary tables that the verification reads.
    init(_ site: MigrationSite, _ objects: ObjectStore) throws {
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
            var finding = try search.finding(fault)
            guard finding.count > 0 else { continue }
            let before = quarantine.count
            // One transaction of persistent history for each kind of fault, with what was deleted and what was changed.
            try objects.writing(author: Self.author, contextName: "repair \(fault.rule.rawValue)") {
                try mend(fault)
                try tellHistory()
            }
            finding.quarantined = quarantine.count - before
            finding.left = try search.finding(fault).count
            report.faults.append(finding)
            site.report(Double(number + 1) / Double(faults.count), nil)
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
        case .raise(let table, let number):
            try connection.run(
                """
                UPDATE main.Z_PRIMARYKEY SET Z_MAX = max(\(PrimaryKeyRow.highestSQL), 0, \
                ifnull((SELECT max(Z_PK) FROM main.\(table.quotedName)), 0)) WHERE Z_ENT = ?
                """, [.integer(Int64(number))])
        }
    }

    /// Keeps the rows at fault aside: what mends them changes what the statement reads.
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

    /// As many objects went as lie in the quarantine.
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

    /// Notes a property of every row of the table that the condition selects as changed.
    func note(_ property: String, of table: String, where condition: String) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO temp.moult_fixed SELECT \(table.quotedLiteral), Z_PK, \(property.quotedLiteral) \
            FROM main.\(table.quotedName) WHERE \(condition)
            """)
        try tell(property, of: table, where: condition)
    }
}
