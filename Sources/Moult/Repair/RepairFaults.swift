import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// Everything that a repair looks for in a store of a layout, in repair order: dangling links are ended before objects
/// are removed for lacking a required one.
struct RepairFaults {
    private let layout: StoreLayout
    private let gaps: HistoryGaps
    private let limit: HistoryLimit?
    private(set) var all: [RepairFault] = []

    /// - Parameters:
    ///   - gaps: the missing parts of persistent history, whose rows are left alone.
    ///   - limit: the date before which history is deleted; nil to keep it.
    init(_ layout: StoreLayout, _ rules: Set<RepairRule>, _ gaps: HistoryGaps, before limit: HistoryLimit? = nil) {
        (self.layout, self.gaps, self.limit) = (layout, gaps, limit)
        for rule in RepairRule.allCases where rules.contains(rule) { all += faults(of: rule) }
    }

    private func faults(of rule: RepairRule) -> [RepairFault] {
        switch rule {
        // These are found in the catalogue and next to the store.
        case .tables, .columns, .indexes, .externalFiles, .space: []
        case .history: history
        case .numbers: layout.tables.map(strangers) + links.compactMap(renumbered)
        case .dangling:
            links.filter(\.link.isOptional).map { dangling($0.link, $0.place, $0.destination, $0.numbers) }
                + layout.joinTables.compactMap(pairs)
        case .inverses, .oneSided: links.compactMap { inverses($0, rule) }
        case .duplicates: layout.model.entities.flatMap(duplicates) + layout.joinTables.compactMap(repeated)
        case .orphans:
            links.filter { !$0.link.isOptional }.map { link in
                RepairFault(
                    rule: .orphans, place: link.place,
                    select: without(link.link, link.destination, link.numbers, isGiven: false),
                    action: .quarantine(table: link.link.table))
            }
        case .cycles: layout.model.entities.flatMap(cycles)
        case .counts: layout.model.entities.flatMap(counts)
        case .keyCounters: layout.tables.compactMap(counter)
        }
    }

    // MARK: - Links

    /// A reference from a row of objects, with the entity numbers of the objects that have it.
    private struct OwnedLink {
        let link: RepairFault.Link
        let entity: EntityDescription
        let relationship: RelationshipDescription
        let destination: EntityDescription
        let numbers: [Int]

        var place: String { "\(entity.name).\(relationship.name)" }
    }

    private var links: [OwnedLink] {
        layout.model.entities.flatMap { entity in
            entity.relationships.filter { !$0.isTransient }.compactMap { link($0, of: entity) }
        }
    }

    private func link(_ relationship: RelationshipDescription, of entity: EntityDescription) -> OwnedLink? {
        guard let destination = layout.model.entity(relationship.destinationEntityName),
            let own = layout.table(for: entity), let target = layout.table(for: destination)
        else { return nil }
        switch layout.storage(ofRelationship: relationship.name, in: entity) {
        case .foreignKey(let table, let column, let entityColumn)?:
            let order = own.column(.order(entity: entity.name, name: relationship.name))
            return OwnedLink(
                link: .init(
                    table: table, column: column, companions: [entityColumn, order].compactMap { $0 },
                    entityColumn: entityColumn, property: relationship.name, target: target.name,
                    isOptional: relationship.isOptional),
                entity: entity, relationship: relationship, destination: destination,
                numbers: layout.numbers(ofEntityAndDescendants: entity))
        case .inverseless(let table, let column, let order)?:
            // The column is in the destination's table and leads to the owner.
            return OwnedLink(
                link: .init(
                    table: table, column: column, companions: [order].compactMap { $0 }, entityColumn: nil,
                    property: relationship.name, target: own.name, isOptional: true),
                entity: entity, relationship: relationship, destination: entity,
                numbers: layout.numbers(ofEntityAndDescendants: destination))
        case .inverseForeignKey?, .joinTable?, nil: return nil
        }
    }

