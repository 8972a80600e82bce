import MoultBasics
import MoultModel
import MoultSQLite

extension StoreLowering {
    /// Returns the statements that compute the derived attributes whose stored values are not kept.
    ///
    /// - Parameter isUndoing: whether tables that were set aside are restored, with values of that time. A value of that
    ///   time that cannot be computed is cleared.
    package func derivedUpdates(isUndoing: Bool = false) -> [StoreScript.Statement] {
        computedAttributes(isUndoing: isUndoing).compactMap { entity, attribute in
            update(attribute, in: entity) ?? (isUndoing ? clear(attribute, in: entity) : nil)
        }
    }

    /// The statements that compute all derived attributes for which there is one, each after those that it reads, with
    /// the places of the attributes. The times of changes are not among them.
    package var derivations: [(place: String, statement: StoreScript.Statement)] {
        derivedAttributes.filter { !$1.isTimeOfChange }.compactMap { entity, attribute in
            update(attribute, in: entity).map { ("\(entity.name).\(attribute.name)", $0) }
        }
    }

    /// Whether values are computed of a derived attribute that the source already has.
    package var replacesDerivedValues: Bool {
        computedAttributes().contains { entity, attribute in
            guard update(attribute, in: entity) != nil else { return false }
            return contributions(to: entity).contains { source.model.attribute(attribute.name, of: $0.source) != nil }
        }
    }

    /// Returns sentences on the derived attributes that are computed for existing rows, by table.
    func computedSentences() -> [String: [String]] {
        var sentences: [String: [String]] = [:]
        for (entity, attribute) in computedAttributes() where rows(of: contributions(to: entity)) > 0 {
            guard let table = destination.table(for: entity)?.name, update(attribute, in: entity) != nil else {
                continue
            }
            sentences[table, default: []].append(
                "\(entity.name).\(attribute.name) is computed from \(attribute.derivation?.expression ?? "").")
        }
        return sentences
    }

    /// Returns findings on the derived attributes that no statement can compute: existing rows get no value.
    ///
    /// - Parameters:
    ///   - isEstimated: whether rows are not counted.
    ///   - isUndoing: whether tables that were set aside are restored.
    func uncomputedValues(isEstimated: Bool = false, isUndoing: Bool = false) -> [Finding] {
        derivedAttributes.compactMap { entity, attribute in
            guard let derivation = attribute.derivation, update(attribute, in: entity) == nil else { return nil }
            let carriers = carriers(toTableOf: destination.model.root(of: entity).name).filter {
                destination.model.isKind($0.destination, of: entity)
            }
            // The triggers that run while a policy makes objects copy a value of any type.
            let count = rows(
                of: carriers.filter {
                    $0.mapping.policy == nil ? !isCarried(attribute, in: $0.destination) : !derivation.isCopy
                })
            guard count > 0 || isUndoing && carriers.isEmpty else { return nil }
            let objects =
                isEstimated
                ? "The objects of \(entity.name) get"
                : Quantity.count(count, "object of \(entity.name) gets", plural: "objects of \(entity.name) get")
            return Finding(
                code: "derived-not-computed", severity: .warning, place: "\(entity.name).\(attribute.name)",
                message: "\(objects) no value for \(attribute.name): "
                    + "\(derivation.expression) cannot be computed in a migration.",
                remedy: "Core Data computes the value when an object is next saved. Save the objects once in the app.")
        }
    }

    /// The stored derived attributes with the entities that declare them, each after the derived attributes that it
    /// reads.
    private var derivedAttributes: [(EntityDescription, AttributeDescription)] {
        destination.model.entities.flatMap { entity in
            entity.attributes.filter { $0.isStored && $0.derivation != nil }.map {
                (depth: chain(of: $0, in: entity).count, (entity, $0))
            }
        }.sorted { $0.depth < $1.depth }.map(\.1)
    }

    /// The derived attributes whose stored values are not kept.
    private func computedAttributes(isUndoing: Bool = false) -> [(EntityDescription, AttributeDescription)] {
        derivedAttributes.filter { entity, attribute in
            isUndoing && contributions(to: entity).isEmpty
                ? !attribute.isTimeOfChange : !isCarried(attribute, in: entity)
        }
    }

    /// Returns an upper bound on the number of objects that some mappings take.
    private func rows(of mappings: [RowSource]) -> Int64 { rows(of: Set(mappings.map(\.source.name)).sorted()) }

    /// Returns the stored value of a derived attribute if it is kept, or if ``derivedUpdates()`` replaces it.
    func derivedValue(_ attribute: AttributeDescription, _ contribution: RowSource) -> ColumnSource {
        guard let old = source.model.attribute(attribute.name, of: contribution.source),
            old.derivation == attribute.derivation, old.type == attribute.type,
            let column = source.column(forAttribute: attribute.name, in: contribution.source),
            isCarried(attribute, in: contribution.destination) || isComputed(attribute, in: contribution.destination)
        else { return .null }
        return .column(column)
    }

    /// Returns whether a statement computes the attribute, which an ancestor of the entity may declare.
    private func isComputed(_ attribute: AttributeDescription, in entity: EntityDescription) -> Bool {
        destination.model.declaringEntity(of: attribute.name, in: entity).map { update(attribute, in: $0) != nil }
            ?? false
    }

    /// Returns nil if SQL cannot compute the attribute, or a derived attribute that it reads and that is not kept.
    private func update(_ attribute: AttributeDescription, in entity: EntityDescription) -> StoreScript.Statement? {
        guard let derivation = attribute.derivation, let computed = value(of: attribute, in: entity),
            chain(of: attribute, in: entity).dropFirst().allSatisfy({
                value(of: $0.attribute, in: $0.entity) != nil || isCarried($0.attribute, in: $0.entity)
            })
        else { return nil }
        let sentence = "Compute \(entity.name).\(attribute.name) from \(derivation.expression)."
        return set(attribute, in: entity, to: computed, sentence)
    }

