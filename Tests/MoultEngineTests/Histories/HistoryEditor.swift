import MoultModel
import TestSupport

/// Edits a model as people do, at random; every edit keeps or ends a number, so that the truth stays known.
struct HistoryEditor {
    private(set) var model = HistoryModel()
    /// The kinds of edits made since the version before.
    private(set) var edits: [String] = []
    var random: HistoryRandom
    private var lastID = 0
    /// Everything that was edited since the version before: one edit each, so that a question has one true answer.
    private var touched: Set<Int> = []
    /// The version before: a name that it has is not given to anything else at once.
    private var start = HistoryModel()
    private var entitiesChanged = false
    /// Attributes that left, by their entity's number and name, so that one that returns is known.
    private var departed: [Departure: HistoryModel.Attribute] = [:]

    private struct Departure: Hashable {
        var entity: Int
        var name: String
    }

    private static let names = ["a", "b", "c", "d", "e", "f", "ent", "kind", "order", "Ünit"]
    private static let entityNames = ["Note", "User", "Tag", "Item", "Place", "Group", "Pk", "Zebra"]
    private static let types: [AttributeType] = [
        .string, .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .date, .binary, .uuid, .uri,
        .transformable,
    ]

    init(seed: UInt64) {
        random = HistoryRandom(seed: seed)
        for _ in 0..<Int.random(in: 2...4, using: &random) { addEntity() }
        for _ in 0..<Int.random(in: 2...5, using: &random) { addLink() }
    }

    private mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func isLikely(_ part: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &random) < part
    }

    /// Makes one to four edits.
    mutating func advance() {
        (touched, edits, entitiesChanged, start) = ([], [], false, model)
        if isLikely(1, in: 2) { forgetIdentifiers() }
        let wanted = Int.random(in: 1...4, using: &random)
        for _ in 0..<40 where edits.count < wanted {
            let edit = Self.edits[Int.random(in: 0..<Self.edits.count, using: &random)]
            if edit.make(&self) { edits.append(edit.name) }
        }
    }

    /// Identifiers stay in a model as long as nobody tidies up.
    private mutating func forgetIdentifiers() {
        for position in model.entities.indices {
            model.entities[position].renamingIdentifier = nil
            for attribute in model.entities[position].attributes.indices {
                model.entities[position].attributes[attribute].description.renamingIdentifier = nil
            }
        }
        for position in model.links.indices {
            model.links[position].end.renamingIdentifier = nil
            model.links[position].inverse?.renamingIdentifier = nil
        }
    }

    private struct Edit {
        var name: String
        var make: (inout HistoryEditor) -> Bool

        init(_ name: String, _ make: @escaping (inout HistoryEditor) -> Bool) {
            self.name = name
            self.make = make
        }
    }

    private nonisolated(unsafe) static let edits: [Edit] = [
        Edit("attribute added") { $0.addAttribute() }, Edit("attribute added") { $0.addAttribute() },
        Edit("attribute returned") { $0.returnAttribute() }, Edit("attribute removed") { $0.removeAttribute() },
        Edit("attribute renamed") { $0.renameAttribute() }, Edit("attribute renamed") { $0.renameAttribute() },
        Edit("attribute moved") { $0.moveAttribute() }, Edit("type changed") { $0.changeType() },
        Edit("type changed") { $0.changeType() }, Edit("optional changed") { $0.changeOptional() },
        Edit("external storage changed") { $0.changeExternal() }, Edit("index changed") { $0.changeIndex() },
        Edit("uniqueness changed") { $0.changeUnique() }, Edit("entity added") { $0.addEntity() },
        Edit("entity removed") { $0.removeEntity() }, Edit("entity renamed") { $0.renameEntity() },
        Edit("parent changed") { $0.changeParent() }, Edit("abstract changed") { $0.changeAbstract() },
        Edit("link added") { $0.addLink() }, Edit("link added") { $0.addLink() },
        Edit("link removed") { $0.removeLink() }, Edit("link renamed") { $0.renameLink() },
        Edit("cardinality changed") { $0.changeCardinality() }, Edit("cardinality changed") { $0.changeCardinality() },
        Edit("order changed") { $0.changeOrder() }, Edit("inverse changed") { $0.changeInverse() },
    ]
}

