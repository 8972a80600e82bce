import MoultBasics
import MoultModel
import MoultSQLite

extension FormatLowering {
    package func lower(_ expression: Expression) throws -> Lowered {
        switch expression {
        case .constant(let value): return .constant(value)
        case .evaluatedObject: return .object(evaluated)
        case .variable(let name):
            if let value = variables[name] { return value }
            throw MigrationError(
                .invalidPredicate, "The variable $\(name) has no value.", place: format,
                remedy: "Give it one, or correct its name.")
        case .keyPath(let path, let base): return try lower(path, of: try lower(base))
        case .function(let selector, let arguments): return try call(selector, arguments, in: expression)
        case .message(let selector, .variable("entityPolicy"), let arguments):
            return try transform(selector, arguments, in: expression)
        case .message(Expression.ofEntities, let target, let arguments):
            return try object(try lower(target), ofEntities: arguments, in: expression)
        case .message(let selector, let target, let arguments):
            guard ["valueForKey:", "valueForKeyPath:"].contains(selector), arguments.count == 1,
                case .constant(.string(let path)) = arguments[0]
            else { throw refuse(expression.format, "\(selector) is not a function of the store") }
            return try lower(path, of: try lower(target))
        case .aggregate(let elements):
            let lowered = try elements.map(lower)
            let constants = lowered.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return constants.count == lowered.count ? .constant(.collection(constants)) : .elements(lowered)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(try lower(collection), variable, predicate, in: expression)
        case .conditional(let predicate, let first, let second):
            return try conditional(try lower(predicate), try lower(first), try lower(second), in: expression)
        }
    }

    private func subquery(
        _ collection: Lowered, _ variable: String, _ predicate: Predicate, in expression: Expression
    ) throws -> Lowered {
        if case .constant(let value) = collection, value.isNull { return .constant(.collection([])) }
        guard case .collection(var collection) = collection else {
            throw refuse(expression.format, "SUBQUERY needs a to-many relationship")
        }
        var inner = self
        inner.variables[variable] = collection.element
        collection.conditions.append(try inner.lower(predicate).sql)
        return .collection(collection)
    }

    /// Restricts a row to the given entities. The first one is an ancestor of the others.
    private func object(_ base: Lowered, ofEntities arguments: [Expression], in expression: Expression) throws
        -> Lowered
    {
        if case .constant(let value) = base, value.isNull { return base }
        guard case .object(let row) = base, case .constant(let list)? = arguments.first,
            let entity = list.elements.first?.text.flatMap(model.entity), let alias = row.alias(in: layout)
        else { throw refuse(expression.format, "it needs an object and the names of its entities") }
        let numbers = list.elements.compactMap {
            $0.text.flatMap { layout.entityNumbers[$0] }.map { "\($0)" as SQLText }
        }
        let key: SQLText = """
            (CASE WHEN \(name: alias).Z_ENT IN (\(numbers.joined(separator: ", "))) THEN \(row.key) END)
            """
        return .object(RowReference(row.scope, entity, foreignKey: key))
    }

    private func conditional(
        _ condition: LoweredCondition, _ first: Lowered, _ second: Lowered, in expression: Expression
    ) throws -> Lowered {
        if let row = try chosenRow(condition, first, second) { return .object(row) }
        let (first, second) = (try single(first, in: expression), try single(second, in: expression))
        let kind = first.kind == .null ? second.kind : first.kind
        let isAlike = second.kind == kind || second.kind == .null
        // An integer and a real combine into a number; a decimal or a date would lose its kind next to another one.
        let plain: Set<ValueKind> = [.integer, .boolean, .real, .number]
        guard isAlike || plain.isSuperset(of: [first.kind, second.kind]) else {
            throw refuse(expression.format, "its two values are of different kinds")
        }
        func choice(_ first: SQLText, _ second: SQLText) -> SQLText {
            "(CASE WHEN \(condition.sql) THEN \(first) ELSE \(second) END)"
        }
        let isExact = first.exact != nil || second.exact != nil
        return .value(
            LoweredValue(
                sql: choice(first.sql, second.sql), kind: isAlike ? kind : .number,
                exact: isExact ? choice(first.exact ?? first.sql, second.exact ?? second.sql) : nil))
    }

