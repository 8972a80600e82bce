import MoultModel

/// One change that a program makes to objects, by the numbers of the reference.
enum Change: Codable, Hashable, Sendable {
    /// A new object of an entity; attributes that are not named have their default values.
    case insert(Int, entity: Int, values: [Int: String])
    case set(Int, attribute: Int, text: String)
    /// Links two objects, at a place of the ordered list. Seen from the end of the link, or from its inverse.
    case link(Int, from: Int, to: Int, place: Int, isBackward: Bool)
    case unlink(Int, from: Int, to: Int, isBackward: Bool)
    case delete(Int)
}

/// The slow and obvious meaning of a change.
extension HistoryWorld {
    /// Makes a change.
    ///
    /// - Parameter key: the key of a new object of the entity.
    /// - Returns: false if it makes no sense in this world, which is then as it was.
    mutating func make(_ change: Change, in model: HistoryModel, key: (_ entity: Int) -> Int) -> Bool {
        switch change {
        case .insert(let number, let entity, let values):
            guard objects[number] == nil, let description = model.entity(entity), !description.isAbstract,
                !description.isEmpty
            else { return false }
            var object = Object(entity: entity, key: key(entity))
            for attribute in model.lineage(entity).flatMap(\.attributes) {
                let given = values[attribute.id].flatMap {
                    HistoryValues.fits($0, attribute.description) ? $0 : nil
                }
                object.values[attribute.id] =
                    given.map(HistoryValues.stored) ?? HistoryValues.text(attribute.description.defaultValue)
            }
            objects[number] = object
            return true
        case .set(let number, let attribute, let text):
            guard let object = objects[number],
                let known = model.lineage(object.entity).flatMap(\.attributes).first(where: { $0.id == attribute }),
                HistoryValues.fits(text, known.description)
            else { return false }
            objects[number]?.values[attribute] = HistoryValues.stored(text)
            return true
        case .link(let link, let from, let to, let place, let isBackward):
            let next = linked(link, from, to, place, isBackward, in: model)
            guard let next, next.keepsLimit(link, from, to, model) else { return false }
            self = next
            return true
        case .unlink(let link, let from, let to, _):
            guard model.link(link) != nil, pairs[link]?.forward[from]?.contains(to) == true else { return false }
            part(link, from, to)
            return true
        case .delete(let number):
            guard objects[number] != nil else { return false }
            let gone = fallen(with: number, in: model)
            // A program that deletes by no rule would have to care for the other ends itself.
            if leavesOthers(gone, .deny, in: model) || leavesOthers(gone, .noAction, in: model) { return false }
            // What leads to an object without an inverse does not learn of its deletion.
            for link in model.links where link.inverse == nil {
                let members = gone.filter { pairs[link.id]?.backward[$0]?.isEmpty == false }
                guard members.isEmpty else { return false }
            }
            self = removing(numbers: gone)
            return true
        }
    }

    /// Gives new objects the keys that a save gives to what is still there.
    ///
    /// - Parameter highest: the highest key of each root entity before it.
    mutating func giveKeys(_ changes: [Change], in model: HistoryModel, above highest: [String: Int]) {
        var keys = highest
        for case .insert(let number, let entity, _) in changes where objects[number] != nil {
            let root = model.entity(model.root(of: entity))?.name ?? ""
            keys[root, default: 0] += 1
            objects[number]?.key = keys[root] ?? 0
        }
    }

    /// The world with a link between two objects, which may be one; nil where the link makes no sense.
    private func linked(
        _ id: Int, _ from: Int, _ to: Int, _ place: Int, _ isBackward: Bool, in model: HistoryModel
    ) -> HistoryWorld? {
        guard let link = model.link(id), let owner = objects[from], let other = objects[to],
            model.isKind(owner.entity, of: link.end.entity), model.isKind(other.entity, of: link.far),
            pairs[id]?.forward[from]?.contains(to) != true, !isBackward || link.inverse != nil
        else { return nil }
        // Each member of a to-many without inverse has one owner; taking it from another is not asked of a program.
        let isAlone = link.inverse == nil && link.end.isToMany
        if isAlone, pairs[id]?.backward[to]?.isEmpty == false { return nil }
        var next = self
        if !link.end.isToMany { for old in pairs[id]?.forward[from] ?? [] { next.part(id, from, old) } }
        if link.inverse?.isToMany == false { for old in pairs[id]?.backward[to] ?? [] { next.part(id, old, to) } }
        func insert(_ number: Int, into list: inout [Int], _ isPlaced: Bool) {
            list.insert(number, at: isPlaced ? place % (list.count + 1) : list.count)
        }
        insert(
            to, into: &next.pairs[id, default: Pairs()].forward[from, default: []], !isBackward && link.end.isOrdered)
        insert(
            from, into: &next.pairs[id, default: Pairs()].backward[to, default: []],
            isBackward && link.inverse?.isOrdered == true)
        return next
    }

