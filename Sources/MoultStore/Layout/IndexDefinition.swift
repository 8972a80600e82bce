import MoultBasics
import MoultModel
import MoultSQLite

/// An index of a store.
package struct IndexDefinition: Sendable, Hashable {
    package let name: String
    package let table: String
    package let isUnique: Bool
    /// The `CREATE INDEX` statement.
    package let sql: String

    package init(name: String, table: String, isUnique: Bool = false, sql: String) {
        (self.name, self.table, self.isUnique, self.sql) = (name, table, isUnique, sql)
    }
}

extension IndexDefinition {
    /// Returns the indexes that Core Data creates, table by table, with findings where they are not fully known.
    static func all(of layout: StoreLayout, numbering: EntityNumbering) -> (
        definitions: [IndexDefinition], findings: [Finding]
    ) {
        var definitions: [IndexDefinition] = []
        var findings: [Finding] = []
        let trees = Dictionary(grouping: numbering.entities) { layout.table(for: $0)?.name }
        let joins = Dictionary(grouping: layout.joinTables, by: \.owner.entity)
        for table in layout.tables {
            let tree = trees[table.name] ?? []
            if !layout.level.hasFetchIndexes { definitions += indexedAttributes(of: tree, table, layout) }
            definitions += foreignKeys(of: table)
            definitions += joinTables(tree.flatMap { joins[$0.name] ?? [] }, layout)
            definitions += entityColumn(of: table, tree: tree)
            for entity in tree {
                definitions += declared(by: entity, table, layout, &findings)
                if layout.level.hasUniqueIndexes { definitions += uniqueness(of: entity, table, layout) }
            }
        }
        var seen: Set<String> = []
        return (definitions.filter { seen.insert($0.name).inserted }, findings)
    }

    private init(_ name: String, on table: String, columns: [String], isUnique: Bool = false, predicate: String? = nil)
    {
        let kind = isUnique ? "UNIQUE INDEX" : "INDEX"
        let condition = predicate.map { " WHERE \($0)" } ?? ""
        self.init(
            name: name, table: table, isUnique: isUnique,
            sql: "CREATE \(kind) \(name.sqlName) ON \(table.sqlName) (\(columns.joined(separator: ", ")))\(condition)")
    }

    private static func foreignKeys(of table: EntityTable) -> [IndexDefinition] {
        table.columns.filter(\.role.isForeignKey).map { column in
            IndexDefinition("\(table.name)_\(column.name)_INDEX", on: table.name, columns: [column.name.sqlName])
        }
    }

    private static func joinTables(_ tables: [JoinTable], _ layout: StoreLayout) -> [IndexDefinition] {
        guard layout.level.hasJoinTableIndexes else { return [] }
        return tables.map { table in
            let keys = Array(table.keyColumns.reversed())
            return IndexDefinition(
                "\(table.name)_\(keys.first ?? "")_INDEX", on: table.name, columns: keys.map(\.sqlName))
        }
    }

    private static func entityColumn(of table: EntityTable, tree: [EntityDescription]) -> [IndexDefinition] {
        guard tree.count > 1, tree.first?.userInfo["_NSEntityOmitSubentityColumnIndex"] == nil,
            let column = table.column(.entity)
        else { return [] }
        return [IndexDefinition("\(table.name)_\(column)_INDEX", on: table.name, columns: [column])]
    }

    /// Returns the indexes for the indexed option of attributes, which preceded fetch indexes.
    private static func indexedAttributes(
        of tree: [EntityDescription], _ table: EntityTable, _ layout: StoreLayout
    ) -> [IndexDefinition] {
        tree.flatMap { entity in
            entity.attributes.filter(entity.indexes).compactMap { attribute in
                layout.column(forAttribute: attribute.name, in: entity).map {
                    IndexDefinition("\(table.name)_\($0)_INDEX", on: table.name, columns: [$0.sqlName])
                }
            }
        }
    }

    /// Returns the name of the index for a uniqueness constraint.
    package static func uniqueName(_ constraint: [String], of entity: EntityDescription) -> String {
        "Z_\(entity.name)_UNIQUE_\(constraint.joined(separator: "_"))"
    }

    private static func uniqueness(
        of entity: EntityDescription, _ table: EntityTable, _ layout: StoreLayout
    ) -> [IndexDefinition] {
        entity.uniquenessConstraints.compactMap { constraint in
            let columns = constraint.compactMap { layout.column(forProperty: $0, in: entity) }
            guard columns.count == constraint.count, !columns.isEmpty else { return nil }
            return IndexDefinition(
                uniqueName(constraint, of: entity), on: table.name,
                columns: columns.map { "\($0.sqlName) COLLATE BINARY ASC" }, isUnique: true)
        }
    }

    // MARK: - Indexes declared by a model

    private static func declared(
        by entity: EntityDescription, _ table: EntityTable, _ layout: StoreLayout, _ findings: inout [Finding]
    ) -> [IndexDefinition] {
        guard layout.level.hasFetchIndexes else {
            return entity.effectiveCompoundIndexes.compactMap { names in
                let columns = names.compactMap { layout.column(forProperty: $0, in: entity) }
                guard columns.count == names.count, !columns.isEmpty else { return nil }
                return IndexDefinition(
                    "\(table.name)_\(columns.joined(separator: "_"))", on: table.name, columns: columns.map(\.sqlName))
            }
        }
        return layout.model.effectiveFetchIndexes(of: entity).compactMap {
            fetchIndex(of: $0, entity, table, layout, &findings)
        }
    }