    /// Returns the row chosen by a condition between two objects of one entity tree; nil if they are not such objects.
    private func chosenRow(_ condition: LoweredCondition, _ first: Lowered, _ second: Lowered) throws -> RowReference? {
        func key(_ lowered: Lowered, like row: RowReference) -> SQLText? {
            switch lowered {
            case .object(let other) where model.root(of: other.entity).name == model.root(of: row.entity).name:
                other.key
            case .constant(let value) where value.isNull: "NULL"
            default: nil
            }
        }
        guard let row = first.row ?? second.row, let one = key(first, like: row), let other = key(second, like: row)
        else { return nil }
        // Of two entities, the upper one has the properties of both.
        let entities = [first.row, second.row].compactMap(\.?.entity)
        let upper = entities.min { model.lineage(of: $0).count < model.lineage(of: $1).count } ?? row.entity
        return RowReference(row.scope, upper, foreignKey: "(CASE WHEN \(condition.sql) THEN \(one) ELSE \(other) END)")
    }

    /// Returns a lowered expression as a single value, which must not be an object.
    package func single(_ lowered: Lowered, in expression: Expression) throws -> LoweredValue {
        switch lowered {
        case .value(let value) where value.kind != .opaque: return value
        case .constant(let constant):
            if let stored = constant.stored {
                var value = LoweredValue(sql: "\(value: stored.value)", kind: stored.kind, mayBeNull: constant.isNull)
                // Arithmetic starts with every written digit, even if no number can hold them all.
                if case .decimal(let digits) = constant, DecimalStorage.equal(to: digits) == nil {
                    value.exact = "\(value: .text(digits))"
                }
                return value
            }
        case .value, .object, .collection, .composite, .elements: break
        }
        throw refuse(expression.format, "it needs a value that the store can calculate with")
    }

    /// Lowers a key path that starts at `base`.
    func lower(_ path: String, of base: Lowered) throws -> Lowered {
        if case .object(let row) = base, row.key == evaluated.key, let column = columns[path] { return column }
        var result = base
        var keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        while let key = keys.popFirst() {
            if key.hasPrefix("@") { return try collect(key, keys.joined(separator: "."), of: result, path: path) }
            if key.lowercased() == "self" { continue }
            // The only property of an entity is its name: `entity.name`.
            if key == "entity", keys.first == "name" { keys.removeFirst() }
            result = try step(key, from: result, path: path)
        }
        return result
    }

    private func step(
        _ key: String, from base: Lowered, within collection: LoweredCollection? = nil, path: String
    ) throws -> Lowered {
        switch base {
        case .object(let row): return try property(key, of: row, within: collection, path: path)
        case .composite(let row, let attribute, let prefix):
            return try element(key, of: attribute, "\(prefix).\(key)", row, path: path)
        case .collection(let collection):
            // An element without a destination yields nil.
            var result = collection
            result.element = try step(key, from: collection.element, within: collection, path: path)
            if case .collection = result.element { return result.element }
            return .collection(result)
        case .constant(.null): return base
        case .constant(.object(let id)):
            guard let entity = model.entity(id.entityName), let number = self.key(of: id, in: entity) else {
                throw refuse(path, "\(id) is not an object of this store")
            }
            let row = RowReference(evaluated.scope, entity, foreignKey: "\(value: .integer(number))")
            return try property(key, of: row, within: nil, path: path)
        case .constant, .value, .elements: throw refuse(path, "\(key) is a property of a value that is not an object")
        }
    }

    // MARK: - Properties

    private func property(
        _ key: String, of row: RowReference, within collection: LoweredCollection?, path: String
    ) throws -> Lowered {
        if key == "objectID" { return .object(row) }
        if key == "entity" { return try entity(of: row, path: path) }
        if let relationship = model.relationship(key, of: row.entity) {
            return try self.relationship(relationship, of: row, within: collection, path: path)
        }
        if let attribute = model.attribute(key, of: row.entity) {
            return try element(nil, of: attribute, key, row, path: path)
        }
        guard model.lineage(of: row.entity).contains(where: { $0.propertyNames.contains(key) }) else {
            let keys: Remedy = key == "Z_PK" ? "A key is no property: \(.query, .anyStore) chooses rows by key. " : ""
            throw MigrationError(
                .invalidPredicate, "\(row.entity.name) has no property \(key).", place: "\(row.entity.name): \(path)",
                remedy: keys + "Use one of: \(names(of: row.entity)).")
        }
        throw refuse(path, "\(key) is a fetched property, which is not stored")
    }

    private func names(of entity: EntityDescription) -> String {
        model.lineage(of: entity).flatMap(\.propertyNames).sorted().joined(separator: ", ")
    }

