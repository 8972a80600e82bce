import MoultModel

/// The objects of a store in memory: the slow and obvious meaning of every edit, which asks nothing of Moult.
struct HistoryWorld: Equatable {
    struct Object: Equatable {
        /// The number of its entity.
        var entity: Int
        /// `Z_PK`.
        var key: Int
        /// By the numbers of attributes, as the witness prints them; those of attributes that left stay.
        var values: [Int: String] = [:]
    }

    /// Who is linked with whom, seen from both ends, each in the order of its list.
    struct Pairs: Equatable {
        var forward: [Int: [Int]] = [:]
        var backward: [Int: [Int]] = [:]
    }

    /// A value that left and returned, and that the answer says to keep: the entity's and the property's new names.
    struct Return: Hashable {
        var entity: String
        var property: String
    }

    var objects: [Int: Object] = [:]
    /// By the numbers of links.
    var pairs: [Int: Pairs] = [:]

    /// What one version later is.
    func advanced(from old: HistoryModel, to new: HistoryModel, kept: Set<Return> = []) -> HistoryWorld {
        var world = HistoryWorld()
        for (number, object) in objects where new.entity(object.entity) != nil {
            world.objects[number] = object.advanced(from: old, to: new, kept: kept)
        }
        for link in new.links {
            guard let before = old.link(link.id), let pairs = pairs[link.id] else { continue }
            world.pairs[link.id] = world.advanced(pairs, from: before, to: link, in: new)
        }
        return world
    }

    private func advanced(
        _ pairs: Pairs, from old: HistoryModel.Link, to new: HistoryModel.Link, in model: HistoryModel
    ) -> Pairs {
        // Who has left, or is no longer of an entity that has the relationship, is linked no more.
        let owners = Set(members(of: new.end.entity, in: model))
        let destinations = Set(members(of: new.inverse?.entity ?? new.destination, in: model))
        var next = Pairs(
            forward: pairs.forward.filter { owners.contains($0.key) }.mapValues { $0.filter(destinations.contains) },
            backward: pairs.backward.filter { destinations.contains($0.key) }
                .mapValues { $0.filter(owners.contains) })
        let hadOrder = (old.end.isOrdered, old.inverse?.isOrdered == true)
        if !hadOrder.0 { next.forward = next.forward.mapValues(byKey) }
        if !hadOrder.1 { next.backward = next.backward.mapValues(byKey) }
        // A to-one keeps the first of many.
        if !new.end.isToMany {
            next.forward = next.forward.mapValues { Array($0.prefix(1)) }
            next.backward = next.backward.mapNumbered { to, from in
                from.filter { next.forward[$0]?.contains(to) == true }
            }
        }
        if let inverse = new.inverse, !inverse.isToMany {
            next.backward = next.backward.mapValues { Array($0.prefix(1)) }
            next.forward = next.forward.mapNumbered { from, to in
                to.filter { next.backward[$0]?.contains(from) == true }
            }
        }
        if !new.end.isOrdered { next.forward = next.forward.mapValues(byKey) }
        if new.inverse?.isOrdered != true { next.backward = next.backward.mapValues(byKey) }
        return next
    }

    func byKey(_ numbers: [Int]) -> [Int] {
        numbers.sorted { (objects[$0]?.key ?? 0) < (objects[$1]?.key ?? 0) }
    }

    /// Appends to a text that is there.
    mutating func append(_ suffix: String, to attribute: Int, of number: Int) {
        guard let text = objects[number]?.values[attribute], text != "-" else { return }
        objects[number]?.values[attribute] = text + Array(suffix.utf8).hexadecimal
    }

    mutating func set(_ text: String, for attribute: Int, of number: Int) {
        objects[number]?.values[attribute] = text
    }

    /// Without some objects, and without the links to them.
    func removing(_ isGone: (Object) -> Bool) -> HistoryWorld {
        removing(numbers: Set(objects.filter { isGone($0.value) }.keys))
    }