    private func dangling(
        _ link: RepairFault.Link, _ place: String, _ destination: EntityDescription, _ numbers: [Int]
    ) -> RepairFault {
        RepairFault(
            rule: .dangling, place: place, select: without(link, destination, numbers, isGiven: true),
            action: .clear(link))
    }

    /// Returns a query for the rows whose reference leads to no object of the destination.
    private func without(
        _ link: RepairFault.Link, _ destination: EntityDescription, _ numbers: [Int], isGiven: Bool
    ) -> String {
        Consistency(layout).leadingNowhere(
            link.table, link.column, numbers: numbers, to: destination, in: link.target, isGiven: isGiven,
            selecting: "r.Z_PK"
        ).inlined
    }

    /// Returns the fault of references whose stored entity number differs from the object's.
    private func renumbered(_ owned: OwnedLink) -> RepairFault? {
        let link = owned.link
        guard let entityColumn = link.entityColumn else { return nil }
        return RepairFault(
            rule: .numbers, place: owned.place,
            select: """
                SELECT r.Z_PK FROM main.\(link.table.quotedName) AS r JOIN main.\(link.target.quotedName) AS t \
                ON t.Z_PK = r.\(link.column.quotedName) WHERE r.Z_ENT IN (\(owned.numbers.sqlList)) \
                AND r.\(entityColumn.quotedName) IS NOT t.Z_ENT \
                AND t.Z_ENT IN (\(layout.numbers(ofEntityAndDescendants: owned.destination).sqlList)) ORDER BY r.Z_PK
                """,
            action: .renumber(link))
    }

    private func inverses(_ owned: OwnedLink, _ rule: RepairRule) -> RepairFault? {
        guard !owned.relationship.isToMany, let inverse = layout.model.inverse(of: owned.relationship),
            !inverse.isToMany,
            let declaring = layout.model.declaringEntity(of: inverse.name, in: owned.destination),
            let other = link(inverse, of: declaring)
        else { return nil }
        let (own, there) = (owned.link, other.link)
        // The app has never written the other end, and no object is named twice.
        let isOneSided = """
            NOT EXISTS (SELECT 1 FROM main.\(there.table.quotedName) WHERE \(there.column.quotedName) IS NOT NULL) \
            AND NOT EXISTS (SELECT 1 FROM main.\(own.table.quotedName) WHERE \(own.column.quotedName) IS NOT NULL \
            AND Z_ENT IN (\(owned.numbers.sqlList)) GROUP BY \(own.column.quotedName) HAVING count(*) > 1)
            """
        return RepairFault(
            rule: rule, place: owned.place,
            select: """
                SELECT r.Z_PK, r.\(own.column.quotedName) FROM main.\(own.table.quotedName) AS r \
                JOIN main.\(there.table.quotedName) AS t ON t.Z_PK = r.\(own.column.quotedName) \
                WHERE r.Z_ENT IN (\(owned.numbers.sqlList)) AND t.\(there.column.quotedName) IS NOT r.Z_PK \
                AND \(rule == .oneSided ? "" : "NOT ")(\(isOneSided)) ORDER BY r.Z_PK
                """,
            action: .answer(own, inverse: there))
    }

    private func keys(of join: JoinTable) -> [RepairFault.PairColumn]? {
        let keys = join.columns.compactMap { column -> RepairFault.PairColumn? in
            switch column.role {
            case .source(let own): pairColumn(column.name, own.entity, own.name)
            case .reflexiveDestination(let own): pairColumn(column.name, destination(of: own), own.name)
            case .order, .unknown: nil
            }
        }
        return keys.count == 2 ? keys : nil
    }

    /// Returns the fault of pairs that an earlier row already has.
    private func repeated(_ join: JoinTable) -> RepairFault? {
        guard join.mayRepeat, let keys = keys(of: join) else { return nil }
        return RepairFault(
            rule: .duplicates, place: join.owner.place,
            select: "SELECT r.rowid FROM main.\(join.name.quotedName) AS r WHERE \(join.isRepeated("r")) ORDER BY 1",
            action: .unlink(table: join.name, columns: keys))
    }