// MARK: - Attributes

extension HistoryEditor {
    private func takenNames(around entity: Int) -> Set<String> {
        model.tree(of: entity).reduce(into: model.takenNames(around: entity)) { names, member in
            names.formUnion(start.takenNames(around: member.id))
        }
    }

    private mutating func freeName(around entity: Int) -> String? {
        let taken = takenNames(around: entity)
        return Self.names.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    private mutating func newAttribute(_ name: String, type: AttributeType? = nil, id: Int? = nil)
        -> HistoryModel.Attribute
    {
        let type = type ?? Self.types.randomElement(using: &random) ?? .string
        var description = AttributeDescription(name: name, type: type)
        let isDistinct = type == .string && isLikely(1, in: 3)
        if !isDistinct, isLikely(1, in: 2) {
            description.defaultValue = HistoryValues.standard(type)
            description.isOptional = description.defaultValue == nil || isLikely(1, in: 2)
        }
        if type == .binary { description.allowsExternalBinaryDataStorage = isLikely(1, in: 2) }
        return HistoryModel.Attribute(id: id ?? newID(), description: description, isDistinct: isDistinct)
    }

    /// An attribute that has not been touched: its place.
    private mutating func someAttribute(where isFit: (HistoryModel.Attribute) -> Bool = { _ in true })
        -> (entity: Int, attribute: Int)?
    {
        let places = model.entities.indices.flatMap { entity in
            model.entities[entity].attributes.indices.map { (entity: entity, attribute: $0) }
        }
        return places.filter { place in
            let attribute = model.entities[place.entity].attributes[place.attribute]
            return !touched.contains(attribute.id) && isFit(attribute)
        }.randomElement(using: &random)
    }

    /// What left the entity, or one below it, under that name.
    private func departures(_ name: String, from entity: Int) -> [HistoryModel.Attribute] {
        model.family(of: entity).compactMap { departed[Departure(entity: $0.id, name: name)] }
    }

    private mutating func addAttribute() -> Bool {
        guard let entity = model.entities.indices.randomElement(using: &random),
            let name = freeName(around: model.entities[entity].id)
        else { return false }
        return add(name, toEntityAt: entity)
    }

    private mutating func returnAttribute() -> Bool {
        let places = departed.keys.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }.filter { place in
            model.entity(place.entity) != nil && !takenNames(around: place.entity).contains(place.name)
        }
        guard let place = places.randomElement(using: &random),
            let entity = model.entities.firstIndex(where: { $0.id == place.entity })
        else { return false }
        return add(place.name, toEntityAt: entity, type: departed[place]?.description.type)
    }

    private mutating func add(_ name: String, toEntityAt entity: Int, type: AttributeType? = nil) -> Bool {
        let former = departures(name, from: model.entities[entity].id)
        var new = newAttribute(name, type: type)
        let same = former.filter { $0.description.type == new.description.type }
        // Two that left under one name cannot both return as one.
        guard Set(same.map(\.id)).count < 2 else { return false }
        if let old = same.first { new.id = old.id }
        let present = model.entities.flatMap(\.attributes).map(\.id)
        guard !touched.contains(new.id), !present.contains(new.id) else { return false }
        // A value of before may be the same as that of another object now.
        new.isDistinct = new.isDistinct && same.isEmpty
        touched.insert(new.id)
        model.entities[entity].attributes.append(new)
        return true
    }

    private mutating func removeAttribute() -> Bool {
        guard let place = someAttribute() else { return false }
        let removed = model.entities[place.entity].attributes[place.attribute]
        depart(removed, from: model.entities[place.entity].id)
        model.entities[place.entity].attributes.remove(at: place.attribute)
        touched.insert(removed.id)
        forget(removed.id)
        return true
    }

