import MoultModel
import MoultSQLite
import MoultStore

/// Rows of a table, and the columns whose values get stand-ins.
struct AnonymousRows {
    let table: String
    /// The SQL condition that selects the rows.
    let condition: String
    let columns: [Column]

    /// A column in these rows.
    struct Column {
        let name: String
        /// The column's name in the report: `Entity.property`, or `TABLE.COLUMN`.
        let place: String
        let kind: Kind
        var rule = StandInRules.Rule.replace
        /// The value that takes the place of an erased one.
        var erased = SQLiteValue.null
    }

    /// The kind of values that a column holds.
    enum Kind {
        /// Texts, numbers and bytes, each as SQLite stores it.
        case value
        case float, date, boolean, uuid
        /// Bytes, or the name of an external file that holds them.
        case external
        /// The same as `value`, for a table that no model describes: its integers may be keys.
        case unknown
        /// Keys, counters and references. Numbers stay; a text or bytes in such a column get a stand-in.
        case key
    }

    /// Returns all rows of a store that contain values: those of entities, of persistent history, and of tables outside
    /// the model.
    static func all(of connection: Connection, layout: StoreLayout, rules: StandInRules) throws -> [AnonymousRows] {
        let catalogue = try connection.catalogue()
        // The shadow tables of virtual tables. Their type identifies them, since any table may have such a name.
        let shadows = try connection.rows("SELECT name FROM pragma_table_list WHERE type = 'shadow'") {
            $0.text(0) ?? ""
        }
        let joins = Set(layout.joinTables.map(\.name))
        return try catalogue.tables.flatMap { entry -> [AnonymousRows] in
            let name = entry.name
            guard !entry.isVirtual, !shadows.contains(name), !name.hasPrefix("sqlite_") else { return [] }
            let columns = try connection.columns(of: name)
            let misplaced = try misplaced(columns, in: name, connection)
            // Core Data itself writes these columns of its own tables.
            let named = ["Z_NAME", "Z_UUID", "Z_PLIST", "Z_CONTENT"]
            if joins.contains(name) || StoreSnapshot.coreTables.contains(name) {
                let keys = columns.filter { misplaced.contains($0.name) && !named.contains($0.name) }
                return keys.isEmpty
                    ? [] : [AnonymousRows(table: name, condition: "1", columns: keys.map { key($0, in: name) })]
            }
            if let table = layout.table(named: name) { return objects(in: table, columns, misplaced, layout, rules) }
            if name == "ACHANGE" { return changes(columns, misplaced, layout, rules) }
            return [AnonymousRows(table: name, condition: "1", columns: unknown(columns, misplaced, in: name))]
        }
    }

    /// Returns the columns that contain a text or bytes in at least one row.
    private static func misplaced(
        _ columns: [Catalogue.Column], in table: String, _ connection: Connection
    ) throws -> Set<String> {
        guard !columns.isEmpty else { return [] }
        let tests = columns.map { "max(typeof(\($0.name.quotedName)) IN ('text', 'blob'))" }.joined(separator: ", ")
        let found = try connection.rows("SELECT \(tests) FROM main.\(table.quotedName)") { row in
            columns.indices.map { row.integer($0) == 1 }
        }
        return Set(zip(columns, found.first ?? []).compactMap { $1 ? $0.name : nil })
    }

    private static func key(_ column: Catalogue.Column, in table: String) -> Column {
        Column(name: column.name, place: "\(table).\(column.name)", kind: .key)
    }

    // MARK: - Objects

