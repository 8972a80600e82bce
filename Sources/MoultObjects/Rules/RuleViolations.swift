import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A search for the objects that break a rule, one after another by key; memory does not grow with their number.
///
/// All rules except code run as SQL. Only tables in the connection's own temporary schema are changed.
struct RuleViolations {
    let store: ObjectStore

    /// Compiles the statement of a rule, so that a predicate that the store cannot evaluate is refused before any row
    /// is read.
    ///
    /// - Throws: `fetchUnsupported`, `invalidPredicate`.
    func compile(_ rule: ValidationRule) throws {
        guard let sql = try statement(rule) else { return }
        try store.withConnection { try $0.prepare(sql.text).finalise() }
        if let columns = detailColumns(rule) { _ = try store.fetchRows(columns.limited(to: 0)) }
    }

    /// Calls `body` for each object that breaks the rule. `body` must not write what the rule reads.
    func forEachObject(
        breaking rule: ValidationRule, onlyFirstOfCycle: Bool = false, _ body: (ObjectID) throws -> Void
    ) throws {
        if case .code(let isRight) = rule.kind { return try forEachObject(failing: isRight, rule, body) }
        if case .noCycle(let relationship) = rule.kind {
            let numbers = try numbers(of: rule.entityName)
            return try RuleCycles(store, rule, relationship).forEachMember(onlyFirst: onlyFirstOfCycle) { row in
                if numbers.contains(Int(clamping: row.number)) { try body(id(row.key, row.number)) }
            }
        }
        guard let sql = try statement(rule) else { return }
        try store.withConnection { connection in
            try connection.forEachRow(sql.text, sql.values) { try body(id($0.integer(0), $0.integer(1))) }
        }
    }

    /// Returns the number of missing objects for a rule about a minimum; nil for any other rule.
    ///
    /// - Parameter source: returns the number of objects of an entity in the source; nil if there is no source.
    func missing(_ rule: ValidationRule, source: ((String) throws -> Int)?) throws -> Int64? {
        let least: Int
        switch rule.kind {
        case .minimumCount(let count): least = count
        case .minimumOfSource(let minimum):
            guard let source else { return 0 }
            least = minimum.least(of: try source(minimum.sourceEntityName ?? rule.entityName))
        default: return nil
        }
        return Int64(max(least - (try store.count(ObjectFetch(entityName: rule.entityName))), 0))
    }

    // MARK: - SQL

    /// Returns a statement that selects the key and entity number of every object that breaks the rule; nil if there is
    /// none.
    private func statement(_ rule: ValidationRule) throws -> SQLText? {
        switch rule.kind {
        case .predicate(let predicate): return try select(rule, .not(predicate))
        case .count(let attribute, let expression):
            return try select(rule, .not(.comparison(.init(.keyPath(attribute), .equal, expression))))
        case .orphan(let relationship): return try orphans(rule, relationship)
        case .unique(let names): return try repeated(rule, names)
        case .minimumCount, .minimumOfSource, .noCycle, .code: return nil
        }
    }

    private func select(_ rule: ValidationRule, _ predicate: Predicate) throws -> SQLText {
        let fetch = ObjectFetch(entityName: rule.entityName, predicate: predicate)
        let lowering = try FetchLowering(
            fetch, layout: store.layout, store: store.identifier, now: store.system.now.sinceReferenceDate)
        return try lowering.select("\(name: FetchLowering.alias).Z_PK, \(name: FetchLowering.alias).Z_ENT")
    }

    /// Returns a statement that selects orphans. A key that leads to no row counts as no destination.
    private func orphans(_ rule: ValidationRule, _ relationship: String) throws -> SQLText {
        let entity = try entity(rule.entityName)
        guard let description = store.model.relationship(relationship, of: entity),
            let destination = store.model.entity(description.destinationEntityName),
            let there = store.layout.table(for: destination),
            case .foreignKey(let table, let column, _)? = store.layout.storage(ofRelationship: relationship, in: entity)
        else {
            let count = Expression.function("count:", [.keyPath(relationship)])
            return try select(rule, .comparison(.init(count, .equal, .constant(.integer(0)))))
        }
        return Consistency(store.layout).leadingNowhere(
            table, column, numbers: try numbers(of: entity.name), to: destination, in: there.name, isGiven: false,
            selecting: "r.Z_PK, r.Z_ENT")
    }

