import MoultBasics
import MoultModel

/// A fetch whose result may depend on unsaved changes. It combines the results from the source with the changed
/// objects.
struct PendingChanges {
    private let fetch: ObjectFetch
    private let context: ObjectContext
    /// Changed objects of the fetched entity, in the stores of the fetch.
    private let changed: [Object]
    /// Whether a path of the fetch reaches changed objects of other entities, so that every object must be evaluated.
    private let reachesOthers: Bool
    private let values: ContextValues

    /// Returns nil if the source alone can answer the fetch.
    init?(_ fetch: ObjectFetch, in context: ObjectContext) throws {
        let coordinator = context.coordinator
        let all =
            fetch.includesPendingChanges
            ? context.changed.filter { $0.isPending && !coordinator.hasLostStore($0) } : []
        let isSpread =
            context.source.isSpread(fetch)
            && (!fetch.sort.isEmpty || fetch.limit > 0 || fetch.offset > 0)
        guard !all.isEmpty || isSpread else { return nil }
        let model = context.coordinator.model
        guard let entity = model.entity(fetch.entityName) else { throw context.coordinator.noEntity(fetch.entityName) }
        let below = fetch.includesSubentities ? model.descendants(of: entity).map(\.name) : []
        let names = Set([entity.name] + below)
        changed = try all.filter { object in
            guard names.contains(object.entityName) else { return false }
            return try fetch.stores?.contains(context.store(for: object).identifier) ?? true
        }
        let usesPaths =
            fetch.predicate?.reachesOtherObjects(from: entity, in: model) == true
            || fetch.sort.contains { $0.keyPath.contains(".") || $0.keyPath.contains("@") }
        reachesOthers = usesPaths && !all.isEmpty
        guard isSpread || reachesOthers || !changed.isEmpty else { return nil }
        self.fetch = fetch
        self.context = context
        values = ContextValues(context)
    }

    /// Returns the identities found, in order, within the fetch's offset and limit.
    func fetchIDs() throws -> [ObjectID] {
        let hidden = Set(changed.map(\.identity))
        let candidates = try context.source.fetchIDs(unlimited()).filter { !hidden.contains($0) }
        var stored = candidates
        if reachesOthers {
            try context.fill(faultsAmong: candidates.map { try context.object(with: $0) })
            stored = try candidates.filter(holds)
        }
        let fresh = try changed.filter { !$0.state.contains(.deleted) }.map(\.identity).filter(holds)
        return slice(try merged(stored, fresh))
    }

    /// Returns the fetch for the source. Its limit leaves room for the changed objects, so that no result is missing.
    private func unlimited() -> ObjectFetch {
        var wide = fetch
        wide.batchSize = 0
        wide.prefetched = []
        wide.limit = fetch.limit > 0 ? fetch.offset &+ fetch.limit &+ changed.count : 0
        wide.offset = 0
        if reachesOthers {
            wide.predicate = nil
            wide.sort = []
            wide.limit = 0
        }
        return wide
    }

    private func holds(_ id: ObjectID) throws -> Bool {
        try fetch.predicate?.holds(for: .object(id), variables: fetch.variables, in: values) ?? true
    }

    private func merged(_ stored: [ObjectID], _ fresh: [ObjectID]) throws -> [ObjectID] {
        let order = try SortOrder(fetch.sort, values)
        let isOrdered = !reachesOthers && !context.source.isSpread(fetch)
        guard isOrdered else { return try order.sorted(stored + fresh) }
        var (result, rest) = ([ObjectID](), stored[...])
        result.reserveCapacity(stored.count + fresh.count)
        for id in try order.sorted(fresh) {
            let place = try order.place(of: id, in: rest)
            result += rest[..<place]
            result.append(id)
            rest = rest[place...]
        }
        return result + rest
    }

    private func slice(_ ids: [ObjectID]) -> [ObjectID] {
        guard fetch.offset > 0 || fetch.limit > 0 else { return ids }
        let rest = ids.dropFirst(max(fetch.offset, 0))
        return Array(fetch.limit > 0 ? rest.prefix(fetch.limit) : rest)
    }
}

/// The order of a fetch: by its sort terms, then by key, with new objects last.
private struct SortOrder {
    private let terms: [ObjectFetch.SortTerm]
    private let paths: [Expression]
    private let values: ContextValues

    init(_ terms: [ObjectFetch.SortTerm], _ values: ContextValues) throws {
        self.terms = terms
        self.values = values
        paths = try terms.map { try Expression(parsing: $0.keyPath) }
    }

    private struct Keyed {
        let id: ObjectID
        let keys: [ExpressionValue]
    }

    private func keyed(_ id: ObjectID) throws -> Keyed {
        Keyed(id: id, keys: try paths.map { try $0.value(for: .object(id), variables: [:], in: values) })
    }

