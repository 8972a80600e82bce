import MoultModel
import MoultSQLite

/// Checks one store against its shape and reports every fault it finds. It writes nothing.
package struct StoreVerifier {
    /// A fault with the number of rows that have it; 1 for a fault of the catalogue.
    package struct Violation: Sendable, Hashable {
        package var finding: Finding
        package var count: Int64
    }

    let connection: Connection
    let shape: StoreShape
    /// The schema to look at: `main`, or the name an attached store goes by.
    let schema: String

    package init(_ connection: Connection, shape: StoreShape, schema: String = "main") {
        self.connection = connection
        self.shape = shape
        self.schema = schema
    }

    /// The faults of the catalogue and the entity numbers.
    package func structure() throws -> [Finding] { try objects() + numbers() }

    /// One of the questions that are asked of the rows.
    package enum RowCheck: String, Sendable, CaseIterable {
        case strangers, references, inverses, required, unique, external
    }

    /// The faults of the rows.
    package func rows(externalFileExists: ((String) throws -> Bool)? = nil) throws -> [Violation] {
        try RowCheck.allCases.flatMap { try rows($0, externalFileExists: externalFileExists) }
    }

    /// The faults that one check finds.
    package func rows(
        _ check: RowCheck, externalFileExists: ((String) throws -> Bool)? = nil
    ) throws -> [Violation] {
        switch check {
        case .strangers: try strangers()
        case .references: try references()
        case .inverses: try inverses() + oneSidedPairs()
        case .required: try required()
        case .unique: try unique()
        case .external: try externalFileExists.map { try external(exists: $0) } ?? []
        }
    }

    /// SQLite's own check of every page: `quick_check`, or `integrity_check`, which compares indexes with tables too.
    package func pages(full: Bool = false) throws -> [Finding] {
        let check = full ? "integrity_check" : "quick_check"
        return try connection.rows("PRAGMA \(schema.quotedName).\(check)(20)") { $0.text(0) ?? "" }
            .filter { $0 != "ok" }
            .map { finding("damaged-page", .error, place: schema, $0, "Restore a backup of the store.") }
    }

    // MARK: - The catalogue

    /// The tables, indexes and triggers are those of a fresh store, word for word.
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
            guard sql == object.sql else {
                return finding(
                    "schema-differs", .warning, place: object.name,
                    "The \(object.kind) \(object.name) is not as a fresh store has it: \(sql ?? "") instead of \(object.sql)",
                    "Harmless after Core Data's own in-place migration; a migration by Moult makes it anew.")
            }
            return nil
        }
    }

    /// `Z_PRIMARYKEY` numbers the entities as it should, and counts no fewer keys than there are.
    private func numbers() throws -> [Finding] {
        var rows: [Int: (name: String, superNumber: Int, max: Int64)] = [:]
        try connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM \(table("Z_PRIMARYKEY"))") { row in
            rows[Int(clamping: row.integer(0))] = (row.text(1) ?? "", Int(clamping: row.integer(2)), row.integer(3))
        }
        return try shape.entities.compactMap { entity in
            guard let row = rows[entity.number], row.superNumber == entity.superNumber else {
                return finding(
                    "entity-number", .error, place: entity.name,
                    "Z_PRIMARYKEY does not number \(entity.name) \(entity.number).", "Restore a backup of the store.")
            }
            guard entity.superNumber == 0 else { return nil }
            let highest = try connection.integer("SELECT max(Z_PK) FROM \(table(entity.table))") ?? 0
            guard row.max < highest else { return nil }
            return finding(
                "key-counter", .error, place: entity.name,
                "Z_PRIMARYKEY counts \(row.max) keys of \(entity.name), but the highest is \(highest).",
                "The next object would get a key that is taken: restore a backup of the store.")
        }
    }

    /// Every row belongs to an entity of its table.
    private func strangers() throws -> [Violation] {
        try Dictionary(grouping: shape.entities, by: \.table).sorted { $0.key < $1.key }.compactMap { name, entities in
            let numbers = entities.map(\.number).sorted()
            let count = try connection.integer(
                "SELECT count(*) FROM \(table(name)) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list(numbers)))")
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "stranger", .error, place: name, "\(count) rows of \(name) belong to no entity of that table.",
                "Restore a backup of the store.")
        }
    }

    // MARK: - Values

    private func references() throws -> [Violation] {
        try shape.references.compactMap { reference in
            let target = "t.Z_PK = r.\(reference.column.quotedName) AND t.Z_ENT IN (\(list(reference.targetNumbers)))"
            let agreement = reference.entityColumn.map { " AND t.Z_ENT IS r.\($0.quotedName)" } ?? ""
            let rows = reference.numbers.isEmpty ? "" : " AND r.Z_ENT IN (\(list(reference.numbers)))"
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(table(reference.table)) AS r WHERE r.\(reference.column.quotedName) IS NOT NULL\(rows) \
                AND NOT EXISTS (SELECT 1 FROM \(table(reference.targetTable)) AS t WHERE \(target)\(agreement))
                """)
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "dangling-reference", .error, place: reference.place,
                "\(count) objects refer through \(reference.place) to an object that is not there.",
                "Clear these references, or restore a backup.")
        }
    }

    private func inverses() throws -> [Violation] {
        try shape.oneToOnes.compactMap { pair in
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(table(pair.table)) AS r WHERE r.\(pair.column.quotedName) IS NOT NULL \
                AND r.Z_ENT IN (\(list(pair.numbers))) AND NOT EXISTS (SELECT 1 FROM \(table(pair.inverseTable)) AS t \
                WHERE t.Z_PK = r.\(pair.column.quotedName) AND t.\(pair.inverseColumn.quotedName) = r.Z_PK)
                """)
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "inverse-disagrees", .error, place: pair.place,
                "\(count) objects refer through \(pair.place) to an object that does not refer back.",
                "Set one of the two sides again.")
        }
    }

    /// Core Data reads such a pair from one of its ends alone.
    private func oneSidedPairs() throws -> [Violation] {
        try shape.reflexives.compactMap { pair in
            let (own, other) = (pair.column.quotedName, pair.inverseColumn.quotedName)
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(table(pair.table)) AS p WHERE NOT EXISTS (SELECT 1 FROM \(table(pair.table)) AS q \
                WHERE q.\(own) = p.\(other) AND q.\(other) = p.\(own))
                """)
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "pair-one-sided", .note, place: pair.place,
                "\(count) pairs of \(pair.place), its own inverse, are stored in one direction only.",
                "They are kept as they are; set the relationship of these objects again to have both directions.")
        }
    }

    private func required() throws -> [Violation] {
        try shape.required.compactMap { column in
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(table(column.table)) WHERE \(column.column.quotedName) IS NULL \
                AND Z_ENT IN (\(list(column.numbers)))
                """)
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "required-missing", .error, place: column.place,
                "\(count) objects have no \(column.place), which is required.",
                "Give them a value.")
        }
    }

    private func unique() throws -> [Violation] {
        try shape.unique.compactMap { constraint in
            let columns = constraint.columns.map(\.quotedName).joined(separator: ", ")
            let present = constraint.columns.map { "\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
            let count = try connection.integer(
                """
                SELECT count(*) FROM (SELECT 1 FROM \(table(constraint.table)) WHERE Z_ENT IN (\(list(constraint.numbers))) \
                AND \(present) GROUP BY \(columns) HAVING count(*) > 1)
                """)
            guard let count, count > 0 else { return nil }
            return violation(
                count,
                "not-unique", .error, place: constraint.place,
                "\(count) values of \(constraint.place) occur more than once.",
                "Merge or change the objects that share a value.")
        }
    }

    private func external(exists: (String) throws -> Bool) throws -> [Violation] {
        try shape.external.compactMap { column in
            var missing: Int64 = 0
            let name = column.column.quotedName
            try connection.forEachRow(
                """
                SELECT CAST(substr(\(name), 2) AS TEXT) FROM \(table(column.table)) \
                WHERE Z_ENT IN (\(list(column.numbers))) AND hex(substr(\(name), 1, 1)) = '02'
                """
            ) { row in
                let file = (row.text(0) ?? "").prefix { $0 != "\0" }
                if try !exists(String(file)) { missing += 1 }
            }
            guard missing > 0 else { return nil }
            return violation(
                missing,
                "external-file-missing", .error, place: column.place,
                "\(missing) objects keep \(column.place) in a file that is not there.",
                "Put the store's support folder back beside it.")
        }
    }

    // MARK: - Words

    func table(_ name: String) -> String { "\(schema.quotedName).\(name.quotedName)" }

    private func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }

    private func violation(
        _ count: Int64, _ code: String, _ severity: Finding.Severity, place: String, _ message: String,
        _ remedy: String
    ) -> Violation {
        Violation(finding: finding(code, severity, place: place, message, remedy), count: count)
    }

    private func finding(
        _ code: String, _ severity: Finding.Severity, place: String, _ message: String, _ remedy: String
    ) -> Finding {
        Finding(code: code, severity: severity, place: place, message: message, remedy: remedy)
    }
}
