import MoultModel
import MoultPlan

extension Diagram {
    /// Two versions of a model in one picture: the entities that differ with what was added, removed, renamed and
    /// changed, and by their names alone those that a changed one leads to.
    package init(from older: ModelVersion, to newer: ModelVersion, _ diff: ModelDiff, choice: EntityChoice = .all)
        throws
    {
        self.init(title: "\(diff.from) → \(diff.to)")
        let chosen: Set<String>? = choice == .all ? nil : try choice.names(in: newer.model)
        let changes = diff.changes.byEntity
        let changed = newer.model.entities.filter { changes[$0.name] != nil && chosen?.contains($0.name) != false }
        var places: [String: Int] = [:]
        for entity in changed {
            places[entity.name] = boxes.count
            boxes.append(Box(entity, in: newer.model, changes[entity.name] ?? []))
        }
        for change in diff.changes where change.kind == .entityRemoved {
            guard let entity = change.entity.flatMap(older.model.entity), chosen == nil else { continue }
            var box = Box(entity, in: older.model)
            box.mark = .removed
            box.lines = box.lines.map { Line($0.text, .removed) }
            boxes.append(box)
        }
        for name in changed.flatMap({ $0.relationships.map(\.destinationEntityName) + [$0.superentityName ?? ""] }) {
            guard places[name] == nil, let entity = newer.model.entity(name) else { continue }
            places[name] = boxes.count
            boxes.append(Box(name, kind: entity.isAbstract ? "abstract" : "entity"))
        }
        // Hierarchies do not stand together here.
        for place in boxes.indices { boxes[place].group = nil }
        let differing = Set(changed.compactMap { places[$0.name] })
        links = Self.links(of: newer.model, among: places) { entity, relationship in
            (changes[entity] ?? []).first { $0.member == relationship }?.kind.mark ?? .none
        }.filter { differing.contains($0.from) || differing.contains($0.to) }
    }
}

extension Diagram.Box {
    /// An entity of the newer version, with what is different in it.
    fileprivate init(_ entity: EntityDescription, in model: ManagedObjectModel, _ changes: [ModelChange]) {
        self.init(entity, in: model)
        let own = changes.filter { $0.member == nil }
        mark = own.first { [.entityAdded, .entityRenamed].contains($0.kind) }?.kind.mark ?? .changed
        let members = Dictionary(grouping: changes.filter { $0.member != nil }, by: { $0.member ?? "" })
        var known: Set<String> = []
        lines = entity.attributes.map { attribute in
            known.insert(attribute.name)
            return Diagram.Line(
                attribute.diagramText(in: entity), changes: members[attribute.name] ?? [], isNew: mark == .added)
        }
        for relationship in entity.relationships {
            known.insert(relationship.name)
            guard let changes = members[relationship.name] else { continue }
            lines.append(
                Diagram.Line("\(relationship.name) → \(relationship.destinationEntityName)", changes: changes))
        }
        lines += own.filter { ![.entityAdded].contains($0.kind) }.map(\.diagramLine)
        lines += changes.filter { change in change.member.map { !known.contains($0) } ?? false }.map(\.diagramLine)
    }
}

extension Diagram.Line {
    /// A property with what is different about it.
    fileprivate init(_ text: String, changes: [ModelChange], isNew: Bool = false) {
        guard let first = changes.first else {
            self.init(text, isNew ? .added : .none)
            return
        }
        let marks: [Diagram.Mark] = [.added, .renamed]
        let mark = changes.map(\.kind.mark).first(where: marks.contains) ?? first.kind.mark
        let was = changes.compactMap(\.whatWas)
        self.init(was.isEmpty ? text : "\(text), was \(was.joined(separator: ", "))", mark)
    }
}

extension ModelChange {
    /// The former state of a changed property, in words; nil for one that was not there.
    fileprivate var whatWas: String? {
        switch kind.mark {
        case .added: nil
        case .renamed: old
        default: "\(old ?? "without") (\(kind.noun))"
        }
    }

    /// The change of an entity, or of something that has no line of its own.
    fileprivate var diagramLine: Diagram.Line {
        let name = [member, kind.noun].compactMap { $0 }.joined(separator: " ")
        return switch kind.mark {
        case .added: Diagram.Line("\(name)\(new.map { ": \($0)" } ?? "")", .added)
        case .removed: Diagram.Line("\(name)\(old.map { ": \($0)" } ?? "")", .removed)
        case .renamed: Diagram.Line("was \(old ?? "")", .renamed)
        case .none, .changed: Diagram.Line("\(name): \(old ?? "none") → \(new ?? "none")", .changed)
        }
    }
}

extension [ModelChange] {
    /// The changes of each entity. A renaming identifier is seen in the rename that it makes.
    var byEntity: [String: [ModelChange]] {
        Dictionary(grouping: filter { $0.entity != nil && $0.kind != .renamingIdentifier }, by: { $0.entity ?? "" })
    }
}

extension ModelChange.Kind {
    /// The mark of the change in a picture.
    package var mark: Diagram.Mark {
        if rawValue.hasSuffix("-added") { return .added }
        if rawValue.hasSuffix("-removed") { return .removed }
        if rawValue.hasSuffix("-renamed") { return .renamed }
        return .changed
    }
}