    func sorted(_ ids: [ObjectID]) throws -> [ObjectID] { try ids.map(keyed).sorted { precedes($0, $1) }.map(\.id) }

    /// Returns the index at which to insert an identity into a sorted list.
    func place(of id: ObjectID, in ids: ArraySlice<ObjectID>) throws -> Int {
        let new = try keyed(id)
        var (low, high) = (ids.startIndex, ids.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if precedes(new, try keyed(ids[middle])) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func precedes(_ left: Keyed, _ right: Keyed) -> Bool {
        for (term, (one, other)) in zip(terms, zip(left.keys, right.keys)) {
            switch ExpressionValue.ordering(one, other, term.options) {
            case .orderedSame: continue
            case .orderedAscending: return term.isAscending
            case .orderedDescending: return !term.isAscending
            }
        }
        if left.id.isTemporary != right.id.isTemporary { return right.id.isTemporary }
        return left.id.key < right.id.key
    }
}

extension Predicate {
    /// Whether the predicate follows a relationship, so that its result for an object may depend on other objects.
    func reachesOtherObjects(from entity: EntityDescription, in model: ManagedObjectModel) -> Bool {
        let entities = [entity] + model.descendants(of: entity)
        let relationships = Set(entities.flatMap { model.relationships(of: $0) }.map(\.name))
        return uses { path in
            let first = path.split(separator: ".").first.map(String.init) ?? path
            return path.contains(".") && relationships.contains(first) || path.contains("@")
        }
    }

    fileprivate func uses(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.uses(isWanted) || comparison.right.uses(isWanted)
        case .and(let parts), .or(let parts): parts.contains { $0.uses(isWanted) }
        case .not(let part): part.uses(isWanted)
        }
    }
}

extension Expression {
    fileprivate func uses(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .constant, .evaluatedObject, .variable: false
        case .keyPath(let path, of: .evaluatedObject): isWanted(path)
        // A path from anywhere else starts at an object or a value already reached through a relationship.
        case .keyPath: true
        case .function(_, let arguments): arguments.contains { $0.uses(isWanted) }
        case .message(_, let target, let arguments): ([target] + arguments).contains { $0.uses(isWanted) }
        case .aggregate(let parts): parts.contains { $0.uses(isWanted) }
        case .subquery: true
        case .conditional(let condition, let one, let other):
            condition.uses(isWanted) || one.uses(isWanted) || other.uses(isWanted)
        }
    }
}

/// The values of the context's objects, unsaved changes included, for predicates and sort terms.
struct ContextValues: ObjectValues {
    let context: ObjectContext
    let now: Double

    init(_ context: ObjectContext) {
        self.context = context
        now = POSIXSystem().now.sinceReferenceDate
    }

    func isComposite(_ key: String, of id: ObjectID) -> Bool {
        (try? context.object(with: id))?.shape.isComposite(key) ?? false
    }

    /// Returns a value of an object; null if its row is gone, as in a join.
    func value(_ key: String, of id: ObjectID) throws -> ExpressionValue {
        let object = try context.object(with: id)
        guard let position = object.shape.position(of: key) else {
            if key == "self" || key == "SELF" { return .object(id) }
            // A path may go through a property that only some entities of the hierarchy have.
            if context.coordinator.model.hasProperty(key, inTreeOf: object.shape.entity) { return .null }
            throw MigrationError(
                .unknownKey, "\(object.entityName) has no property \(key).", place: "\(object.entityName).\(key)",
                remedy: "Use one of: \(object.shape.properties.map(\.name).joined(separator: ", ")).")
        }
        do {
            guard let link = object.kind.links[position] else {
                return ExpressionValue(try object.value(at: position))
            }
            object.kind.noteReading(position)
            if link.isToMany { return .collection(try object.list(link).map(ExpressionValue.object)) }
            return try object.destination(link).map(ExpressionValue.object) ?? .null
        } catch let error as MigrationError where error.code == .objectGone {
            return .null
        }
    }
}

extension ManagedObjectModel {
    fileprivate func hasProperty(_ name: String, inTreeOf entity: EntityDescription) -> Bool {
        let root = root(of: entity)
        return ([root] + descendants(of: root)).contains { $0.propertyNames.contains(name) }
    }
}

extension ObjectContext {
    /// Returns the value of an expression for an object of the context, unsaved changes included.
    package func value(
        of expression: Expression, for object: Object, variables: [String: ExpressionValue] = [:]
    ) throws -> ExpressionValue {
        try lock.withLock {
            try expression.value(for: .object(object.identity), variables: variables, in: ContextValues(self))
        }
    }

    /// Whether a predicate holds for an object of the context, unsaved changes included.
    package func holds(
        _ predicate: Predicate, variables: [String: ExpressionValue] = [:], for object: Object
    ) throws -> Bool {
        try lock.withLock {
            try predicate.holds(for: .object(object.identity), variables: variables, in: ContextValues(self))
        }
    }
}
