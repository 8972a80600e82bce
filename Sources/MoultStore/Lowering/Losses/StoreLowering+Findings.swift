import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

extension StoreLowering {
    /// Returns the findings that require reading the rows before a migration: obstacles (with severity `error`), and
    /// rounded or converted values. ``LossCount`` counts the losses.
    ///
    /// - Parameters:
    ///   - contributions: the contributions, with expressions over the store itself (``LossCount/contributions``).
    ///   - connection: the store, as `main`, with the SQL functions that expressions call.
    func findings(_ contributions: [RowSource], over connection: Connection) throws -> [Finding] {
        try missingValues(contributions, connection)
            + unconvertedValues(contributions, connection) + inexactNumbers(contributions, connection)
            + roundedValues(contributions, connection)
            + roundedDefaults(contributions, connection)
            + missingDestinations(contributions, connection)
            + repeatedValues(connection) + oneSidedPairs(connection) + shiftedKeys() + staleSearch()
            + uncomputedValues()
    }

    // MARK: - Notes and warnings

    /// Returns the contributions with expressions over the store itself, as `main`.
    func contributionsOverStore() throws -> [RowSource] {
        try contributions.map { contribution in
            try Self.contribution(
                of: contribution.mapping, at: contribution.position, from: source, to: destination, schema: "main")
                ?? contribution
        }
    }

    /// Returns findings for the objects whose keys cannot be kept.
    private func shiftedKeys() -> [Finding] {
        contributions.filter { $0.shift > 0 }.map { contribution in
            let (old, new) = (contribution.source.name, contribution.destination.name)
            return Finding(
                code: "keys-shifted", severity: rows(of: [old]) > 0 ? .warning : .note, place: new,
                message: "The objects of \(old)\(old == new ? "" : " that become \(new)") get new keys, "
                    + "\(Quantity.count(contribution.shift)) higher: others of the same table have theirs.",
                remedy: "An object ID that was kept outside the store, as a URI, no longer leads to its object.")
        }
    }

    /// Returns findings for pairs that the store contains in one direction only; a migration does not change this.
    private func oneSidedPairs(_ connection: Connection) throws -> [Finding] {
        try source.joinTables.compactMap { join in
            guard let own = join.column(.source(join.owner))?.quotedName,
                let other = join.column(.reflexiveDestination(join.owner))?.quotedName
            else { return nil }
            let table = "main.\(join.name.quotedName)"
            let count = try connection.integer(
                """
                SELECT count(*) FROM \(table) AS p WHERE CASE WHEN (p.\(other), p.\(own)) IN \
                (SELECT \(own), \(other) FROM \(table)) THEN 0 ELSE 1 END
                """)
            guard let count, count > 0 else { return nil }
            return Finding(
                code: "pair-one-sided", severity: .note, place: join.owner.place,
                message:
                    "The old store holds \(Quantity.count(count, "pair")) of \(join.owner.place), its own inverse, in "
                    + "one direction only; this stays as it is.")
        }
    }

    // MARK: - Obstacles

