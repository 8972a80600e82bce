import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

/// Counts the losses of a mapping in the rows of a store before anything is changed.
struct LossCount {
    let lowering: StoreLowering
    /// The store, as `main`.
    let connection: Connection
    /// The name of the newer version.
    let version: String
    /// The contributions, with expressions over `main`.
    let contributions: [StoreLowering.RowSource]

    var source: StoreLayout { lowering.source }

    init(_ lowering: StoreLowering, to version: String, over connection: Connection) throws {
        (self.lowering, self.connection, self.version) = (lowering, connection, version)
        // The SQL functions that expressions call.
        try FormatFunctions.register(on: connection)
        contributions = try lowering.contributionsOverStore()
    }

    /// Returns the counted losses of all kinds.
    func losses() throws -> [MigrationLoss] {
        let left = lowering.mapping.leftBehind(
            from: source.model, to: lowering.destination.model, version: version
        ).filter { lowering.rowCounts[$0.entityName, default: 0] > 0 }
        var losses = try left.compactMap(counted)
        losses += try counted(values: left)
        losses += try rowsOfNoMapping()
        losses += try partlyCarried()
        losses += try narrowed()
        losses += try redirected()
        losses += try repeated()
        losses += try lowering.orderLosses(to: version).compactMap(counted)
        losses += try unconverted()
        losses += try unexplained()
        return losses
    }

    // MARK: - Removed data

    private func counted(_ loss: MigrationLoss) throws -> MigrationLoss? {
        var loss = loss
        switch loss.kind {
        case .rows: loss.count = lowering.rowCounts[loss.entityName, default: 0]
        case .links, .order: loss.count = try links(of: loss)
        case .values, .history, .table, .index, .trigger, .view, .column, .constraint: return nil
        }
        return loss.count == 0 ? nil : loss
    }

    /// Counts the lost attribute values of each entity in one pass over its rows.
    private func counted(values losses: [MigrationLoss]) throws -> [MigrationLoss] {
        let values = losses.filter { $0.kind == .values }
        return try Dictionary(grouping: values, by: \.entityName).inByteOrder { $0.key }
            .flatMap { try counted(values: $1, of: $0) }
    }

    private func counted(values losses: [MigrationLoss], of name: String) throws -> [MigrationLoss] {
        guard let entity = source.model.entity(name), let table = source.table(for: entity),
            let number = source.entityNumbers[name]
        else { return [] }
        let present = losses.compactMap { loss in
            source.column(forAttribute: loss.propertyName ?? "", in: entity).map { (loss, $0.quotedName) }
        }
        guard !present.isEmpty else { return [] }
        let sums = present.map { "count(\($0.1))" }.joined(separator: ", ")
        var counted: [MigrationLoss] = []
        try connection.forEachRow("SELECT \(sums) FROM main.\(table.name.quotedName) WHERE Z_ENT = \(number)") { row in
            for (column, (loss, _)) in present.enumerated() {
                var loss = loss
                loss.count = row.integer(column)
                if loss.count != 0 { counted.append(loss) }
            }
        }
        return counted
    }

    private func links(of loss: MigrationLoss) throws -> Int64 {
        guard let entity = source.model.entity(loss.entityName), let name = loss.propertyName,
            let pairs = RelationshipPairs(name, of: entity, in: source), let table = source.table(for: entity)?.name,
            let number = source.entityNumbers[entity.name]
        else { return 0 }
        return try connection.integer(
            """
            SELECT count(*) FROM \(pairs.rows(in: "main")) AS p \
            WHERE p.\(name: pairs.destinationColumn) IS NOT NULL AND p.\(name: pairs.ownerColumn) IN \
            (SELECT Z_PK FROM main.\(table: table) WHERE Z_ENT = \(number))
            """) ?? 0
    }

    // MARK: - Rows

    /// Returns the losses of objects that no predicate selects.
    private func rowsOfNoMapping() throws -> [MigrationLoss] {
        let groups = Dictionary(grouping: contributions, by: \.source.name)
        let policied = Set(lowering.carriers.filter { $0.mapping.policy != nil }.map(\.source.name))
        return try groups.inByteOrder { $0.key }.compactMap { name, all in
            let conditions = all.compactMap(\.values.condition)
            let isPolicied = policied.contains(name)
            guard conditions.count == all.count, !isPolicied, var any = all.first else { return nil }
            any.values.takeAll()
            let condition = conditions.map { "(\($0))" as SQLText }.conditions(joinedBy: "OR")
            let count = try lowering.count(any, "(\(condition)) IS NOT TRUE", connection)
            guard let count, count > 0 else { return nil }
            let isInBoth = lowering.destination.model.hasEntity(of: name)
            var loss = MigrationLoss(
                .rows, isInBoth ? .dropped : .removed, entity: name, count: count, version: version)
            loss.isInBoth = isInBoth
            return loss
        }
    }