    private mutating func depart(_ attribute: HistoryModel.Attribute, from entity: Int) {
        for member in model.family(of: entity) {
            departed[Departure(entity: member.id, name: attribute.description.name)] = attribute
        }
    }

    /// Indexes and constraints that name an attribute go with it.
    private mutating func forget(_ attribute: Int) {
        for position in model.entities.indices {
            model.entities[position].unique.removeAll { $0 == attribute }
            model.entities[position].indexes.removeAll { $0.contains(attribute) }
        }
    }

    private mutating func renameAttribute() -> Bool {
        guard let place = someAttribute() else { return false }
        let entity = model.entities[place.entity]
        let old = entity.attributes[place.attribute]
        guard let name = freeName(around: entity.id), departures(name, from: entity.id).isEmpty else { return false }
        // The name of before, the first name of all, or none, which makes Moult ask.
        var identifiers: [String?] = [old.description.name, old.description.renamingIdentifier ?? old.description.name]
        if !entitiesChanged { identifiers.append(nil) }
        model.entities[place.entity].attributes[place.attribute].description.name = name
        model.entities[place.entity].attributes[place.attribute].description.renamingIdentifier =
            identifiers.randomElement(using: &random) ?? nil
        touched.insert(old.id)
        return true
    }

    /// To the entity above, or from it to one below.
    private mutating func moveAttribute() -> Bool {
        guard let place = someAttribute() else { return false }
        let entity = model.entities[place.entity]
        let goals = model.entities.indices.filter {
            model.entities[$0].id == entity.parent || model.entities[$0].parent == entity.id
        }
        guard let goal = goals.randomElement(using: &random) else { return false }
        let attribute = entity.attributes[place.attribute]
        guard departures(attribute.description.name, from: model.root(of: entity.id)).isEmpty else { return false }
        forget(attribute.id)
        model.entities[place.entity].attributes.remove(at: place.attribute)
        model.entities[goal].attributes.append(attribute)
        let stay = Set(model.family(of: model.entities[goal].id).map(\.id))
        for member in model.family(of: entity.id) where !stay.contains(member.id) {
            departed[Departure(entity: member.id, name: attribute.description.name)] = attribute
        }
        touched.insert(attribute.id)
        return true
    }

    /// To a wider type, where the values stay, or to any, where they go.
    private mutating func changeType() -> Bool {
        guard let place = someAttribute(where: { !$0.isDistinct }) else { return false }
        let entity = model.entities[place.entity]
        let old = entity.attributes[place.attribute]
        let wider = HistoryValues.wider(old.description.type)
        let type = isLikely(2, in: 3) ? wider.randomElement(using: &random) : Self.types.randomElement(using: &random)
        guard let type, type != old.description.type else { return false }
        let keeps = wider.contains(type) && isLikely(3, in: 4)
        var new = newAttribute(old.description.name, type: type, id: keeps ? old.id : nil)
        new.isDistinct = false
        new.description.renamingIdentifier = old.description.renamingIdentifier
        if !keeps { forget(old.id) }
        model.entities[place.entity].attributes[place.attribute] = new
        touched.formUnion([old.id, new.id])
        return true
    }

    private mutating func changeOptional() -> Bool {
        let isFit = { (attribute: HistoryModel.Attribute) in
            !attribute.isDistinct && HistoryValues.standard(attribute.description.type) != nil
        }
        guard let place = someAttribute(where: isFit) else { return false }
        var new = model.entities[place.entity].attributes[place.attribute].description
        new.isOptional.toggle()
        new.defaultValue = new.isOptional && isLikely(1, in: 2) ? nil : HistoryValues.standard(new.type)
        model.entities[place.entity].attributes[place.attribute].description = new
        touched.insert(model.entities[place.entity].attributes[place.attribute].id)
        return true
    }

    private mutating func changeExternal() -> Bool {
        guard let place = someAttribute(where: { $0.description.type == .binary }) else { return false }
        model.entities[place.entity].attributes[place.attribute].description.allowsExternalBinaryDataStorage.toggle()
        touched.insert(model.entities[place.entity].attributes[place.attribute].id)
        return true
    }