    private func missingValues(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for attribute in destination.model.leaves(of: contribution.destination) {
                guard !attribute.isOptional, attribute.isStored,
                    let value = missable(attribute, contribution),
                    let count = try count(contribution, "\(value) IS NULL", connection), count > 0
                else { continue }
                var wasRequired = false
                if case .attribute(let name, nil)? = contribution.mapping.attributes[attribute.name] {
                    wasRequired = source.model.attribute(name, of: contribution.source)?.isOptional == false
                }
                findings.append(
                    required("\(contribution.destination.name).\(attribute.name)", count, wasRequired: wasRequired))
            }
        }
        return findings
    }

    /// Returns the value of an attribute that may be nil because its source is. A closure is not called in advance.
    private func missable(_ attribute: AttributeDescription, _ contribution: RowSource) -> SQLText? {
        switch contribution.mapping.attributes[attribute.name] {
        case .constant(nil) where mapping.isWayBack: return "NULL"
        case .attribute(let name, nil):
            return source.column(forAttribute: name, in: contribution.source).map { "s.\(name: $0)" }
        case .expression where contribution.values.functions.allSatisfy({ $0.attribute.name != attribute.name }):
            guard let value = contribution.values.values[attribute.name]?.sql else { return nil }
            // Values that cannot be converted are counted separately.
            return contribution.values.failures[attribute.name].map { "CASE WHEN \($0) THEN 0 ELSE \(value) END" }
                ?? value
        default: return nil
        }
    }

    /// Returns findings for values without an equal value in the attribute's type.
    private func unconvertedValues(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for (name, condition) in contribution.values.failures.sorted(by: { $0.key < $1.key }) {
                guard contribution.values.functions.allSatisfy({ $0.attribute.name != name }),
                    let attribute = destination.model.attribute(name, of: contribution.destination),
                    let count = try count(contribution, condition, connection), count > 0
                else { continue }
                let place = "\(contribution.destination.name).\(name)"
                let fate =
                    attribute.defaultValue.map { "\(count == 1 ? "becomes" : "become") \($0.text)" } ?? "would be lost"
                findings.append(
                    Finding(
                        code: "values-not-converted", severity: attribute.defaultValue == nil ? .error : .warning,
                        place: place,
                        message:
                            "\(Quantity.count(count, "value for \(place) has", plural: "values for \(place) have")) no equal of type "
                            + "\(attribute.type.name) and \(fate).",
                        remedy: "Say in the expression what becomes of them, or give \(name) a default value."))
            }
        }
        return findings
    }

    /// Returns findings for whole numbers that a column of reals cannot store exactly. They are larger than an integer
    /// attribute that becomes a Float or Double may be, but SQLite does not enforce this. Values that an expression
    /// converts are counted separately.
    private func inexactNumbers(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            let (old, new) = (source.table(for: contribution.source), destination.table(for: contribution.destination))
            for attribute in destination.model.leaves(of: contribution.destination) {
                guard contribution.values.failures[attribute.name] == nil,
                    let name = carried(contribution.mapping.attributes[attribute.name]),
                    let from = source.column(forAttribute: name, in: contribution.source),
                    let to = destination.column(forAttribute: attribute.name, in: contribution.destination),
                    let types = old?.types[from].flatMap({ from in new?.types[to].map { (from, $0) } }),
                    ColumnAffinity(declaredType: types.0) != .real, ColumnAffinity(declaredType: types.1) == .real
                else { continue }
                let value: SQLText = "s.\(name: from)"
                let isInexact: SQLText = """
                    typeof(\(value)) = 'integer' AND \(value) NOT BETWEEN -9007199254740992 AND 9007199254740992 \
                    AND CAST(\(value) AS REAL) <> \(value)
                    """
                guard let count = try count(contribution, isInexact, connection), count > 0 else { continue }
                let place = "\(contribution.destination.name).\(attribute.name)"
                findings.append(
                    Finding(
                        code: "values-not-exact", severity: .error, place: place,
                        message: Quantity.count(
                            count, "value of \(place) is a whole number that a",
                            plural: "values of \(place) are whole numbers that a")
                            + " \(attribute.type.name) does not hold to the last digit.",
                        remedy: "Set \(count == 1 ? "it" : "them") to numbers of the old type before migrating."))
            }
        }
        return findings
    }

    /// Returns the attribute whose values are taken unchanged. In an undo, this includes implicit conversions.
    private func carried(_ attribute: AttributeSource?) -> String? {
        switch attribute {
        case .attribute(let name, _)?: name
        case .expression(.keyPath(let name, of: .variable("source")))? where mapping.isWayBack: name
        default: nil
        }
    }

    private func missingDestinations(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for relationship in destination.model.relationships(of: contribution.destination) {
                guard !relationship.isOptional, !relationship.isToMany else { continue }
                let links = links(relationship.name, of: contribution)
                let place = "\(contribution.destination.name).\(relationship.name)"
                guard !links.isEmpty else {
                    if mapping.isWayBack,
                        contribution.mapping.relationships[relationship.name] == .empty,
                        let count = try count(contribution, "1", connection), count > 0
                    {
                        findings.append(required(place, count, wasRequired: false, isRelationship: true))
                    }
                    continue
                }
                let had = links.map(Self.hasDestination).conditions(joinedBy: "OR")
                if let count = try count(contribution, "NOT (\(had))", connection), count > 0 {
                    var wasRequired = false
                    if case .relationship(let name)? = contribution.mapping.relationships[relationship.name],
                        let old = source.model.relationship(name, of: contribution.source)
                    {
                        // A required to-many may be empty.
                        wasRequired = !old.isOptional && !old.isToMany
                    }
                    findings.append(required(place, count, wasRequired: wasRequired, isRelationship: true))
                }
                guard links.contains(where: { mayLoseDestination($0, as: relationship, of: contribution) })
                else { continue }
                let keeps = links.map { links -> SQLText in
                    "s.Z_PK IN (SELECT o FROM (\(keptPairs(links, as: relationship, of: contribution, contributions))))"
                }.conditions(joinedBy: "OR")
                guard let count = try count(contribution, "(\(had)) AND NOT (\(keeps))", connection), count > 0
                else { continue }
                let isNarrowed = links.contains { self.isNarrowed($0, as: relationship, of: contribution) }
                findings.append(lost(place, count, relationship, isNarrowed: isNarrowed))
            }
        }
        return findings
    }

    /// Returns a condition that holds if a row `s` has a destination in the store.
    private static func hasDestination(_ links: Links) -> SQLText {
        let pairs = links.pairs
        if pairs.row == .owner { return "s.\(name: pairs.destinationColumn) IS NOT NULL" }
        return """
            s.Z_PK IN (SELECT p.\(name: pairs.ownerColumn) FROM \(pairs.rows(in: "main")) AS p \
            WHERE p.\(name: pairs.ownerColumn) IS NOT NULL AND p.\(name: pairs.destinationColumn) IS NOT NULL)
            """
    }

    /// Returns the finding for objects whose required destination is assigned to another object, or removed.
    private func lost(
        _ place: String, _ count: Int64, _ relationship: RelationshipDescription, isNarrowed: Bool
    ) -> Finding {
        let inverse = relationship.inverseName.map { "\(relationship.destinationEntityName).\($0)" } ?? "its inverse"
        return Finding(
            code: "required-missing", severity: .error, place: place,
            message: "\(Quantity.count(count, "object loses its", plural: "objects lose their")) \(place), which is "
                + "required: "
                + (isNarrowed ? "\(inverse) keeps one destination." : "what it leads to is not carried over."),
            remedy: "Make \(place) optional, or change or delete \(count == 1 ? "this object" : "these objects") "
                + "before migrating.")
    }

    /// Returns the finding for missing required values. If the value was required before, it is an old fault that the
    /// migration does not worsen.
    private func required(_ place: String, _ count: Int64, wasRequired: Bool, isRelationship: Bool = false) -> Finding {
        Finding(
            code: "required-missing", severity: wasRequired ? .warning : .error, place: place,
            message: "\(Quantity.count(count, "object has", plural: "objects have")) no \(place), which "
                + (wasRequired ? "was required already." : "becomes required."),
            remedy: wasRequired
                ? ""
                : isRelationship
                    ? "Make \(place) optional, or set it before migrating, \(Self.before)."
                    : "Give the attribute a default value, or fill it before migrating, \(Self.before).")
    }

    /// The places of code that can change rows before they are migrated.
    private static let before = "in the app or in the willMigrate of a custom stage"

    /// Returns findings for objects that share a value that must be unique in the new version.
    private func repeatedValues(_ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for entity in destination.model.entities {
            for constraint in entity.uniquenessConstraints {
                guard let (table, columns, numbers) = sourceColumns(of: constraint, entity) else { continue }
                let names = columns.map(\.quotedName).joined(separator: ", ")
                let present = columns.map { "\($0.quotedName) IS NOT NULL" }.conditions(joinedBy: "AND")
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
                        message: Quantity.count(
                            groups, "value of \(place), which becomes unique, occurs",
                            plural: "values of \(place), which becomes unique, occur") + " more than once.",
                        remedy: "Merge the objects that share a value before migrating, \(Self.before)."))
            }
        }
        return findings
    }

    private func sourceColumns(
        of constraint: [String], _ entity: EntityDescription
    ) -> (table: String, columns: [String], numbers: [Int])? {
        let members = contributions(to: entity)
        guard let first = members.first, let table = source.table(for: first.source)?.name,
            members.allSatisfy({ source.table(for: $0.source)?.name == table && $0.values.condition == nil })
        else { return nil }
        let columns = constraint.compactMap { name -> String? in
            if case .attribute(let old, _)? = first.mapping.attributes[name] {
                return source.column(forAttribute: old, in: first.source)
            }
            return links(name, of: first).first.flatMap { $0.pairs.row == .owner ? $0.pairs.destinationColumn : nil }
        }
        guard columns.count == constraint.count else { return nil }
        return (table, columns, members.map(\.sourceNumber))
    }

    func links(_ name: String, of contribution: RowSource) -> [Links] {
        destination.model.declaringEntity(of: name, in: contribution.destination).map {
            links($0.name, name, of: contribution)
        } ?? []
    }

    /// Returns how many of the rows `s` that a contribution takes meet a condition.
    func count(_ contribution: RowSource, _ condition: SQLText, _ connection: Connection) throws -> Int64? {
        guard let table = source.table(for: contribution.source)?.name else { return nil }
        let taken: SQLText = contribution.values.condition.map { " AND (\($0))" } ?? ""
        return try connection.integer(
            """
            SELECT count(*) FROM main.\(table: table) AS s \
            WHERE s.Z_ENT = \(contribution.sourceNumber)\(taken) AND (\(condition))
            """)
    }
}