    // MARK: - Relationships that are migrated in part

    private func narrowed() throws -> [MigrationLoss] {
        try carriedRelationships { new, pairs, contribution in
            // For a to-many without an inverse, the row of a destination refers to one owner.
            let isTakenOnce = new.isToMany && new.inverseName == nil && pairs.row != .destination
            guard isTakenOnce || !new.isToMany && pairs.row != .owner,
                let links = lowering.links(new.name, of: contribution).first,
                let own = source.table(for: contribution.source)?.name
            else { return nil }
            let condition: SQLText = contribution.values.condition.map { " AND (\($0))" } ?? ""
            let owners: SQLText =
                "SELECT s.Z_PK FROM main.\(table: own) AS s WHERE s.Z_ENT = \(contribution.sourceNumber)\(condition)"
            let lost = try connection.integer(
                """
                SELECT (SELECT count(*) FROM \(lowering.carriedPairs(links, contributions)) \
                AND p.\(name: pairs.ownerColumn) IN (\(owners))) - (SELECT count(*) FROM \
                (\(lowering.keptPairs(links, as: new, of: contribution, contributions))) WHERE o IN (\(owners)))
                """)
            return MigrationLoss(
                .links, .narrowed, entity: contribution.source.name, property: oldName(of: new, links, contribution),
                count: lost, version: version,
                detail: isTakenOnce ? "without an inverse, one object at most can lead to each destination" : nil)
        }
    }

    /// The older version's name of the relationship whose links a new one has; the new name if no relationship of the
    /// older version leads the same way.
    private func oldName(
        of new: RelationshipDescription, _ links: Links, _ contribution: StoreLowering.RowSource
    ) -> String {
        switch contribution.mapping.relationships[new.name] {
        case .relationship(let old)?: return old
        case .path(let keys, _)? where !keys.isEmpty: return keys.joined(separator: ".")
        case .path, .empty, nil: break
        }
        let inverses = links.destinations.lazy.compactMap { other -> String? in
            guard case .relationship(let old)? = other.mapping.relationships[new.inverseName ?? ""] else { return nil }
            return source.model.relationship(old, of: other.source)?.inverseName
        }
        return inverses.first ?? new.name
    }

    func carriedRelationships(
        _ loss: (RelationshipDescription, RelationshipPairs, StoreLowering.RowSource) throws -> MigrationLoss?
    ) throws -> [MigrationLoss] {
        try contributions.filter { lowering.rowCounts[$0.source.name, default: 0] > 0 }.flatMap { contribution in
            try lowering.destination.model.relationships(of: contribution.destination).compactMap { relationship in
                guard let pairs = lowering.links(relationship.name, of: contribution).first?.pairs,
                    let found = try loss(relationship, pairs, contribution)
                else { return nil }
                return found.count == 0 ? nil : found
            }
        }
    }

    // MARK: - Values

    /// Returns the losses of values that cannot be converted and are replaced by the default value. Without a default
    /// value they are an obstacle.
    private func unconverted() throws -> [MigrationLoss] {
        var losses: [MigrationLoss] = []
        for contribution in contributions where lowering.rowCounts[contribution.source.name, default: 0] > 0 {
            for (name, condition) in contribution.values.failures.sorted(by: { $0.key < $1.key }) {
                guard contribution.values.functions.allSatisfy({ $0.attribute.name != name }),
                    let attribute = lowering.destination.model.attribute(name, of: contribution.destination),
                    attribute.defaultValue != nil,
                    let count = try lowering.count(contribution, condition, connection), count > 0
                else { continue }
                losses.append(
                    MigrationLoss(
                        .values, .notConvertible, entity: contribution.source.name,
                        property: contribution.mapping.attributes[name]?.onlyPath ?? name, count: count,
                        version: version, detail: attribute.type.name))
            }
        }
        return losses
    }