    private static func fetchIndex(
        of index: FetchIndexDescription, _ entity: EntityDescription, _ table: EntityTable, _ layout: StoreLayout,
        _ findings: inout [Finding]
    ) -> IndexDefinition? {
        guard index.elements.allSatisfy({ $0.kind == .binary }) else { return nil }
        // A single to-one already has the index on its foreign key.
        if index.elements.count == 1, case .property(let name)? = index.elements.first?.subject,
            layout.model.relationship(name, of: entity) != nil
        {
            return nil
        }
        let columns = index.elements.compactMap { element in
            layout.column(for: element.subject, in: entity).map {
                "\($0.sqlName) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")"
            }
        }
        guard columns.count == index.elements.count, !columns.isEmpty else {
            findings.append(unknown("an element that is not a stored property", index, entity))
            return nil
        }
        var predicate: String?
        if let text = index.partialIndexPredicate {
            predicate = PartialIndexPredicate(text)?.sql { layout.column(forProperty: $0, in: entity)?.sqlName }
            guard predicate != nil else {
                findings.append(unknown("the predicate \(text)", index, entity))
                return nil
            }
        }
        return IndexDefinition("Z_\(entity.name)_\(index.name)", on: table.name, columns: columns, predicate: predicate)
    }

    private static func unknown(_ what: String, _ index: FetchIndexDescription, _ entity: EntityDescription) -> Finding
    {
        Finding(
            code: "index-not-made", severity: .warning, place: "\(entity.name).\(index.name)",
            message: "The fetch index \(index.name) of \(entity.name) has \(what); the store does not get it.",
            remedy: "Core Data creates the index when it next migrates the store. Queries work without it.")
    }
}

extension EntityTable.Column.Role {
    /// Whether the column holds the key of another object.
    package var isForeignKey: Bool {
        switch self {
        case .toOne, .inverselessToMany: true
        default: false
        }
    }
}

extension StoreLayout {
    /// Returns the column of an attribute, or of the key of a to-one relationship; nil for any other property.
    package func column(forProperty name: String, in entity: EntityDescription) -> String? {
        if let column = column(forAttribute: name, in: entity) { return column }
        guard case .foreignKey(_, let column, _)? = storage(ofRelationship: name, in: entity) else { return nil }
        return column
    }

    /// Returns the column of an index element. The expressions `self` and `entity` stand for the key and the entity
    /// number.
    func column(for subject: FetchIndexDescription.Subject, in entity: EntityDescription) -> String? {
        switch subject {
        case .property(let name): column(forProperty: name, in: entity)
        case .expression("self"), .expression("SELF"): table(for: entity)?.column(.primaryKey)
        case .expression("entity"): table(for: entity)?.column(.entity)
        case .expression(let name): column(forProperty: name, in: entity)
        }
    }
}

/// The predicate of a partial fetch index, limited to the forms found in stores: comparisons of a property with a
/// constant, joined by AND and OR.
struct PartialIndexPredicate {
    private let root: Predicate

    /// Returns nil for a text that is not a predicate.
    init?(_ text: String) {
        guard let root = try? Predicate(parsing: text) else { return nil }
        self.root = root
    }

    /// Returns the condition of `CREATE INDEX … WHERE`; nil if the predicate has any other form, or if `column` returns
    /// no column.
    func sql(column: (_ property: String) -> String?) -> String? { Self.sql(root, column) }

    private static func sql(_ predicate: Predicate, _ column: (String) -> String?) -> String? {
        switch predicate {
        case .comparison(let comparison): self.sql(comparison, column)
        case .and(let parts): compound(parts, "AND", column)
        case .or(let parts): compound(parts, "OR", column)
        case .constant, .not: nil
        }
    }

    private static func compound(_ parts: [Predicate], _ word: String, _ column: (String) -> String?) -> String? {
        let texts = parts.compactMap { sql($0, column) }
        return texts.count == parts.count ? "(\(texts.joined(separator: " \(word) ")))" : nil
    }

    private static func sql(_ comparison: Predicate.Comparison, _ column: (String) -> String?) -> String? {
        guard case .keyPath(let property, of: .evaluatedObject) = comparison.left,
            case .constant(let constant) = comparison.right, comparison.modifier == .direct,
            comparison.options.isEmpty, let name = column(property)
        else { return nil }
        if constant == .null {
            switch comparison.operator {
            case .equal: return "\(name) IS NULL"
            case .notEqual: return "\(name) IS NOT NULL"
            default: return nil
            }
        }
        guard let sign = sign(of: comparison.operator), let value = literal(constant) else { return nil }
        return "\(name) \(sign) \(value)"
    }

    private static func sign(of operator: Predicate.Operator) -> String? {
        switch `operator` {
        case .equal: "="
        case .notEqual: "<>"
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: `operator`.symbol
        default: nil
        }
    }

    private static func literal(_ constant: ExpressionValue) -> String? {
        switch constant {
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .real(let number) where number.isFinite: "\(number)"
        case .decimal(let digits): digits
        case .string(let text): text.quotedLiteral
        case .null, .real, .date, .data, .uuid, .uri, .object, .collection: nil
        }
    }
}
