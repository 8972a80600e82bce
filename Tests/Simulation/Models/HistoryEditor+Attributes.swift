import MoultModel
import TestSupport

extension HistoryEditor {
    func takenNames(around entity: Int) -> Set<String> {
        model.tree(of: entity).reduce(into: model.takenNames(around: entity)) { names, member in
            names.formUnion(start.takenNames(around: member.id))
        }
    }

    mutating func freeName(around entity: Int) -> String? {
        let taken = takenNames(around: entity)
        return Self.names.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    mutating func newAttribute(_ name: String, type: AttributeType? = nil, id: Int? = nil)
        -> HistoryModel.Attribute
    {
        let type = type ?? someType() ?? .string
        var description = AttributeDescription(name: name, type: type)
        let isDistinct = type == .string && isLikely(1, in: 3)
        if !isDistinct, isLikely(1, in: 2) {
            description.defaultValue = HistoryValues.standard(type)
            description.isOptional = description.defaultValue == nil || isLikely(1, in: 2)
        }
        let isElement = description.compositePath != nil
        if type == .binary, !isElement { description.allowsExternalBinaryDataStorage = isLikely(1, in: 2) }
        return HistoryModel.Attribute(id: id ?? newID(), description: description, isDistinct: isDistinct && !isElement)
    }

    private mutating func someType() -> AttributeType? {
        Self.types.filter { !isPlain || ![.uri, .transformable].contains($0) }.randomElement(using: &random)
    }

    /// An attribute that has not been touched: its place.
    mutating func someAttribute(where isFit: (HistoryModel.Attribute) -> Bool = { _ in true })
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
    func departures(_ name: String, from entity: Int) -> [HistoryModel.Attribute] {
        model.family(of: entity).compactMap { departed[Departure(entity: $0.id, name: name)] }
    }

    mutating func addAttribute() -> Bool {
        guard let entity = model.entities.indices.randomElement(using: &random),
            let name = freeName(around: model.entities[entity].id)
        else { return false }
        return add(path(to: name, ofEntityAt: entity), toEntityAt: entity)
    }

    /// The name, or now and then its path in a composite attribute of the entity.
    mutating func path(to name: String, ofEntityAt entity: Int) -> String {
        guard !isPlain, isLikely(1, in: 4) else { return name }
        let free = freeComposites(around: model.entities[entity].id)
        return composites(ofEntityAt: entity).union(free).sorted().randomElement(using: &random)
            .map { "\($0).\(name)" } ?? name
    }

    private func composites(ofEntityAt entity: Int) -> Set<String> {
        Set(model.entities[entity].attributes.compactMap(\.description.compositePath))
    }

    /// The composites' names that no entity of the hierarchy has or had.
    private func freeComposites(around entity: Int) -> [String] {
        let members = model.tree(of: entity) + start.tree(of: entity)
        let taken = members.flatMap { member in
            member.attributes.compactMap(\.description.compositePath) + (member.composites ?? [:]).values
        }
        return Self.compositeNames.filter { !taken.contains($0) }
    }

    /// Whether the entity may have an attribute of that path, beside those of its hierarchy.
    private func canHold(_ name: String, inEntityAt entity: Int) -> Bool {
        let id = model.entities[entity].id
        guard let composite = AttributeDescription(name: name, type: .string).compositePath else { return true }
        return composites(ofEntityAt: entity).contains(composite) || freeComposites(around: id).contains(composite)
    }

    /// Renames a composite attribute with all that it has, by an identifier, or so that Moult asks.
    mutating func renameComposite() -> Bool {
        let places = model.entities.indices.filter { !composites(ofEntityAt: $0).isEmpty }
        guard let place = places.randomElement(using: &random),
            let old = composites(ofEntityAt: place).sorted().randomElement(using: &random),
            let new = freeComposites(around: model.entities[place].id).randomElement(using: &random)
        else { return false }
        let (entity, list) = (model.entities[place].id, model.entities[place].attributes)
        let elements = list.indices.filter { list[$0].description.compositePath == old }
        let paths = elements.map { "\(new).\(list[$0].description.lastName)" }
        guard elements.allSatisfy({ !touched.contains(list[$0].id) }),
            paths.allSatisfy({ departures($0, from: entity).isEmpty })
        else { return false }
        let identifier = model.entities[place].composites?[old] ?? old
        model.entities[place].composites?[old] = nil
        if entitiesChanged || isLikely(2, in: 3) {
            model.entities[place].composites = (model.entities[place].composites ?? [:]).merging([new: identifier]) {
                $1
            }
        }
        for (element, path) in zip(elements, paths) {
            model.entities[place].attributes[element].description.name = path
            touched.insert(list[element].id)
        }
        return true
    }

    /// An attribute becomes an element of a composite one, or an element an attribute; no identifier can say so.
    mutating func regroup() -> Bool {
        guard !isPlain, !entitiesChanged,
            let place = someAttribute(where: {
                !$0.isDistinct && !$0.description.allowsExternalBinaryDataStorage
                    && $0.description.renamingIdentifier == nil
            })
        else { return false }
        let old = model.entities[place.entity].attributes[place.attribute]
        var name = old.description.lastName
        if old.description.compositePath == nil {
            let free = freeComposites(around: model.entities[place.entity].id)
            guard
                let composite = composites(ofEntityAt: place.entity).union(free).sorted().randomElement(
                    using: &random)
            else { return false }
            name = "\(composite).\(name)"
        }
        guard departures(name, from: model.entities[place.entity].id).isEmpty else { return false }
        forget(old.id)
        model.entities[place.entity].attributes[place.attribute].description.name = name
        touched.insert(old.id)
        return true
    }

    /// Marks an entity as another configuration's, or no longer.
    mutating func changeConfiguration() -> Bool {
        // A container with SwiftData's classes says which store has which for all versions at once.
        guard let others = model.others, !isPlain, let entity = model.entities.randomElement(using: &random)?.id else {
            return false
        }
        let members = isDivided ? model.companions(of: entity) : Set(model.tree(of: entity).map(\.id))
        let isOther = others.contains(entity)
        var next = model
        next.others = isOther ? others.filter { !members.contains($0) } : others + members.subtracting(others).sorted()
        guard isDivided ? !next.held.entities.isEmpty && !next.rest.entities.isEmpty : next.held.entities.count > 1
        else { return false }
        model = next
        return true
    }

    mutating func returnAttribute() -> Bool {
        let places = departed.keys.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }.filter { place in
            model.entity(place.entity) != nil && !takenNames(around: place.entity).contains(place.name)
                && !takenNames(around: place.entity).contains(
                    AttributeDescription(name: place.name, type: .string).lastName)
        }
        guard let place = places.randomElement(using: &random),
            let entity = model.entities.firstIndex(where: { $0.id == place.entity })
        else { return false }
        return add(place.name, toEntityAt: entity, type: departed[place]?.description.type)
    }