    func removing(numbers gone: Set<Int>) -> HistoryWorld {
        var world = self
        world.objects = objects.filter { !gone.contains($0.key) }
        for (link, pairs) in pairs {
            func left(_ lists: [Int: [Int]]) -> [Int: [Int]] {
                lists.filter { world.objects[$0.key] != nil }
                    .mapValues { $0.filter { world.objects[$0] != nil } }
            }
            world.pairs[link] = Pairs(forward: left(pairs.forward), backward: left(pairs.backward))
        }
        return world
    }

    /// With the objects of another store, which has other entities.
    func joined(with other: HistoryWorld) -> HistoryWorld {
        var world = self
        world.objects.merge(other.objects) { own, _ in own }
        world.pairs.merge(other.pairs) { own, _ in own }
        return world
    }

    /// The objects and links of some of the entities.
    func part(of model: HistoryModel) -> HistoryWorld {
        HistoryWorld(
            objects: objects.filter { model.entity($0.value.entity) != nil },
            pairs: pairs.filter { model.link($0.key) != nil })
    }

    func members(of entity: Int, in model: HistoryModel) -> [Int] {
        objects.filter { model.isKind($0.value.entity, of: entity) }.keys.sorted()
    }
}

extension [Int: [Int]] {
    fileprivate func mapNumbered(_ transform: (Int, [Int]) -> [Int]) -> Self {
        Dictionary(uniqueKeysWithValues: map { ($0.key, transform($0.key, $0.value)) })
    }
}

extension HistoryWorld.Object {
    fileprivate func advanced(from old: HistoryModel, to new: HistoryModel, kept: Set<HistoryWorld.Return>) -> Self {
        var next = self
        let before = Dictionary(
            uniqueKeysWithValues: old.lineage(entity).flatMap(\.attributes).map { ($0.id, $0.description) })
        for declaring in new.lineage(entity) {
            for attribute in declaring.attributes {
                let standard = HistoryValues.text(attribute.description.defaultValue)
                let isKept = kept.contains(.init(entity: declaring.name, property: attribute.description.name))
                guard before[attribute.id] != nil || isKept, let value = values[attribute.id] else {
                    next.values[attribute.id] = standard
                    continue
                }
                let isFilled = value == "-" && !attribute.description.isOptional
                next.values[attribute.id] =
                    isFilled ? standard : HistoryValues.widened(value, to: attribute.description.type)
            }
        }
        return next
    }
}

// MARK: - As the witness prints it

extension HistoryWorld {
    /// The objects as the witness must read them.
    func witnessed(in model: HistoryModel) -> WitnessedObjects {
        var found: WitnessedObjects = [:]
        let derivations = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.id, model.derivations(of: $0.id)) })
        for (number, object) in objects {
            guard let entity = model.entity(object.entity) else { continue }
            let lineage = model.lineage(entity.id)
            var values: [String: String] = [:]
            for attribute in lineage.flatMap(\.attributes) {
                values[attribute.description.name] = object.values[attribute.id]
            }
            for derived in derivations[entity.id] ?? [] { values[derived.name] = text(derived, of: number) }
            let ancestors = Set(lineage.map(\.id))
            for link in model.links {
                if ancestors.contains(link.end.entity) {
                    values[link.end.name] = text(link.end, pairs[link.id]?.forward[number], in: model)
                }
                if let inverse = link.inverse, ancestors.contains(inverse.entity) {
                    values[inverse.name] = text(inverse, pairs[link.id]?.backward[number], in: model)
                }
            }
            found[entity.name, default: [:]][object.key] = values
        }
        return found
    }

    private func text(_ end: HistoryModel.End, _ others: [Int]?, in model: HistoryModel) -> String {
        let listed = others.map { end.isOrdered ? $0 : byKey($0) }
        let names = (listed ?? []).compactMap { other in
            objects[other].map { "\(model.entity($0.entity)?.name ?? "?")/\($0.key)" }
        }
        return end.isToMany ? "m:" + names.joined(separator: ",") : names.first.map { "o:\($0)" } ?? "-"
    }
}