    private func clear(_ attribute: AttributeDescription, in entity: EntityDescription) -> StoreScript.Statement? {
        set(attribute, in: entity, to: "NULL", "Clear \(entity.name).\(attribute.name), which cannot be computed.")
    }

    private func set(
        _ attribute: AttributeDescription, in entity: EntityDescription, to value: SQLText, _ sentence: String
    ) -> StoreScript.Statement? {
        guard let table = destination.table(for: entity)?.name,
            let column = destination.column(forAttribute: attribute.name, in: entity)
        else { return nil }
        // A migration is no change by the app: it leaves the time of the last one.
        let limit: SQLText = attribute.isTimeOfChange ? " AND t.\(name: column) IS NULL" : ""
        return .init(
            .update, table,
            text: """
                UPDATE main.\(name: table) AS t SET \(name: column) = \(value) \
                WHERE t.Z_ENT IN (\(list: destination.numbers(ofEntityAndDescendants: entity)))\(limit)
                """, sentence, rows: .counted(rows(of: contributions(to: entity))))
    }

    /// Returns the SQL of an attribute's value for a row `t` of its table; nil if SQL cannot compute it.
    private func value(of attribute: AttributeDescription, in entity: EntityDescription) -> SQLText? {
        attribute.derivation.flatMap { destination.value(of: $0, for: attribute, in: entity) }
    }
}

extension AttributeDescription {
    /// Whether the value is the time of the object's last change: `now()`.
    fileprivate var isTimeOfChange: Bool { derivation.flatMap { DerivationShape($0.expression) } == .now }
}

extension AttributeDescription.Derivation {
    /// Whether it is the value of another attribute, as it is.
    fileprivate var isCopy: Bool {
        guard filter == nil, case .keyPath(let path, of: .evaluatedObject)? = try? Expression(parsing: expression)
        else { return false }
        return !path.contains("@")
    }
}

extension StoreLayout {
    /// Returns the SQL of a derivation for a row `t` of the entity's table, in `main`; nil if SQL cannot compute it. It
    /// may call ``FormatFunctions``.
    fileprivate func value(
        of derivation: AttributeDescription.Derivation, for attribute: AttributeDescription,
        in entity: EntityDescription
    ) -> SQLText? {
        guard derivation.filter == nil else { return nil }
        if let shape = DerivationShape(derivation.expression), let known = self.expression(for: shape, in: entity) {
            return SQLText(selectList: known)
        }
        let text = derivation.expression.withOperatorFirst
        guard let expression = try? Expression(parsing: text) else { return nil }
        let aliases = AliasCounter(schema: "main")
        let scope = QueryScope("t", link: nil, aliases: aliases)
        var format = FormatLowering(
            layout: self, store: nil, aliases: aliases, evaluated: RowReference(scope, entity, alias: "t"), now: 0,
            format: text)
        format.nowText = SQLText(selectList: Self.now)
        format.conversions = ConversionLog()
        guard let value = format.derived(expression) else { return nil }
        // A trigger of a save leaves a whole number in a column of reals to SQLite, which stores the nearest.
        let isLeftToSQLite = [.integer, .number].contains(value.kind) && [.double, .float].contains(attribute.type)
        return scope.value(isLeftToSQLite ? value.sql : ValueConversion.sql(value, as: attribute.type))
    }

    /// Seconds since 2001-01-01, which is Julian day 2451910.5.
    private static let now = "((julianday('now') - 2451910.5) * 86400.0)"

    /// Returns the SQL of a known derivation for a row `t` of the entity's table, in `main`.
    package func expression(for shape: DerivationShape, in entity: EntityDescription) -> String? {
        switch shape {
        case .now: return Self.now
        case .count(let relationship):
            switch storage(ofRelationship: relationship, in: entity) {
            case .inverseForeignKey(let table, let column, _, _), .inverseless(let table, let column, _),
                .joinTable(let table, let column, _, _, _, _):
                return "(SELECT COUNT(*) FROM main.\(table.quotedName) AS c WHERE c.\(column.quotedName) = t.Z_PK)"
            case .foreignKey, nil: return nil
            }
        case .value(let relationship, let attribute):
            guard case .foreignKey(_, let key, _)? = storage(ofRelationship: relationship, in: entity),
                let name = model.relationship(relationship, of: entity)?.destinationEntityName,
                let there = model.entity(name), let other = self.table(for: there)?.name,
                let column = self.column(forAttribute: attribute, in: there)
            else { return nil }
            return
                "(SELECT d.\(column.quotedName) FROM main.\(other.quotedName) AS d WHERE d.Z_PK = t.\(key.quotedName))"
        }
    }
}

extension FormatLowering {
    /// Lowers a derivation to one value; nil if it is not one, or SQL cannot compute it.
    fileprivate func derived(_ expression: Expression) -> LoweredValue? {
        // As SQLite's own sum, like the triggers of a save: nothing adds up to 0.
        if case .keyPath(let path, of: .evaluatedObject) = expression, path.contains(".@sum."),
            case .collection(let collection)? = try? lower(
                .keyPath(path.replacing(".@sum.", with: "."), of: .evaluatedObject)),
            case .value(let value) = collection.element, [.integer, .boolean, .real, .number].contains(value.kind)
        {
            return LoweredValue(sql: "(\(collection.select("ifnull(sum(\(value.sql)), 0)")))", kind: .number)
        }
        guard case .value(let value)? = try? lower(expression), ![.object, .opaque].contains(value.kind) else {
            return nil
        }
        return value
    }
}