    /// Lowers an attribute, or the element `key` of a composite attribute, to its column.
    private func element(
        _ key: String?, of attribute: AttributeDescription, _ name: String, _ row: RowReference, path: String
    ) throws -> Lowered {
        var found = attribute
        if let key {
            guard let element = attribute.elements.first(where: { $0.name == key }) else {
                throw MigrationError(
                    .invalidPredicate, "The composite attribute \(attribute.name) has no element \(key).",
                    place: "\(row.entity.name): \(path)",
                    remedy: "Use one of: \(attribute.elements.map(\.name).joined(separator: ", ")).")
            }
            found = element
        }
        if found.isTransient { throw refuse(path, "\(name) is transient and has no column") }
        if found.type == .composite { return .composite(row, attribute: found, path: name) }
        guard let column = layout.column(forAttribute: name, in: row.entity), let alias = row.alias(in: layout) else {
            throw refuse(path, "the store has no column for \(name)")
        }
        let kind = found.allowsExternalBinaryDataStorage ? .opaque : ValueKind(found.type) ?? .opaque
        return .value(LoweredValue(sql: "\(name: alias).\(name: column)", kind: kind, attribute: found))
    }

    /// Lowers the name of the row's entity.
    private func entity(of row: RowReference, path: String) throws -> Lowered {
        guard let alias = row.alias(in: layout) else {
            throw refuse(path, "the store does not contain \(row.entity.name)")
        }
        let tree = [row.entity] + model.descendants(of: row.entity)
        let cases = tree.compactMap { entity -> SQLText? in
            layout.entityNumbers[entity.name].map { "WHEN \($0) THEN \(value: .text(entity.name))" }
        }
        return .value(
            LoweredValue(sql: "(CASE \(name: alias).Z_ENT \(cases.joined(separator: " ")) END)", kind: .string))
    }

    // MARK: - Relationships

    private func relationship(
        _ relationship: RelationshipDescription, of row: RowReference, within collection: LoweredCollection?,
        path: String
    ) throws -> Lowered {
        guard let storage = layout.storage(ofRelationship: relationship.name, in: row.entity),
            let destination = model.entity(relationship.destinationEntityName),
            let table = layout.table(for: destination)?.name
        else { throw refuse(path, "\(relationship.name) or its destination is not in this store") }
        switch storage {
        case .foreignKey(_, let column, _):
            guard let alias = row.alias(in: layout) else { throw refuse(path, "its table is not in this store") }
            return .object(RowReference(row.scope, destination, foreignKey: "\(name: alias).\(name: column)"))
        case .inverseForeignKey(_, let column, _, let order), .inverseless(_, let column, let order):
            return .collection(
                rows(of: table, column, order, row, within: collection) {
                    RowReference($0, destination, alias: $1, mayBeNull: $2)
                })
        case .joinTable(let table, let own, let other, let order, _, _):
            return .collection(
                rows(of: table, own, order, row, within: collection) { scope, alias, _ in
                    RowReference(scope, destination, foreignKey: "\(name: alias).\(name: other)")
                })
        }
    }

    /// Returns the rows of a table whose column holds the key of `row`, in a new scope or in the scope of the
    /// collection that contains `row`.
    private func rows(
        of table: String, _ column: String, _ order: String?, _ row: RowReference,
        within collection: LoweredCollection?,
        _ destination: (_ scope: QueryScope, _ alias: String, _ mayBeNull: Bool) -> RowReference
    ) -> LoweredCollection {
        let alias = aliases.make()
        let link: SQLText = "\(name: alias).\(name: column) = \(row.key)"
        let place: [SQLText] = order.map { ["\(name: alias).\(name: $0)"] } ?? []
        guard let collection else {
            let scope = QueryScope("\(aliases.table(table)) AS \(name: alias)", link: link, aliases: aliases)
            let element = destination(scope, alias, false)
            return LoweredCollection(
                scope: scope, owner: row.scope, element: .object(element), order: place + [element.key])
        }
        // A nil element yields one nil; an object without destinations yields no elements.
        collection.scope.multiply(by: table, alias: alias, on: link, keepsRows: row.mayBeNull)
        let element = destination(collection.scope, alias, row.mayBeNull)
        var result = collection
        result.element = .object(element)
        result.order += place + [element.key]
        if row.mayBeNull {
            result.conditions.append("\(row.key) IS NULL OR \(name: alias).\(name: column) IS NOT NULL")
        }
        return result
    }
}