    private func pairs(_ join: JoinTable) -> RepairFault? {
        guard let keys = keys(of: join) else { return nil }
        let missing = keys.map { key in
            "NOT EXISTS (SELECT 1 FROM main.\(key.target.quotedName) AS t WHERE t.Z_PK = r.\(key.name.quotedName) "
                + "AND t.Z_ENT IN (\(key.numbers.sqlList)))"
        }
        return RepairFault(
            rule: .dangling, place: "\(join.owner.entity).\(join.owner.name)",
            select:
                "SELECT r.rowid FROM main.\(join.name.quotedName) AS r WHERE \(missing.conditions(joinedBy: "OR")) ORDER BY 1",
            action: .unlink(table: join.name, columns: keys))
    }

    private func pairColumn(_ name: String, _ entity: String?, _ property: String) -> RepairFault.PairColumn? {
        guard let entity = entity.flatMap(layout.model.entity), let target = layout.table(for: entity)?.name else {
            return nil
        }
        return RepairFault.PairColumn(
            name: name, target: target, numbers: layout.numbers(ofEntityAndDescendants: entity), property: property)
    }

    private func destination(of reference: RelationshipReference) -> String? {
        layout.model.entity(reference.entity)?.relationship(reference.name)?.destinationEntityName
    }

    // MARK: - Persistent history

    /// The faults of changes that no reader finds, and of transactions whose texts are missing.
    private var history: [RepairFault] {
        guard layout.hasHistory, gaps.isWhole("ACHANGE"), gaps.isWhole("ATRANSACTION") else { return [] }
        let changes = RepairFault(
            rule: .history, place: "ACHANGE",
            select: """
                SELECT Z_PK FROM main.ACHANGE AS r WHERE ifnull(ZCHANGETYPE NOT IN (0, 1, 2), 1) \
                OR typeof(ZENTITY) <> 'integer' OR typeof(ZENTITYPK) <> 'integer' OR NOT EXISTS (SELECT 1 FROM main.ATRANSACTION AS t WHERE t.Z_PK = r.ZTRANSACTIONID) ORDER BY Z_PK
                """,
            action: .history("DELETE FROM main.ACHANGE"))
        let old =
            limit.map { limit in
                // Changes first: their condition reads ATRANSACTION.
                [("ACHANGE", "ZTRANSACTIONID"), ("ATRANSACTION", "Z_PK")].map { table, column in
                    RepairFault(
                        rule: .history, place: "\(table) before \(limit.name)",
                        select: "SELECT Z_PK FROM main.\(table) WHERE \(column) < \(limit.firstKept) ORDER BY Z_PK",
                        action: .trim(table: table))
                }
            } ?? []
        guard layout.level.hasHistoryStrings, gaps.isWhole("ATRANSACTIONSTRING") else {
            return old + [changes]
        }
        let texts = PersistentHistory.references.map { column in
            RepairFault(
                rule: .history, place: "ATRANSACTION.\(column)",
                select: """
                    SELECT Z_PK FROM main.ATRANSACTION AS r WHERE \(column) IS NOT NULL AND NOT EXISTS \
                    (SELECT 1 FROM main.ATRANSACTIONSTRING AS t WHERE t.Z_PK = r.\(column)) ORDER BY Z_PK
                    """,
                action: .history("UPDATE main.ATRANSACTION SET \(column) = NULL"))
        }
        return old + [changes] + texts
    }

    // MARK: - Objects