    private mutating func changeIndex() -> Bool {
        guard let entity = model.entities.indices.randomElement(using: &random) else { return false }
        if !model.entities[entity].indexes.isEmpty, isLikely(1, in: 2) {
            model.entities[entity].indexes.removeLast()
            return true
        }
        let chosen = model.entities[entity].attributes.shuffled(using: &random).prefix(isLikely(1, in: 2) ? 1 : 2)
        guard !chosen.isEmpty else { return false }
        model.entities[entity].indexes.append(chosen.map(\.id))
        return true
    }

    private mutating func changeUnique() -> Bool {
        guard let place = someAttribute(where: \.isDistinct) else { return false }
        let attribute = model.entities[place.entity].attributes[place.attribute].id
        if model.entities[place.entity].unique.contains(attribute) {
            model.entities[place.entity].unique.removeAll { $0 == attribute }
        } else {
            model.entities[place.entity].unique.append(attribute)
        }
        return true
    }
}

// MARK: - Entities

extension HistoryEditor {
    private mutating func freeEntityName() -> String? {
        let taken = Set((model.entities + start.entities).flatMap { [$0.name, $0.renamingIdentifier ?? $0.name] })
        return Self.entityNames.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    @discardableResult
    private mutating func addEntity() -> Bool {
        guard let name = freeEntityName() else { return false }
        var entity = HistoryModel.Entity(id: newID(), name: name)
        entity.parent = isLikely(1, in: 2) ? model.entities.randomElement(using: &random)?.id : nil
        entity.isEmpty = isLikely(1, in: 6)
        entity.isAbstract = entity.isEmpty && isLikely(1, in: 2)
        model.entities.append(entity)
        touched.insert(entity.id)
        entitiesChanged = true
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let name = freeName(around: entity.id) else { break }
            _ = add(name, toEntityAt: model.entities.count - 1)
        }
        return true
    }

    private mutating func someEntity(where isFit: (HistoryModel.Entity) -> Bool = { _ in true }) -> Int? {
        model.entities.indices.filter { !touched.contains(model.entities[$0].id) && isFit(model.entities[$0]) }
            .randomElement(using: &random)
    }

    /// With its relationships, never one with entities below it.
    private mutating func removeEntity() -> Bool {
        let parents = Set(model.entities.compactMap(\.parent))
        guard model.entities.count > 2, let position = someEntity(where: { !parents.contains($0.id) }) else {
            return false
        }
        let entity = model.entities.remove(at: position)
        model.links.removeAll { link in
            link.ends.contains { $0.entity == entity.id } || link.destination == entity.id
        }
        touched.insert(entity.id)
        entitiesChanged = true
        return true
    }

    private mutating func renameEntity() -> Bool {
        guard let position = someEntity(), let name = freeEntityName() else { return false }
        let old = model.entities[position]
        model.entities[position].name = name
        model.entities[position].renamingIdentifier = isLikely(1, in: 2) ? old.name : old.renamingIdentifier ?? old.name
        touched.insert(old.id)
        entitiesChanged = true
        return true
    }

    /// Out of its hierarchy, or below another one of it; what cannot be inferred is refused later.
    private mutating func changeParent() -> Bool {
        guard let position = someEntity() else { return false }
        let entity = model.entities[position]
        let below = Set(model.family(of: entity.id).map(\.id))
        let goals = model.tree(of: entity.id).map { Optional($0.id) }.filter { !below.contains($0 ?? -1) } + [nil]
        guard let goal = goals.randomElement(using: &random), goal != entity.parent else { return false }
        let before = Set(model.lineage(entity.id).flatMap(\.attributes).map(\.id))
        let old = model
        model.entities[position].parent = goal
        let after = Set(model.lineage(entity.id).flatMap(\.attributes).map(\.id))
        for attribute in old.lineage(entity.id).flatMap(\.attributes)
        where before.subtracting(after).contains(attribute.id) {
            for member in below { departed[Departure(entity: member, name: attribute.description.name)] = attribute }
        }
        touched.insert(entity.id)
        entitiesChanged = true
        return true
    }

