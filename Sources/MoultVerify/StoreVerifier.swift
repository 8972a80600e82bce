import MoultBasics
import MoultSQLite

/// Checks a store against its shape and reports every fault. It writes nothing.
package struct StoreVerifier {
    /// A fault and the number of affected rows; 1 for a fault of the catalogue.
    package struct Violation: Sendable, Hashable {
        package var finding: Finding
        package var count: Int64
    }

    let connection: Connection
    let shape: StoreShape
    /// The schema to check: `main`, or the name of an attached store.
    let schema: String
    /// Whether findings include the values of the rows that they name.
    let withValues: Bool
    /// Whether to check a row with an invalid entity number as each entity of its table, to find the faults that it
    /// would have with a valid number.
    private let countsStrangers: Bool
    /// Whether the indexes are known to match their tables, and every row is read: one pass over a table then answers for
    /// several columns, and an index alone for its table. What is found so is looked for again, fault by fault.
    private let trustsIndexes: Bool

    package init(
        _ connection: Connection, shape: StoreShape, schema: String = "main", withValues: Bool = false,
        countsStrangers: Bool = false, trustsIndexes: Bool = false
    ) {
        (self.withValues, self.countsStrangers, self.trustsIndexes) = (withValues, countsStrangers, trustsIndexes)
        (self.connection, self.shape, self.schema) = (connection, shape, schema)
    }

    /// Returns the faults of the catalogue and of the entity numbers.
    package func structure() throws -> [Finding] { try objects() + numbers() }

    /// A check of the rows.
    package enum RowCheck: String, Sendable, CaseIterable {
        case strangers = "entity numbers"
        case references
        case inverses
        case required = "required values"
        case unique = "unique values"
        case external = "external files"
    }

    /// Returns the faults of the rows.
    package func rows(externalFileExists: ((String) throws -> Bool)? = nil) throws -> [Violation] {
        try RowCheck.allCases.flatMap { try rows($0, externalFileExists: externalFileExists) }
    }

    /// Returns the faults that one check finds.
    package func rows(_ check: RowCheck, externalFileExists: ((String) throws -> Bool)? = nil) throws -> [Violation] {
        switch check {
        case .strangers: try strangers()
        case .references: try references()
        case .inverses: try inverses() + oneSidedPairs() + repeatedPairs()
        case .required: try required()
        case .unique: try unique()
        case .external: try externalFileExists.map { try external(exists: $0) } ?? []
        }
    }

    /// Runs SQLite's own check of the pages: `quick_check`, or `integrity_check`, which also compares indexes with
    /// tables.
    ///
    /// - Parameter tables: the tables to check, with their indexes; nil for all pages.
    package func pages(full: Bool = false, of tables: [String]? = nil) throws -> [Finding] {
        try pagesAndIndexes(full: full, of: tables).findings
    }

    /// Returns the findings of SQLite's own check, and the indexes that `integrity_check` finds not to match their
    /// tables.
    package func pagesAndIndexes(
        full: Bool = true, of tables: [String]? = nil
    ) throws -> (findings: [Finding], indexes: [IndexFault]) {
        let check = full ? "integrity_check" : "quick_check"
        let messages = try (tables?.map(\.quotedName) ?? ["20"]).flatMap { limit in
            try connection.withIndexCache {
                try connection.checkMessages(check, schema: schema, of: limit)
            }
        }
        let isWell = messages.allSatisfy { $0 == "ok" }
        var indexes: [IndexFault] = []
        do {
            if full, !isWell { indexes = try IndexFault.all(connection, schema: schema) }
        } catch let error as MigrationError where error.code == .storeCorrupted {
            // Damaged pages may end the check early, but are reported anyway.
        }
        let others = messages.filter { message in message != "ok" && !indexes.contains { message.isAbout($0.index) } }
        let counts = others.isEmpty ? try IndexCount.differences(connection, schema: schema, of: tables) : []
        let damaged = counts.filter(\.isDamage)
        let faults = indexes.filter { fault in !damaged.contains { $0.index == fault.index.name } }
        let stale = counts.filter { count in !count.isDamage && !faults.contains { $0.index.name == count.index } }
        let findings =
            others.map { finding("damaged-page", .error, place: schema, $0, MigrationError.damagedStoreRemedy) }
            + damaged.map { finding("damaged-page", .error, place: $0.index, $0.message, $0.remedy) }
            + faults.map { fault in
                finding(
                    "index-damaged", .error, place: fault.index.name,
                    "The index \(fault.index.name) does not match its table: searches by it miss rows or find others. "
                        + "SQLite says: \(fault.message).", "\(.repair) makes it again.")
            } + stale.map { finding("index-damaged", .error, place: $0.index, $0.message, $0.remedy) }
        return (findings, indexes)
    }

    // MARK: - The catalogue

    /// Reports tables, indexes and triggers whose SQL is not that of a new store. The columns of a table may be in
    /// another order, because they are always accessed by name.
    private func objects() throws -> [Finding] {
        let present = Dictionary(
            try connection.catalogue(schema: schema).entries.map { ("\($0.kind.rawValue) \($0.name)", $0.sql) },
            uniquingKeysWith: { first, _ in first })
        return shape.objects.compactMap { object in
            guard let sql = present["\(object.kind) \(object.name)"] else {
                return finding(
                    "schema-missing", .error, place: object.name, "The \(object.kind) \(object.name) is missing.",
                    "Migrate the store again, or restore a backup.")
            }
            guard sql == object.sql || object.kind == "table" && sql?.defines(thatOf: object.sql) == true else {
                return finding(
                    "schema-differs", .warning, place: object.name,
                    "The \(object.kind) \(object.name) is not as a fresh store has it: "
                        + "\((sql ?? "").withoutSQLLiterals()) instead of \(object.sql.withoutSQLLiterals())",
                    "Harmless after a migration in place; one with \(option: .normalise) makes it anew.")
            }
            return nil
        }
    }

    /// Returns tables, indexes, triggers and views that neither a new store nor the store in another schema has.
    ///
    /// - Parameter tables: further tables to allow, with their indexes and triggers.
    package func surplus(besides source: String = "source", and tables: Set<String> = []) throws -> [Finding] {
        let known = Set(
            try connection.catalogue(schema: source).entries.map { "\($0.kind.rawValue) \($0.name)" }
                + shape.objects.map { "\($0.kind) \($0.name)" })
        // A virtual table brings the tables that store its rows.
        let shadows = shape.objects.filter { $0.sql.hasPrefix("CREATE VIRTUAL") }.map { $0.name + "_" }
        return try connection.catalogue(schema: schema).entries.compactMap { entry in
            let isExpected =
                known.contains("\(entry.kind.rawValue) \(entry.name)") || entry.name.hasPrefix("sqlite_")
                || tables.contains(entry.tableName) || shadows.contains { entry.name.hasPrefix($0) }
            return isExpected
                ? nil
                : finding(
                    "schema-surplus", .error, place: entry.name,
                    "The \(entry.kind.rawValue) \(entry.name) is in neither the old store nor a new one.",
                    "The store is unchanged. Please report this.")
        }
    }

    private typealias PrimaryKeyRow = (name: String, superNumber: Int, max: Int64?)

    /// Checks that `Z_PRIMARYKEY` has the right entity numbers, and that its key counters are not too low.
    private func numbers() throws -> [Finding] {
        var rows: [Int: PrimaryKeyRow] = [:]
        try connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM \(table("Z_PRIMARYKEY"))") { row in
            let isCount = row.storageClass(3) == .integer && (0..<Int64.max).contains(row.integer(3))
            rows[Int(clamping: row.integer(0))] = (
                row.text(1) ?? "", Int(clamping: row.integer(2)), isCount ? row.integer(3) : nil
            )
        }
        return try shape.entities.compactMap { entity in
            guard let row = rows[entity.number], row.superNumber == entity.superNumber else {
                return unnumbered(entity, MigrationError.damagedStoreRemedy)
            }
            guard entity.superNumber == 0 else { return nil }
            return try counter(of: entity, row, "The next object")
        }
            + shape.history.compactMap { entity in
                if let row = rows[entity.number], row.name == entity.name {
                    return try counter(of: entity, row, "The next one")
                }
                // Core Data assigns the numbers with the first transaction.
                let isEmpty = try connection.integer("SELECT 1 FROM \(table(entity.table)) LIMIT 1") == nil
                return isEmpty ? nil : unnumbered(entity, "\(.repair) gives persistent history its number.")
            }
    }

    private func unnumbered(_ entity: StoreShape.EntityNumber, _ remedy: Remedy) -> Finding {
        finding(
            "entity-number", .error, place: entity.name,
            "Z_PRIMARYKEY does not number \(entity.name) \(entity.number).", remedy)
    }

    private func counter(of entity: StoreShape.EntityNumber, _ row: PrimaryKeyRow, _ next: String) throws -> Finding? {
        let highest = try connection.integer("SELECT max(Z_PK) FROM \(table(entity.table))") ?? 0
        guard let max = row.max else {
            return finding(
                "key-counter", .error, place: entity.name,
                "Z_PRIMARYKEY holds no number of keys of \(entity.name) that another one follows.",
                "\(next) would get no key: \(.repair) sets the counter right.")
        }
        guard max < highest else { return nil }
        return finding(
            "key-counter", .error, place: entity.name,
            "Z_PRIMARYKEY counts \(Quantity.count(max, "key")) of \(entity.name), but the highest is \(highest).",
            "\(next) would get a key that is taken: \(.repair) sets the counter right.")
    }

    /// Returns rows that do not belong to an entity of their table.
    private func strangers() throws -> [Violation] {
        try Dictionary(grouping: shape.entities, by: \.table).sorted { $0.key < $1.key }.compactMap { name, entities in
            let numbers = entities.map(\.number).sorted()
            let rows = "\(table(name)) AS r WHERE r.Z_ENT IS NULL OR r.Z_ENT NOT IN (\(list(numbers)))"
            return try violation(
                count(rows), "stranger", .error, place: name, "row of \(name) belongs",
                plural: "rows of \(name) belong",
                "to no entity of that table.", "\(.repair) gives them the number of an entity of it."
            )?.naming(keys(rows))
        }
    }

    // MARK: - Values

    private func references() throws -> [Violation] {
        try shape.references.compactMap { reference in
            let target = "t.Z_PK = r.\(reference.column.quotedName) AND t.Z_ENT IN (\(list(reference.targetNumbers)))"
            let agreement = reference.entityColumn.map { " AND t.Z_ENT IS r.\($0.quotedName)" } ?? ""
            // A pair needs both ends.
            let present =
                reference.numbers.isEmpty
                ? ""
                : "r.\(reference.column.quotedName) IS NOT NULL AND \(isOf(reference.numbers, reference.table)) AND "
            let rows = """
                \(table(reference.table)) AS r WHERE \(present)NOT EXISTS (SELECT 1 FROM \(table(reference.targetTable)) AS t WHERE \(target)\(agreement))
                """
            guard try mayLeadNowhere(reference, "\(table(reference.targetTable)) AS t WHERE \(target)") else {
                return nil
            }
            // A row of a join table has no key of its own.
            let key = reference.numbers.isEmpty ? reference.column : "Z_PK"
            return try violation(
                count(rows), "dangling-reference", .error, place: reference.place, "object refers",
                plural: "objects refer", "through \(reference.place) to an object that is not there.",
                "\(.repair) clears these references."
            )?.naming(keys(rows, key))
        }
    }

    /// Returns false if no row of any entity refers to nothing. An index of the column answers this in the order of the
    /// keys; the entity of a row, which is in no index, would need the row itself.
    ///
    /// - Parameter target: the clause of the objects that a row may refer to.
    private func mayLeadNowhere(_ reference: StoreShape.Reference, _ target: String) throws -> Bool {
        guard trustsIndexes, reference.entityColumn == nil else { return true }
        let (name, column) = (table(reference.table), reference.column.quotedName)
        // A key of a join table is in many pairs.
        let rows =
            reference.numbers.isEmpty
            ? "(SELECT DISTINCT \(column) FROM \(name)) AS r WHERE" : "\(name) AS r WHERE r.\(column) IS NOT NULL AND"
        return try exists("\(rows) NOT EXISTS (SELECT 1 FROM \(target))")
    }

    private func inverses() throws -> [Violation] {
        try shape.oneToOnes.compactMap { pair in
            guard try mayDisagree(pair) else { return nil }
            let present = """
                \(table(pair.table)) AS r WHERE r.\(pair.column.quotedName) IS NOT NULL \
                AND \(isOf(pair.numbers, pair.table))
                """
            if try isOneSided(pair, present) { return try oneSided(pair, present) }
            let rows = "\(present) AND \(disagrees(pair))"
            return try violation(
                count(rows), "inverse-disagrees", .error, place: pair.place, "object refers", plural: "objects refer",
                "through \(pair.place) to an object that does not refer back.", "\(.repair) makes the two sides agree."
            )?.naming(keys(rows))
        }
    }

    private func disagrees(_ pair: StoreShape.OneToOne) -> String {
        """
        NOT EXISTS (SELECT 1 FROM \(table(pair.inverseTable)) AS t \
        WHERE t.Z_PK = r.\(pair.column.quotedName) AND t.\(pair.inverseColumn.quotedName) = r.Z_PK)
        """
    }

    /// Returns false if no row of any entity refers to an object that does not refer back.
    private func mayDisagree(_ pair: StoreShape.OneToOne) throws -> Bool {
        let rows = "\(table(pair.table)) AS r WHERE r.\(pair.column.quotedName) IS NOT NULL AND \(disagrees(pair))"
        return try !trustsIndexes || exists(rows)
    }

    /// Whether one side of a one-to-one relationship was never written: it is NULL in every row, and no object is
    /// referred to twice. Some of Apple's apps have such stores.
    private func isOneSided(_ pair: StoreShape.OneToOne, _ present: String) throws -> Bool {
        try connection.integer(
            """
            SELECT CASE WHEN EXISTS (SELECT 1 FROM \(table(pair.inverseTable)) WHERE \(pair.inverseColumn.quotedName) IS NOT NULL) \
            THEN 0 ELSE NOT EXISTS (SELECT 1 FROM \(present) GROUP BY r.\(pair.column.quotedName) HAVING count(*) > 1) END
            """) == 1
    }

    private func oneSided(_ pair: StoreShape.OneToOne, _ present: String) throws -> Violation? {
        // A dangling reference is a fault of its own.
        let rows = """
            \(present) AND EXISTS (SELECT 1 FROM \(table(pair.inverseTable)) AS t \
            WHERE t.Z_PK = r.\(pair.column.quotedName))
            """
        return try violation(
            count(rows), "inverse-one-sided", .note, place: pair.place, "object refers", plural: "objects refer",
            "through \(pair.place), and the inverse is empty in every row: the app has never written it.",
            "They are kept as they are; \(.repair, .only(["one-sided"])) sets the inverse."
        )?.naming(keys(rows))
    }

    /// Returns one-to-one pairs stored at one end only. Core Data reads them from that end alone.
    private func oneSidedPairs() throws -> [Violation] {
        try shape.reflexives.compactMap { pair in
            let ends = ["r.\(pair.inverseColumn.quotedName)", "r.\(pair.column.quotedName)"]
            let misses = Lookup.misses(ends, [pair.column, pair.inverseColumn], in: table(pair.table))
            let rows = "\(table(pair.table)) AS r WHERE \(misses)"
            return try violation(
                count(rows), "pair-one-sided", .note, place: pair.place, "pair of \(pair.place), its own inverse, is",
                plural: "pairs of \(pair.place), its own inverse, are", "stored in one direction only.",
                "They are kept as they are; set the relationship of these objects again to have both directions."
            )?.naming(keys(rows, pair.column))
        }
    }

    /// Returns repeated pairs. Core Data reads each pair once, but a derived count includes all.
    private func repeatedPairs() throws -> [Violation] {
        try shape.pairs.compactMap { pairs in
            let columns = pairs.columns.map(\.quotedName)
            let present = columns.map { "r.\($0) IS NOT NULL" }.joined(separator: " AND ")
            let rows = """
                \(table(pairs.table)) AS r WHERE \(present) AND r.rowid NOT IN (SELECT min(rowid) \
                FROM \(table(pairs.table)) GROUP BY \(columns.joined(separator: ", ")))
                """
            return try violation(
                count(rows), "pair-repeated", .warning, place: pairs.place, "pair of \(pairs.place) is",
                plural: "pairs of \(pairs.place) are", "stored more often than once.",
                "\(.repair) keeps the first row of each."
            )?.naming(keys(rows, pairs.columns[0]))
        }
    }

    private func required() throws -> [Violation] {
        func isMissing(_ column: StoreShape.Column) -> String {
            "r.\(column.column.quotedName) IS NULL AND \(isOf(column.numbers, column.table))"
        }
        let faulty = try Dictionary(grouping: shape.required, by: \.table).filter { name, columns in
            try !trustsIndexes || connection.hasRow(of: table(name), meeting: columns.map(isMissing))
        }
        return try shape.required.filter { faulty[$0.table] != nil }.compactMap { column in
            let rows = "\(table(column.table)) AS r WHERE \(isMissing(column))"
            return try violation(
                count(rows), "required-missing", .error, place: column.place, "object has", plural: "objects have",
                "no \(column.place), which is required.", "Give them a value."
            )?.naming(keys(rows))
        }
    }

    private func unique() throws -> [Violation] {
        try shape.unique.compactMap { constraint in
            let columns = constraint.columns.map(\.quotedName).joined(separator: ", ")
            let present = constraint.columns.map { "\($0.quotedName) IS NOT NULL" }.conditions(joinedBy: "AND")
            // An index of the columns alone answers for the rows of all entities.
            let all = "\(table(constraint.table)) WHERE \(present) GROUP BY \(columns) HAVING count(*) > 1"
            guard try !trustsIndexes || exists(all) else { return nil }
            let count = try connection.integer(
                """
                SELECT count(*) FROM (SELECT 1 FROM \(table(constraint.table)) AS r \
                WHERE \(isOf(constraint.numbers, constraint.table)) AND \(present) GROUP BY \(columns) HAVING count(*) > 1)
                """)
            return try violation(
                count, "not-unique", .error, place: constraint.place, "value of \(constraint.place) occurs",
                plural: "values of \(constraint.place) occur", "more than once.",
                "Merge or change the objects that share a value; \(.repair) keeps the first of them."
            )?.naming(repeated(constraint))
        }
    }

    private func external(exists: (String) throws -> Bool) throws -> [Violation] {
        try shape.external.compactMap { column in
            var missing: Int64 = 0
            var keys: [Int64] = []
            let name = column.column.quotedName
            try connection.forEachRow(
                """
                SELECT CAST(substr(\(name), 2) AS TEXT), Z_PK FROM \(table(column.table)) AS r \
                WHERE \(isOf(column.numbers, column.table)) AND hex(substr(\(name), 1, 1)) = '02'
                """
            ) { row in
                let file = (row.text(0) ?? "").prefix { $0 != "\0" }
                guard try !exists(String(file)) else { return }
                missing += 1
                if keys.count < Finding.keyLimit { keys.append(row.integer(1)) }
            }
            return violation(
                missing, "external-file-missing", .error, place: column.place, "object keeps", plural: "objects keep",
                "\(column.place) in a file that is not there.", "Put the store's support folder back next to it."
            )?.naming((keys, []))
        }
    }

    // MARK: - Words

    func table(_ name: String) -> String { "\(schema.quotedName).\(name.quotedName)" }

    /// Returns SQL for whether a row with the alias `r` belongs to the entities with these numbers.
    private func isOf(_ numbers: [Int], _ table: String) -> String {
        let isOwn = "r.Z_ENT IN (\(list(numbers)))"
        guard countsStrangers else { return isOwn }
        let known = Set(shape.entities.filter { $0.table == table }.map(\.number))
        return "(\(isOwn) OR r.Z_ENT IS NULL OR r.Z_ENT NOT IN (\(list(known.sorted()))))"
    }

    func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }

    /// Returns the fault with its count; nil if there is nothing to count.
    ///
    /// - Parameters:
    ///   - one: the subject and verb for a single case of the fault.
    ///   - rest: the rest of the sentence.
    func violation(
        _ count: Int64?, _ code: String, _ severity: Finding.Severity, place: String, _ one: String, plural: String,
        _ rest: String, _ remedy: Remedy
    ) -> Violation? {
        guard let count, count > 0 else { return nil }
        let message = "\(Quantity.count(count, one, plural: plural)) \(rest)"
        return Violation(finding: finding(code, severity, place: place, message, remedy), count: count)
    }

    private func finding(
        _ code: String, _ severity: Finding.Severity, place: String, _ message: String, _ remedy: Remedy
    ) -> Finding {
        Finding(code: code, severity: severity, place: place, message: message, remedy: remedy)
    }
}

extension String {
    /// Returns whether two CREATE TABLE statements have the same columns, by name and declared type, and the same
    /// constraints. Names and keywords of SQLite are case-insensitive.
    fileprivate func defines(thatOf other: String) -> Bool {
        guard isOfTable, other.isOfTable, let one = TableDefinition(self), let two = TableDefinition(other) else {
            return false
        }
        return one.options.uppercased() == two.options.uppercased() && one.parts.count == two.parts.count
            && Set(one.parts.map(\.meaningInCapitals)) == Set(two.parts.map(\.meaningInCapitals))
    }

    private var isOfTable: Bool { sqlTokens.prefix(2).map(\.word) == ["CREATE", "TABLE"] }
}
