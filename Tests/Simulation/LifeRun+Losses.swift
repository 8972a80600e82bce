import MoultModel

/// What is reported lost is what is lost: the reference counts it by walking its own states.
extension LifeRun {
    /// What no place is left for, counted: objects by entity, and by `Entity.property` the values and links of objects
    /// that stay, and the links whose order goes. Names are those of the version before.
    struct Losses {
        var objects: [String: Int64] = [:]
        var values: [String: Int64] = [:]
        var links: [String: Int64] = [:]
        var orders: [String: Int64] = [:]

        /// The names of the properties that something is lost of; those of elements are paths.
        var properties: [String] {
            [values, links, orders].flatMap { $0.compactMap { $0.value == 0 ? nil : $0.key } }
                .map { String($0.drop { $0 != "." }.dropFirst()) }
        }
    }

    /// - Parameters:
    ///   - last: the state at the end of a way.
    ///   - kept: what left on the way and returned with its values, by the position of the version.
    func gone(in last: Snapshot, kept: [Int: Set<HistoryWorld.Return>] = [:]) -> Losses {
        var gone = Losses()
        let old = model()
        let staying = Dictionary(
            uniqueKeysWithValues: old.entities.map { ($0.id, attributes(of: $0.id, stayingTo: last.version, kept)) })
        for (number, object) in now.world.objects {
            let entity = old.entity(object.entity)?.name ?? ""
            guard last.world.objects[number] != nil else {
                gone.objects[entity, default: 0] += 1
                continue
            }
            for attribute in old.lineage(object.entity).flatMap(\.attributes)
            where staying[object.entity]?.contains(attribute.id) != true
                && object.values[attribute.id] ?? "-" != "-"
            {
                gone.values["\(entity).\(attribute.description.name)", default: 0] += 1
            }
        }
        for link in old.links { count(link, in: last, &gone) }
        return gone
    }

    /// The attributes of an entity's objects whose values each version on the way has, or has again.
    private func attributes(
        of entity: Int, stayingTo target: Int, _ kept: [Int: Set<HistoryWorld.Return>]
    ) -> Set<Int> {
        let all = Set(model().lineage(entity).flatMap(\.attributes).map(\.id))
        var staying = all
        for position in (now.version + 1)...target {
            var there: Set<Int> = []
            for declaring in model(position).lineage(entity) {
                for attribute in declaring.attributes {
                    let place = HistoryWorld.Return(entity: declaring.name, property: attribute.description.name)
                    let returns = all.contains(attribute.id) && kept[position]?.contains(place) == true
                    if returns || staying.contains(attribute.id) { there.insert(attribute.id) }
                }
            }
            staying = there
        }
        return staying
    }

    /// Counts what is lost of a link, seen from each of its ends.
    private func count(_ link: HistoryModel.Link, in last: Snapshot, _ gone: inout Losses) {
        let (old, way) = (model(), (now.version...last.version).map { model($0) })
        let later = way.allSatisfy { $0.link(link.id) != nil } ? way.last?.link(link.id) : nil
        let (before, after) = (now.world.pairs[link.id] ?? .init(), last.world.pairs[link.id] ?? .init())
        func entity(_ number: Int) -> Int { now.world.objects[number]?.entity ?? 0 }
        /// An owner whose entity leaves that of the end leaves its links, also if it returns.
        func leaves(_ owner: Int) -> Bool {
            way.contains { !$0.isKind(entity(owner), of: $0.link(link.id)?.end.entity ?? 0) }
        }
        // Without an inverse, any number of objects may lead to one.
        var inverse = link.inverse ?? later?.inverse
        if link.inverse == nil { inverse?.isToMany = true }
        var ends = [(end: link.end, later: later?.end, before: before.forward, after: after.forward, isFirst: true)]
        if let inverse { ends.append((inverse, later?.inverse, before.backward, after.backward, false)) }
        for (end, laterEnd, before, after, isFirst) in ends {
            for (owner, others) in before where last.world.objects[owner] != nil && !others.isEmpty {
                let place = "\(old.entity(entity(owner))?.name ?? "").\(end.name)"
                // The inverse alone may go: the first end has the links.
                let isGone = later == nil || isFirst && leaves(owner)
                if isGone {
                    gone.links[place, default: 0] += Int64(others.count)
                } else if let laterEnd, end.isToMany, !laterEnd.isToMany {
                    // Of those that stay, one is kept.
                    let staying = others.count { last.world.objects[$0] != nil && (isFirst || !leaves($0)) }
                    gone.links[place, default: 0] += Int64(staying - (after[owner]?.count ?? 0))
                }
                if !isGone, let laterEnd, end.isOrdered, laterEnd.isToMany, !laterEnd.isOrdered {
                    gone.orders[place, default: 0] += Int64(others.count)
                }
            }
        }
    }

    /// Compares the losses of a migration that runs no code, and takes one pass.
    func check(_ losses: [Said.Loss], _ last: Snapshot, kept: [Int: Set<HistoryWorld.Return>]) throws {
        guard !hasCode(to: last.version), !losses.contains(where: \.isPutOff) else { return }
        let gone = gone(in: last, kept: kept)
        var said = Losses()
        for loss in losses {
            let (place, count) = ("\(loss.entity).\(loss.member ?? "")", loss.count ?? 0)
            switch loss.kind {
            case "rows": said.objects[loss.entity, default: 0] += count
            case "values" where loss.reason != "unexplained": said.values[place, default: 0] += count
            case "links" where loss.reason != "repeated": said.links[place, default: 0] += count
            // The column of an order that was lost before may still be there.
            case "order" where gone.orders[place] != nil || isOrdered(loss): said.orders[place, default: 0] += count
            default: break
            }
        }
        try compare("objects", said.objects, gone.objects)
        try compare("values", said.values, gone.values)
        try compare("links", said.links, gone.links)
        try compare("orders", said.orders, gone.orders)
    }

    private func compare(_ what: String, _ said: [String: Int64], _ gone: [String: Int64]) throws {
        let (said, gone) = (said.filter { $0.value != 0 }, gone.filter { $0.value != 0 })
        guard said != gone else { return }
        throw LifeFailure(kind: "losses differ", words: "\(what): \(said) are said, and \(gone) are gone")
    }

    /// Whether the relationship of a loss has an order in the version before.
    private func isOrdered(_ loss: Said.Loss) -> Bool {
        model().entities.first { $0.name == loss.entity }.flatMap {
            model().end(loss.member ?? "", of: $0.id)?.end.isOrdered
        } ?? false
    }
}