    /// Returns a statement that selects all objects with the same unique key except the first.
    private func repeated(_ rule: ValidationRule, _ names: [String]) throws -> SQLText {
        let entity = try entity(rule.entityName)
        guard let table = store.layout.table(for: entity) else { throw store.noTable(entity.name) }
        let columns = try names.map { name in
            guard let column = store.layout.column(forProperty: name, in: entity) else {
                throw store.noTable("\(entity.name).\(name)")
            }
            return column
        }
        return Consistency(store.layout).repeated(columns, of: entity, in: table, selecting: "Z_PK, Z_ENT")
    }

    // MARK: - Code

    private func forEachObject(
        failing isRight: (RuleObject) throws -> Bool, _ rule: ValidationRule, _ body: (ObjectID) throws -> Void
    ) throws {
        try store.forEachSnapshot(ObjectFetch(entityName: rule.entityName)) { snapshot in
            let passes: Bool
            do {
                passes = try isRight(RuleObject(snapshot: snapshot, store: store))
            } catch {
                throw MigrationError(
                    .migrationFailed, "The code of the rule \(rule.name) failed at \(snapshot.id).",
                    place: snapshot.id.description, remedy: "Correct the rule. The store is unchanged.",
                    cause: "\(error)")
            }
            if !passes { try body(snapshot.id) }
        }
    }

    // MARK: - Details

    /// Returns a description of the error in each object, from the values that the rule compares.
    func details(_ rule: ValidationRule, of ids: [ObjectID]) throws -> [ObjectID: String] {
        if case .noCycle(let relationship) = rule.kind {
            let cycles = try RuleCycles(store, rule, relationship)
            return Dictionary(try ids.map { ($0, try cycles.chain(from: $0.key)) }) { first, _ in first }
        }
        guard !ids.isEmpty, var fetch = detailColumns(rule) else { return [:] }
        fetch.predicate = .comparison(
            .init(.evaluatedObject, .in, .aggregate(ids.map { .constant(.object($0)) })))
        var details: [ObjectID: String] = [:]
        for row in try store.fetchRows(fetch) {
            guard case .object(let id)? = row[Self.objectColumn] else { continue }
            details[id] = fetch.columns.dropFirst().map { column in
                "\(column.name) = \((row[column.name] ?? .null).literal.format)"
            }.joined(separator: ", ")
        }
        return details
    }

    private static let objectColumn = "SELF"

    private func detailColumns(_ rule: ValidationRule) -> ObjectFetch? {
        guard let entity = store.model.entity(rule.entityName) else { return nil }
        let expressions: [Expression]
        switch rule.kind {
        case .predicate(let predicate):
            let names = predicate.keyPaths.inByteOrder()
            expressions = names.filter { isPlain($0, of: entity) }.map { .keyPath($0) }
        case .count(let attribute, let expression): expressions = [.keyPath(attribute), expression]
        case .unique(let names): expressions = names.map { .keyPath($0) }
        case .orphan, .minimumCount, .minimumOfSource, .noCycle, .code: return nil
        }
        var fetch = ObjectFetch(entityName: rule.entityName)
        fetch.columns = [.init(Self.objectColumn, .evaluatedObject)] + expressions.map { .init($0.format, $0) }
        return fetch
    }

    /// Whether a key path is a printable attribute or to-one relationship of the object itself.
    private func isPlain(_ path: String, of entity: EntityDescription) -> Bool {
        if let attribute = store.model.attribute(path, of: entity) {
            return attribute.isStored && ![.transformable, .composite, .binary, .objectID].contains(attribute.type)
        }
        return store.model.relationship(path, of: entity).map { !$0.isToMany && !$0.isTransient } ?? false
    }

    // MARK: - Entities

    private func entity(_ name: String) throws -> EntityDescription {
        guard let entity = store.model.entity(name) else { throw store.noTable(name) }
        return entity
    }

    private func numbers(of entityName: String) throws -> [Int] {
        store.layout.numbers(ofEntityAndDescendants: try entity(entityName))
    }

    private func id(_ key: Int64, _ number: Int64) throws -> ObjectID {
        guard let name = store.layout.entityName(number: Int(clamping: number)) else {
            throw store.noTable("\(number)")
        }
        return store.id(name, key: key)
    }
}

extension ObjectFetch {
    /// Returns the same fetch, limited to this number of objects; 0 finds none.
    fileprivate func limited(to count: Int) -> ObjectFetch {
        var fetch = self
        fetch.limit = max(count, 1)
        if count == 0 { fetch.predicate = .constant(false) }
        return fetch
    }
}

extension ObjectStore {
    func noTable(_ place: String) -> MigrationError {
        MigrationError(
            .usage, "The store has nothing named \(place).", place: place,
            remedy: "Use the model of the store's version, and rules for that version.")
    }
}