    private func strangers(_ table: EntityTable) -> RepairFault {
        let numbers = layout.numbers(inTable: table.name)
        let entities = numbers.compactMap(layout.entityName(number:)).inByteOrder()
            .compactMap(layout.model.entity)
        return RepairFault(
            rule: .numbers, place: table.name,
            select: """
                SELECT Z_PK FROM main.\(table.name.quotedName) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers.sqlList)) \
                ORDER BY Z_PK
                """,
            action: .number(table: table.name, entities: entities.filter { !$0.isAbstract }.map(\.name)))
    }

    private func duplicates(_ entity: EntityDescription) -> [RepairFault] {
        guard let table = layout.table(for: entity) else { return [] }
        return entity.uniquenessConstraints.compactMap { constraint in
            let columns = constraint.compactMap { layout.column(forProperty: $0, in: entity) }
            guard columns.count == constraint.count, !columns.isEmpty else { return nil }
            return RepairFault(
                rule: .duplicates, place: "\(entity.name).\(constraint.joined(separator: "+"))",
                select: Consistency(layout).repeated(columns, of: entity, in: table, selecting: "Z_PK, keeper").inlined,
                action: .merge(entity: entity.name))
        }
    }

    /// Returns the faults of a hierarchy's to-one relationship: to its own entity, with a to-many inverse.
    private func cycles(_ entity: EntityDescription) -> [RepairFault] {
        entity.relationships.compactMap { relationship in
            guard !relationship.isToMany, !relationship.isTransient, relationship.isOptional,
                relationship.destinationEntityName == entity.name,
                layout.model.inverse(of: relationship)?.isToMany == true
            else { return nil }
            let place = "\(entity.name).\(relationship.name)"
            return RepairFault(
                rule: .cycles, place: place, select: "",
                action: .rule(
                    ValidationRule(
                        "cycles \(place)", of: entity.name, .noCycle(relationship: relationship.name),
                        fix: .nullify(relationship: relationship.name))))
        }
    }

    private func counts(_ entity: EntityDescription) -> [RepairFault] {
        entity.attributes.compactMap { attribute in
            guard let text = attribute.derivation?.expression,
                case .count(let relationship)? = DerivationShape(text), let table = layout.table(for: entity)?.name,
                let column = layout.column(forAttribute: attribute.name, in: entity)
            else { return nil }
            let (there, key): (String, String)
            switch layout.storage(ofRelationship: relationship, in: entity) {
            case .inverseForeignKey(let table, let column, _, _)?, .inverseless(let table, let column, _)?,
                .joinTable(let table, let column, _, _, _, _)?:
                (there, key) = ("main.\(table.quotedName)", column.quotedName)
            case .foreignKey?, nil: return nil
            }
            return RepairFault(
                rule: .counts, place: "\(entity.name).\(attribute.name)",
                select: """
                    SELECT r.Z_PK FROM main.\(table.quotedName) AS r LEFT JOIN \
                    (SELECT \(key) AS key, count(*) AS n FROM \(there) GROUP BY \(key)) AS c ON c.key = r.Z_PK \
                    WHERE r.Z_ENT IN (\(layout.numbers(ofEntityAndDescendants: entity).sqlList)) \
                    AND r.\(column.quotedName) IS NOT ifnull(c.n, 0) ORDER BY r.Z_PK
                    """,
                action: .recount(
                    table: table, column: column, property: attribute.name,
                    counted: "(SELECT count(*) FROM \(there) AS c WHERE c.\(key) = r.Z_PK)"))
        }
    }

    private func counter(_ table: EntityTable) -> RepairFault? {
        guard let number = layout.entityNumbers[table.rootEntityName] else { return nil }
        return RepairFault(
            rule: .keyCounters, place: table.rootEntityName,
            select: """
                SELECT Z_ENT FROM main.Z_PRIMARYKEY WHERE Z_ENT = \(number) \
                AND (\(PrimaryKeyRow.isUncountableSQL) OR Z_MAX < (SELECT max(Z_PK) FROM main.\(table.name.quotedName)))
                """,
            action: .raise(table: table.name, number: number))
    }
}
