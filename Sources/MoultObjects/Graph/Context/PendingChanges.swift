import MoultModel

/// A fetch whose answer the context's unsaved changes may alter: what the store finds is put together with them.
struct PendingChanges {
    private let fetch: ObjectFetch
    private let context: ObjectContext
    /// Changed objects of the fetched entity.
    private let changed: [Object]
    /// Whether a path of the fetch leads to changed objects of other entities, so that every object has to be asked.
    private let reachesOthers: Bool
    private let values: ContextValues

    /// Nil if the source alone knows the answer.
    init?(_ fetch: ObjectFetch, in context: ObjectContext) throws {
        let all = fetch.includesPendingChanges ? context.changed.filter(\.isPending) : []
        let isSpread =
            context.source.isSpread(over: fetch.entityName)
            && (!fetch.sort.isEmpty || fetch.limit > 0 || fetch.offset > 0)
        guard !all.isEmpty || isSpread else { return nil }
        let model = context.coordinator.model
        guard let entity = model.entity(fetch.entityName) else { throw context.coordinator.noEntity(fetch.entityName) }
        let below = fetch.includesSubentities ? model.descendants(of: entity).map(\.name) : []
        let names = Set([entity.name] + below)
        changed = all.filter { names.contains($0.entityName) }
        let usesPaths =
            fetch.predicate?.reachesOtherObjects(from: entity, in: model) == true
            || fetch.sort.contains { $0.keyPath.contains(".") || $0.keyPath.contains("@") }
        reachesOthers = usesPaths && !all.isEmpty
        guard isSpread || reachesOthers || !changed.isEmpty else { return nil }
        self.fetch = fetch
        self.context = context
        values = ContextValues(context)
    }

    /// The identities found, in order, within the fetch's offset and limit.
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

    /// Returns the fetch to ask the source for. It finds enough objects that the changed ones cannot push the last ones
    /// out of the result.
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
        let isOrdered = !reachesOthers && !context.source.isSpread(over: fetch.entityName)
        guard isOrdered else { return try order.sorted(stored + fresh) }
        var result = stored
        for id in try order.sorted(fresh) { result.insert(id, at: try order.place(of: id, in: result)) }
        return result
    }

    private func slice(_ ids: [ObjectID]) -> [ObjectID] {
        guard fetch.offset > 0 || fetch.limit > 0 else { return ids }
        let rest = ids.dropFirst(max(fetch.offset, 0))
        return Array(fetch.limit > 0 ? rest.prefix(fetch.limit) : rest)
    }
}

/// The order of a fetch: its terms, then keys, new objects last.
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

    func sorted(_ ids: [ObjectID]) throws -> [ObjectID] {
        try ids.map(keyed).sorted { precedes($0, $1) }.map(\.id)
    }

    /// Returns the index at which an identity is to be inserted into a list that is in order.
    func place(of id: ObjectID, in ids: [ObjectID]) throws -> Int {
        let new = try keyed(id)
        var (low, high) = (0, ids.count)
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