    mutating func add(_ name: String, toEntityAt entity: Int, type: AttributeType? = nil) -> Bool {
        guard canHold(name, inEntityAt: entity) else { return false }
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

    mutating func removeAttribute() -> Bool {
        guard let place = someAttribute() else { return false }
        let removed = model.entities[place.entity].attributes[place.attribute]
        depart(removed, from: model.entities[place.entity].id)
        model.entities[place.entity].attributes.remove(at: place.attribute)
        touched.insert(removed.id)
        forget(removed.id)
        return true
    }

    mutating func depart(_ attribute: HistoryModel.Attribute, from entity: Int) {
        for member in model.family(of: entity) {
            departed[Departure(entity: member.id, name: attribute.description.name)] = attribute
        }
    }

    /// Indexes and constraints that name an attribute go with it.
    mutating func forget(_ attribute: Int) {
        for position in model.entities.indices {
            model.entities[position].unique.removeAll { $0 == attribute }
            model.entities[position].indexes.removeAll { $0.contains(attribute) }
        }
    }

    mutating func renameAttribute() -> Bool {
        guard let place = someAttribute() else { return false }
        let entity = model.entities[place.entity]
        let old = entity.attributes[place.attribute]
        guard var name = freeName(around: entity.id) else { return false }
        if let composite = old.description.compositePath { name = "\(composite).\(name)" }
        guard departures(name, from: entity.id).isEmpty else { return false }
        // The name of before, the first name of all, or none, which makes Moult ask.
        let last = old.description.lastName
        var identifiers: [String?] = [last, old.description.renamingIdentifier ?? last]
        if !entitiesChanged { identifiers.append(nil) }
        model.entities[place.entity].attributes[place.attribute].description.name = name
        model.entities[place.entity].attributes[place.attribute].description.renamingIdentifier =
            identifiers.randomElement(using: &random) ?? nil
        touched.insert(old.id)
        return true
    }

    /// To the entity above, or from it to one below.
    mutating func moveAttribute() -> Bool {
        guard let place = someAttribute(where: { $0.description.compositePath == nil }) else { return false }
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

    /// To a wider type, where the values stay unasked, or to one that loses some or to any, where they go.
    mutating func changeType() -> Bool {
        guard let place = someAttribute(where: { !$0.isDistinct }) else { return false }
        let entity = model.entities[place.entity]
        let old = entity.attributes[place.attribute]
        let wider = HistoryValues.wider(old.description.type)
        let narrower = HistoryValues.narrower(old.description.type)
        let type =
            isLikely(1, in: 2)
            ? wider.randomElement(using: &random)
            : isLikely(2, in: 3) ? narrower.randomElement(using: &random) : someType()
        guard let type, type != old.description.type else { return false }
        let keeps = wider.contains(type)
        var new = newAttribute(old.description.name, type: type, id: keeps ? old.id : nil)
        new.isDistinct = false
        new.description.renamingIdentifier = old.description.renamingIdentifier
        if !keeps { forget(old.id) }
        model.entities[place.entity].attributes[place.attribute] = new
        touched.formUnion([old.id, new.id])
        return true
    }

    /// Adds a transient attribute, of a name that no other attribute ever has, or removes the last one.
    mutating func changeTransient() -> Bool {
        guard !isPlain, let position = model.entities.indices.randomElement(using: &random) else { return false }
        var names = model.entities[position].transients ?? []
        if !names.isEmpty, isLikely(1, in: 2) { names.removeLast() } else { names.append("passing\(newID())") }
        model.entities[position].transients = names
        return true
    }

    mutating func changeOptional() -> Bool {
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

    mutating func changeExternal() -> Bool {
        guard
            let place = someAttribute(where: {
                $0.description.type == .binary && $0.description.compositePath == nil
            })
        else { return false }
        model.entities[place.entity].attributes[place.attribute].description.allowsExternalBinaryDataStorage.toggle()
        touched.insert(model.entities[place.entity].attributes[place.attribute].id)
        return true
    }

    mutating func changeIndex() -> Bool {
        guard !isPlain, let entity = model.entities.indices.randomElement(using: &random) else { return false }
        if !model.entities[entity].indexes.isEmpty, isLikely(1, in: 2) {
            model.entities[entity].indexes.removeLast()
            return true
        }
        let chosen = model.entities[entity].attributes.filter { $0.description.compositePath == nil }
            .shuffled(using: &random).prefix(isLikely(1, in: 2) ? 1 : 2)
        guard !chosen.isEmpty else { return false }
        model.entities[entity].indexes.append(chosen.map(\.id))
        return true
    }

    mutating func changeUnique() -> Bool {
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