    /// Returns the losses of columns with values that no property explains, in tables that are rebuilt, and where they
    /// become columns of the new version in a table that stays.
    private func unexplained() throws -> [MigrationLoss] {
        var columns = source.tables.map { ($0.name, $0.columns.filter { $0.role == .unknown }.map(\.name)) }
        columns += source.joinTables.map { ($0.name, $0.columns.filter { $0.role == .unknown }.map(\.name)) }
        guard columns.contains(where: { !$0.1.isEmpty }) else { return [] }
        var filled = Set(lowering.joinChanges.filter(\.isRebuilt).map(\.table.name))
        var written: [String: Set<String>] = [:]
        for change in lowering.changes {
            switch change.kind {
            case .rebuilt(let fills): filled.formUnion(fills.map(\.source))
            case .updated(let columns, _): written[change.table.name] = Set(columns.map(\.column))
            case .untouched: break
            }
        }
        return try columns.flatMap { table, names in
            let isFilled = filled.contains(table)
            let lost = isFilled ? names : names.filter { written[table]?.contains($0) == true }
            return try connection.valueCounts(of: lost, in: table).filter { isFilled || $0.count > 0 }.map {
                column, count in
                MigrationLoss(
                    count == 0 ? .column : .values, .unexplained, entity: table, property: column,
                    count: count == 0 ? nil : count, version: version)
            }
        }
    }
}

extension StoreLowering {
    /// Returns the losses of the order of relationships that become unordered, without counts.
    ///
    /// - Parameter version: the name of the newer version.
    func orderLosses(to version: String) -> [MigrationLoss] {
        contributions.filter { rowCounts[$0.source.name, default: 0] > 0 }.flatMap { contribution in
            destination.model.relationships(of: contribution.destination).compactMap { new in
                guard case .relationship(let old)? = contribution.mapping.relationships[new.name], new.isToMany,
                    !new.isOrdered, links(new.name, of: contribution).first?.pairs.ownerOrderColumn != nil
                else { return nil }
                return MigrationLoss(
                    .order, .removed, entity: contribution.source.name, property: old, version: version)
            }
        }
    }

    /// Returns the losses of changes in persistent history, one for each entity that is not migrated.
    ///
    /// - Parameters:
    ///   - version: the name of the newer version.
    ///   - connection: the store, as `main`.
    func historyLosses(to version: String, over connection: Connection) throws -> [MigrationLoss] {
        guard catalogue.table("ACHANGE") != nil else { return [] }
        let removed = HistoryLowering.removedNumbers(self)
        guard !removed.isEmpty else { return [] }
        let sql =
            "SELECT ZENTITY, count(*) FROM main.ACHANGE WHERE ZENTITY IN (\(removed.sqlList)) GROUP BY 1 ORDER BY 1"
        return try connection.rows(sql) { ($0.integer(0), $0.integer(1)) }.compactMap { number, count in
            source.entityName(number: Int(clamping: number)).map {
                MigrationLoss(.history, .removed, entity: $0, count: count, version: version)
            }
        }
    }
}

extension AttributeSource {
    /// The path of the only values of the older version that an expression reads; nil if it reads none or several.
    fileprivate var onlyPath: String? {
        guard case .expression(let expression) = self else { return nil }
        let paths = expression.replacing { $0 == .variable("source") ? .evaluatedObject : nil }.keyPaths
        return paths.count == 1 ? paths.first : nil
    }
}

extension Connection {
    func integer(_ sql: SQLText) throws -> Int64? { try integer(sql.inlined) }

    /// Returns the number of values in each of the given columns, in the store as `main`.
    func valueCounts(of columns: [String], in table: String) throws -> [(column: String, count: Int64)] {
        try columns.map { column in
            (column, try integer("SELECT count(\(column.quotedName)) FROM main.\(table.quotedName)") ?? 0)
        }
    }
}

extension MigrationLoss {
    /// The loss as a finding that needs attention before a migration; nil if a finding about the rows already reports
    /// it, together with the values' replacement.
    package var finding: Finding? {
        guard reason != .notConvertible else { return nil }
        let code =
            switch (kind, reason) {
            case (.table, _), (.index, _), (.trigger, _), (.view, _): "object-dropped"
            case (.history, _): "history-dropped"
            case (.constraint, .conflict): "object-broken"
            case (.constraint, _): "constraint-dropped"
            case (_, .unexplained): "column-unexplained"
            case (_, .repeated): "links-repeated"
            case (.column, _): "column-dropped"
            case (.rows, _): "rows-dropped"
            case (.values, _): "values-dropped"
            case (.links, _): "links-dropped"
            case (.order, _): "order-dropped"
            }
        let remedy =
            kind == .constraint && reason == .conflict
            ? "Create the table \(place) again without the foreign key, or with one to a table that stays: while foreign "
                + "keys are on, SQLite refuses to write to it." : "The backup keeps the old store."
        return Finding(code: code, severity: .warning, place: place, message: sentence, remedy: remedy)
    }
}
