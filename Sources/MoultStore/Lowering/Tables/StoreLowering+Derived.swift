import MoultBasics
import MoultModel
import MoultSQLite

extension StoreLowering {
    /// Returns the statements that compute the derived attributes whose stored values are not kept.
    ///
    /// - Parameter isUndoing: whether tables that were set aside are restored, with values of that time.
    package func derivedUpdates(isUndoing: Bool = false) -> [StoreScript.Statement] {
        computedAttributes(isUndoing: isUndoing).compactMap { entity, attribute in update(attribute, in: entity) }
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
        for (entity, attribute) in computedAttributes() where hasObjects(entity) {
            guard let table = destination.table(for: entity)?.name, update(attribute, in: entity) != nil else {
                continue
            }
            sentences[table, default: []].append(
                "\(entity.name).\(attribute.name) is computed from \(attribute.derivation?.expression ?? "").")
        }
        return sentences
    }

    /// Returns findings on the derived attributes that no statement can compute: existing rows get no value.
    func uncomputedValues() -> [Finding] {
        computedAttributes().compactMap { entity, attribute in
            guard hasObjects(entity), let derivation = attribute.derivation, update(attribute, in: entity) == nil
            else { return nil }
            let count = rows(of: ([entity] + destination.model.descendants(of: entity)).map(\.name))
            return Finding(
                code: "derived-not-computed", severity: .warning, place: "\(entity.name).\(attribute.name)",
                message: Quantity.count(
                    count, "object of \(entity.name) gets", plural: "objects of \(entity.name) get")
                    + " no value for \(attribute.name): \(derivation.expression) cannot be computed in a migration.",
                remedy: "Core Data computes the value when an object is next saved. Save the objects once in the app.")
        }
    }

    /// The derived attributes whose stored values are not kept, each after the derived attributes that it reads.
    private func computedAttributes(isUndoing: Bool = false) -> [(EntityDescription, AttributeDescription)] {
        destination.model.entities.flatMap { entity in
            entity.attributes.filter { attribute in
                attribute.isStored && attribute.derivation != nil
                    && (isUndoing && contributions(to: entity).isEmpty
                        ? readsProperties(attribute, in: entity) : !isCarried(attribute, in: entity))
            }.map { (depth: depth(of: $0, in: entity), (entity, $0)) }
        }.sorted { $0.depth < $1.depth }.map(\.1)
    }

    private func hasObjects(_ entity: EntityDescription) -> Bool {
        contributions(to: entity).contains { rows(of: [$0.source.name]) > 0 }
    }

    /// Returns the stored value of a derived attribute if it is kept, or if ``derivedUpdates()`` replaces it.
    func derivedValue(_ attribute: AttributeDescription, _ contribution: RowSource) -> ColumnSource {
        guard let old = source.model.attribute(attribute.name, of: contribution.source),
            old.derivation == attribute.derivation,
            let column = source.column(forAttribute: attribute.name, in: contribution.source),
            isCarried(attribute, in: contribution.destination)
                || update(attribute, in: contribution.destination) != nil
        else { return .null }
        return .column(column)
    }

    private func update(_ attribute: AttributeDescription, in entity: EntityDescription) -> StoreScript.Statement? {
        guard let derivation = attribute.derivation, let table = destination.table(for: entity),
            let column = destination.column(forAttribute: attribute.name, in: entity),
            let value = destination.value(of: derivation, for: attribute, in: entity)
        else { return nil }
        let numbers = destination.numbers(ofEntityAndDescendants: entity)
        return .init(
            .update, table.name,
            text: """
                UPDATE main.\(name: table.name) AS t SET \(name: column) = \(value) WHERE t.Z_ENT IN (\(list: numbers))
                """,
            "Compute \(entity.name).\(attribute.name) from \(derivation.expression).",
            rows: .counted(rows(of: [entity.name])))
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