    private mutating func changeAbstract() -> Bool {
        guard let position = someEntity(where: \.isEmpty) else { return false }
        model.entities[position].isAbstract.toggle()
        touched.insert(model.entities[position].id)
        return true
    }
}

// MARK: - Links

extension HistoryEditor {
    @discardableResult
    private mutating func addLink() -> Bool {
        guard let from = model.entities.randomElement(using: &random),
            let to = model.entities.randomElement(using: &random), let name = freeName(around: from.id)
        else { return false }
        var link = HistoryModel.Link(
            id: newID(), end: HistoryModel.End(entity: from.id, name: name), destination: to.id)
        if isLikely(4, in: 5) {
            guard let back = freeName(around: to.id), back != name else { return false }
            var inverse = HistoryModel.End(entity: to.id, name: back, isToMany: isLikely(1, in: 2))
            inverse.isOrdered = inverse.isToMany && isLikely(1, in: 3)
            link.inverse = inverse
            link.end.isToMany = isLikely(1, in: 2)
            link.end.isOrdered = link.end.isToMany && isLikely(1, in: 3)
        }
        model.links.append(link)
        touched.insert(link.id)
        return true
    }

    private mutating func someLink(where isFit: (HistoryModel.Link) -> Bool = { _ in true }) -> Int? {
        model.links.indices.filter { !touched.contains(model.links[$0].id) && isFit(model.links[$0]) }
            .randomElement(using: &random)
    }

    private mutating func removeLink() -> Bool {
        guard let position = someLink() else { return false }
        touched.insert(model.links.remove(at: position).id)
        return true
    }

    /// Changes one end of a link, the first or its inverse.
    private mutating func change(_ position: Int, _ edit: (inout HistoryModel.End) -> Void) {
        touched.insert(model.links[position].id)
        guard var inverse = model.links[position].inverse, isLikely(1, in: 2) else {
            edit(&model.links[position].end)
            return
        }
        edit(&inverse)
        model.links[position].inverse = inverse
    }

    private mutating func renameLink() -> Bool {
        guard let position = someLink() else { return false }
        let link = model.links[position]
        let taken = link.ends.reduce(into: Set<String>()) { $0.formUnion(takenNames(around: $1.entity)) }
        guard let name = Self.names.filter({ !taken.contains($0) }).randomElement(using: &random) else { return false }
        let keepsFirst = isLikely(1, in: 2)
        change(position) { end in
            end.renamingIdentifier = keepsFirst ? end.renamingIdentifier ?? end.name : end.name
            end.name = name
        }
        return true
    }

    private mutating func changeCardinality() -> Bool {
        guard let position = someLink(where: { $0.inverse != nil }) else { return false }
        change(position) { end in
            end.isToMany.toggle()
            end.isOrdered = false
        }
        return true
    }

    private mutating func changeOrder() -> Bool {
        guard let position = someLink(where: { $0.end.isToMany || $0.inverse?.isToMany == true }) else { return false }
        touched.insert(model.links[position].id)
        if model.links[position].end.isToMany {
            model.links[position].end.isOrdered.toggle()
        } else {
            model.links[position].inverse?.isOrdered.toggle()
        }
        return true
    }

    /// A to-one gets a to-many inverse, or loses it.
    private mutating func changeInverse() -> Bool {
        guard let position = someLink(where: { !$0.end.isToMany && $0.inverse?.isToMany != false }) else {
            return false
        }
        let link = model.links[position]
        if link.inverse == nil {
            guard let name = freeName(around: link.destination) else { return false }
            model.links[position].inverse = HistoryModel.End(entity: link.destination, name: name, isToMany: true)
        } else {
            model.links[position].inverse = nil
        }
        touched.insert(link.id)
        return true
    }
}