    private mutating func part(_ link: Int, _ from: Int, _ to: Int) {
        pairs[link]?.forward[from]?.removeAll { $0 == to }
        pairs[link]?.backward[to]?.removeAll { $0 == from }
    }

    /// The object and those that it takes with it.
    func fallen(with number: Int, in model: HistoryModel) -> Set<Int> {
        var (gone, next) = (Set([number]), [number])
        while let object = next.popLast() {
            for (end, lists) in ends(of: model) where end.deleteRule == .cascade {
                for other in lists[object] ?? [] where gone.insert(other).inserted { next.append(other) }
            }
        }
        return gone
    }

    private func ends(of model: HistoryModel) -> [(end: HistoryModel.End, lists: [Int: [Int]])] {
        model.links.flatMap { link in
            [(link.end, pairs[link.id]?.forward ?? [:])]
                + (link.inverse.map { [($0, pairs[link.id]?.backward ?? [:])] } ?? [])
        }
    }

    /// Whether objects that go lead by such a rule to some that stay. No rule counts for what was never saved.
    private func leavesOthers(_ gone: Set<Int>, _ rule: DeleteRule, in model: HistoryModel) -> Bool {
        let saved = gone.filter { objects[$0]?.key ?? 0 > 0 }
        return ends(of: model).contains { end, lists in
            end.deleteRule == rule && saved.contains { lists[$0]?.contains { !gone.contains($0) } == true }
        }
    }

    // MARK: - What a save refuses

    /// Whether a save with the change is refused: by a rule of the model, or because no column holds what is not a number.
    func refuses(_ change: Change, in model: HistoryModel) -> Bool {
        switch change {
        case .link(let link, let from, let to, let place, let isBackward):
            return linked(link, from, to, place, isBackward, in: model)?.keepsLimit(link, from, to, model) == false
        case .delete(let number):
            return objects[number] != nil && leavesOthers(fallen(with: number, in: model), .deny, in: model)
        case .set(let number, let id, let text):
            let attributes = objects[number].map { model.lineage($0.entity).flatMap(\.attributes) } ?? []
            return attributes.contains { $0.id == id && HistoryValues.notANumber($0.description.type) == text }
        case .insert, .unlink: return false
        }
    }

    /// The objects without a destination where one is required, which the save that leaves them so is refused for.
    func lacking(in model: HistoryModel) -> Set<Int> {
        Set(
            ends(of: model).filter { $0.end.isRequired == true && !$0.end.isToMany }.flatMap { end, lists in
                members(of: end.entity, in: model).filter { lists[$0]?.isEmpty != false }
            })
    }

    /// Without what the model does not have: what left before is not there for a later version.
    func kept(by model: HistoryModel) -> HistoryWorld {
        var world = self
        let links = Set(model.links.map(\.id))
        world.pairs = pairs.filter { links.contains($0.key) }
        for (number, object) in objects {
            let known = Set(model.lineage(object.entity).flatMap(\.attributes).map(\.id))
            world.objects[number]?.values = object.values.filter { known.contains($0.key) }
        }
        return world
    }
}

/// What the version before makes of a world that goes back to it, where every value has a place there.
extension HistoryWorld {
    func returned(from new: HistoryModel, to old: HistoryModel) -> HistoryWorld {
        var world = advanced(from: new, to: old)
        for (number, object) in world.objects {
            for attribute in old.lineage(object.entity).flatMap(\.attributes) {
                guard let text = object.values[attribute.id] else { continue }
                world.objects[number]?.values[attribute.id] = HistoryValues.narrowed(
                    text, to: attribute.description.type)
            }
        }
        return world
    }

    /// Without one value, which is the default's instead: a reference that is wrong on purpose.
    func forgettingOne(in model: HistoryModel) -> HistoryWorld {
        var world = self
        for number in objects.keys.sorted() {
            for attribute in model.lineage(objects[number]?.entity ?? 0).flatMap(\.attributes)
            where attribute.description.isOptional && objects[number]?.values[attribute.id] ?? "-" != "-" {
                world.objects[number]?.values[attribute.id] = "-"
                return world
            }
        }
        return world
    }
}
