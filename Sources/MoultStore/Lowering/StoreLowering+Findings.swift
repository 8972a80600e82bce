import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// What only the rows can tell before a migration: what would be lost, with counts, and what stands in its way
    /// (findings of severity `error`).
    ///
    /// - Parameter connection: the store, as `main`.
    func findings(over connection: Connection) throws -> [Finding] {
        try removedEntities() + removedValues(connection) + missingValues(connection) + missingDestinations(connection)
            + repeatedValues(connection) + narrowedRelationships(connection) + unexplainedColumns(connection)
    }

    // MARK: - What leaves

    private func removedEntities() -> [Finding] {
        mapping.entityMappings.filter { $0.destinationEntityName == nil && $0.policy == nil }.compactMap { mapping in
            guard let name = mapping.sourceEntityName, rowCounts[name, default: 0] > 0 else { return nil }
            return Finding(
                code: "rows-dropped", severity: .warning, place: name,
                message: "\(rowCounts[name, default: 0]) objects of \(name) are dropped with their entity.",
                remedy: "The backup keeps them.")
        }
    }

    private func removedValues(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            let used = Set(
                contribution.mapping.attributes.values.compactMap { value -> String? in
                    switch value {
                    case .attribute(let name, _): name
                    case .expression(.keyPath(let path, .variable("source"))): path
                    case .constant, .expression: nil
                    }
                })
            let gone = source.model.attributes(of: contribution.source).filter {
                $0.isStored && $0.derivation == nil && !used.contains($0.name)
            }
            for attribute in gone {
                guard let count = try values(of: attribute.name, contribution, connection), count > 0 else { continue }
                findings.append(
                    Finding(
                        code: "values-dropped", severity: .warning,
                        place: "\(contribution.source.name).\(attribute.name)",
                        message: "\(count) values of \(contribution.source.name).\(attribute.name) are dropped.",
                        remedy: "The backup keeps them."))
            }
        }
        return findings
    }

    private func values(of attribute: String, _ contribution: Contribution, _ connection: Connection) throws -> Int64? {
        guard let column = source.column(forAttribute: attribute, in: contribution.source) else { return nil }
        return try count(contribution, "\(column.quotedName) IS NOT NULL", connection)
    }

    private func narrowedRelationships(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions {
            for relationship in destination.model.relationships(of: contribution.destination) {
                guard !relationship.isToMany, let pairs = pairs(for: relationship.name, of: contribution),
                    pairs.row != .owner
                else { continue }
                let owner = pairs.ownerColumn.quotedName
                let lost = try connection.integer(
                    """
                    SELECT COALESCE(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM \(pairs.rows(in: "main")) \
                    WHERE \(owner) IS NOT NULL AND \(pairs.destinationColumn.quotedName) IS NOT NULL GROUP BY \(owner))
                    """)
                guard let lost, lost > 0 else { continue }
                findings.append(
                    Finding(
                        code: "links-dropped", severity: .warning,
                        place: "\(contribution.destination.name).\(relationship.name)",
                        message: "\(lost) links are dropped, because \(relationship.name) keeps one destination only.",
                        remedy: "The backup keeps them."))
            }
        }
        return findings
    }

    private func unexplainedColumns(_ connection: Connection) throws -> [Finding] {
        try changes().filter(\.isRebuilt).flatMap { change -> [Finding] in
            guard case .rebuilt(let name?, _, _) = change.kind,
                let table = source.tables.first(where: { $0.name == name })
            else { return [] }
            return try table.columns.filter { $0.role == .unknown }.compactMap { column in
                let count = try connection.integer(
                    "SELECT count(\(column.name.quotedName)) FROM main.\(name.quotedName)")
                guard let count, count > 0 else { return nil }
                return Finding(
                    code: "column-unexplained", severity: .warning, place: "\(name).\(column.name)",
                    message: "The column \(column.name) of \(name) belongs to no property of the model; "
                        + "its \(count) values are dropped.", remedy: "The backup keeps them.")
            }
        }
    }

    // MARK: - What stands in the way

    private func missingValues(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for attribute in destination.model.attributes(of: contribution.destination) {
                guard !attribute.isOptional, attribute.isStored,
                    case .attribute(let name, nil)? = contribution.mapping.attributes[attribute.name],
                    let column = source.column(forAttribute: name, in: contribution.source),
                    let count = try count(contribution, "\(column.quotedName) IS NULL", connection), count > 0
                else { continue }
                let wasRequired = source.model.attribute(name, of: contribution.source)?.isOptional == false
                findings.append(
                    required("\(contribution.destination.name).\(attribute.name)", count, wasRequired: wasRequired))
            }
        }
        return findings
    }

    private func missingDestinations(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for relationship in destination.model.relationships(of: contribution.destination) {
                guard !relationship.isOptional, !relationship.isToMany,
                    let pairs = pairs(for: relationship.name, of: contribution), pairs.row == .owner,
                    let count = try count(contribution, "\(pairs.destinationColumn.quotedName) IS NULL", connection),
                    count > 0
                else { continue }
                var wasRequired = false
                if case .relationship(let name)? = contribution.mapping.relationships[relationship.name] {
                    wasRequired = source.model.relationship(name, of: contribution.source)?.isOptional == false
                }
                findings.append(
                    required("\(contribution.destination.name).\(relationship.name)", count, wasRequired: wasRequired))
            }
        }
        return findings
    }

    /// A value that was required before and is missing all the same is an old fault, which migrating does not worsen.
    private func required(_ place: String, _ count: Int64, wasRequired: Bool) -> Finding {
        Finding(
            code: "required-missing", severity: wasRequired ? .warning : .error, place: place,
            message: wasRequired
                ? "\(count) objects have no \(place), which was required already."
                : "\(count) objects have no \(place), which becomes required.",
            remedy: wasRequired ? "" : "Give the attribute a default value, or fill it before migrating.")
    }

    /// Objects that share a value that must be unique in the new version.
    private func repeatedValues(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for entity in destination.model.entities {
            for constraint in entity.uniquenessConstraints {
                guard let (table, columns, numbers) = sourceColumns(of: constraint, entity) else { continue }
                let names = columns.map(\.quotedName).joined(separator: ", ")
                let present = columns.map { "\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
                let groups = try connection.integer(
                    """
                    SELECT count(*) FROM (SELECT 1 FROM main.\(table.quotedName) WHERE Z_ENT IN (\(numbers.sqlList)) \
                    AND \(present) GROUP BY \(names) HAVING count(*) > 1)
                    """)
                guard let groups, groups > 0 else { continue }
                let place = "\(entity.name).\(constraint.joined(separator: "+"))"
                findings.append(
                    Finding(
                        code: "not-unique", severity: .error, place: place,
                        message: "\(groups) values of \(place), which becomes unique, occur more than once.",
                        remedy: "Merge the objects that share a value before migrating."))
            }
        }
        return findings
    }

    private func sourceColumns(
        of constraint: [String], _ entity: EntityDescription
    ) -> (table: String, columns: [String], numbers: [Int])? {
        let members = contributions.filter { destination.model.isKind($0.destination, of: entity) }
        guard let first = members.first, let table = source.table(for: first.source)?.name else { return nil }
        let columns = constraint.compactMap { name -> String? in
            if case .attribute(let old, _)? = first.mapping.attributes[name] {
                return source.column(forAttribute: old, in: first.source)
            }
            return pairs(for: name, of: first).flatMap { $0.row == .owner ? $0.destinationColumn : nil }
        }
        guard columns.count == constraint.count else { return nil }
        return (table, columns, members.map(\.sourceNumber))
    }

    private func count(_ contribution: Contribution, _ condition: String, _ connection: Connection) throws -> Int64? {
        guard let table = source.table(for: contribution.source)?.name else { return nil }
        return try connection.integer(
            """
            SELECT count(*) FROM main.\(table.quotedName) \
            WHERE Z_ENT = \(contribution.sourceNumber) AND \(condition)
            """)
    }
}