    private static func objects(
        in table: EntityTable, _ columns: [Catalogue.Column], _ misplaced: Set<String>, _ layout: StoreLayout,
        _ rules: StandInRules
    ) -> [AnonymousRows] {
        let roles = Dictionary(table.columns.map { ($0.name, $0.role) }, uniquingKeysWith: { first, _ in first })
        // By declaring entity.
        var stored: [String: [String: StoredAttribute]] = [:]
        for column in table.columns {
            guard case .attribute(let declaring, _) = column.role, stored[declaring] == nil else { continue }
            let attributes = layout.model.entity(declaring).map(layout.model.storedAttributes(declaredBy:)) ?? []
            stored[declaring] = Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return parts(of: layout.numbers(inTable: table.name), by: "Z_ENT").map { number, condition in
            let entity = number.flatMap(layout.entityName).flatMap(layout.model.entity)
            let treated = columns.flatMap { column -> [Column] in
                switch roles[column.name] {
                case .attribute(let declaring, let name)?:
                    guard let attribute = stored[declaring]?[name] else {
                        return unknown([column], misplaced, in: table.name)
                    }
                    return [Column(column.name, attribute, of: entity ?? layout.model.entity(declaring), layout, rules)]
                case .unknown?, nil: return unknown([column], misplaced, in: table.name)
                default: return misplaced.contains(column.name) ? [key(column, in: table.name)] : []
                }
            }
            return AnonymousRows(table: table.name, condition: condition, columns: treated)
        }
    }

    /// Returns the rows with each of these numbers, and the rows with none of them.
    private static func parts(of numbers: [Int], by column: String) -> [(number: Int?, condition: String)] {
        let list = numbers.map(String.init).joined(separator: ", ")
        return numbers.map { ($0, "\(column) = \($0)") } + [(nil, "\(column) IS NULL OR \(column) NOT IN (\(list))")]
    }

    // MARK: - Others

    /// Handles persistent history, which keeps the values of some attributes of deleted objects.
    private static func changes(
        _ columns: [Catalogue.Column], _ misplaced: Set<String>, _ layout: StoreLayout, _ rules: StandInRules
    ) -> [AnonymousRows] {
        let tombstones = columns.filter { $0.name.hasPrefix("ZTOMBSTONE") }
        let keys = columns.filter { !$0.name.hasPrefix("ZTOMBSTONE") && misplaced.contains($0.name) }
            .map { key($0, in: "ACHANGE") }
        guard !tombstones.isEmpty || !keys.isEmpty else { return [] }
        return parts(of: layout.entityNumbers.values.sorted(), by: "ZENTITY").map { number, condition in
            let entity = number.flatMap(layout.entityName).flatMap(layout.model.entity)
            // Inherited attributes come first.
            let kept = (entity.map { layout.model.lineage(of: $0).reversed().flatMap(\.attributes) } ?? [])
                .filter { $0.preservesValueInHistoryOnDeletion && $0.isStored }
            let treated = tombstones.map { column in
                guard let index = Int(column.name.dropFirst("ZTOMBSTONE".count)), kept.indices.contains(index) else {
                    return Column(name: column.name, place: "ACHANGE.\(column.name)", kind: .unknown)
                }
                let attribute = StoredAttribute(name: kept[index].name, description: kept[index])
                return Column(column.name, attribute, of: entity, layout, rules)
            }
            return AnonymousRows(table: "ACHANGE", condition: condition, columns: treated + keys)
        }
    }

    /// - Parameter misplaced: the columns that contain a text or bytes.
    private static func unknown(_ columns: [Catalogue.Column], _ misplaced: Set<String>, in table: String) -> [Column] {
        columns.filter { $0.primaryKeyPosition == 0 || misplaced.contains($0.name) }.map { column in
            if column.primaryKeyPosition > 0 { return key(column, in: table) }
            let isDate = column.declaredType == "TIMESTAMP" || "\(table).\(column.name)" == "ATRANSACTION.ZTIMESTAMP"
            return Column(name: column.name, place: "\(table).\(column.name)", kind: isDate ? .date : .unknown)
        }
    }
}

extension AnonymousRows.Column {
    fileprivate init(
        _ column: String, _ attribute: StoredAttribute, of entity: EntityDescription?, _ layout: StoreLayout,
        _ rules: StandInRules
    ) {
        let description = attribute.description
        let validation = description.validation
        let kind: AnonymousRows.Kind =
            switch description.type {
            case .boolean: .boolean
            case .uuid: .uuid
            case .float: .float
            // A date with limits stays on the same side of each limit.
            case .date: validation.minimum == nil && validation.maximum == nil ? .date : .value
            default: description.allowsExternalBinaryDataStorage ? .external : .value
            }
        self.init(
            name: column, place: "\(entity?.name ?? "?").\(attribute.name)", kind: kind,
            rule: entity.map { rules.rule(for: attribute.name, of: $0, in: layout.model) } ?? .replace,
            erased: description.isOptional ? .null : description.emptyValue)
    }
}

extension AttributeDescription {
    /// The default value, or an empty value of the type.
    fileprivate var emptyValue: SQLiteValue {
        if let stored = defaultValue?.stored { return stored }
        switch type {
        case .string, .uri: return .text("")
        case .uuid: return .blob([UInt8](repeating: 0, count: 16))
        case .binary, .transformable: return .blob(allowsExternalBinaryDataStorage ? [1] : [])
        default: return .integer(0)
        }
    }
}
