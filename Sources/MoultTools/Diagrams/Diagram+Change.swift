import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

extension Diagram {
    /// Creates a picture of the differences between two versions of a model. It shows the entities that differ, with
    /// the properties that were added, removed, renamed and changed. An entity that a changed one refers to appears
    /// with its name only.
    ///
    /// - Parameter showsUnchanged: whether to show the entities that do not differ, too, with all their properties.
    package init(
        from older: ModelVersion, to newer: ModelVersion, _ diff: ModelDiff, choice: EntityChoice = .all,
        showsUnchanged: Bool = false
    ) throws {
        self.init(title: "\(diff.from) → \(diff.to)")
        marksChanges = true
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
        for entity in newer.model.entities where showsUnchanged && chosen?.contains(entity.name) != false {
            if let place = places[entity.name] {
                if boxes[place].mark == .none { boxes[place] = Box(entity, in: newer.model) }
            } else {
                places[entity.name] = boxes.count
                boxes.append(Box(entity, in: newer.model))
            }
        }
        // This picture does not group hierarchies.
        for place in boxes.indices { boxes[place].group = nil }
        let differing = Set(changed.compactMap { places[$0.name] })
        links = Self.links(of: newer.model, among: places) { entity, relationship in
            (changes[entity] ?? []).first { $0.member == relationship }?.kind.mark ?? .none
        }.filter { showsUnchanged || differing.contains($0.from) || differing.contains($0.to) }
    }
}

extension Diagram.Box {
    /// Creates a box for an entity of the newer version, with its changes.
    fileprivate init(_ entity: EntityDescription, in model: ManagedObjectModel, _ changes: [ModelChange]) {
        self.init(entity, in: model)
        let own = changes.filter { $0.member == nil }
        mark = own.first { [.entityAdded, .entityRenamed].contains($0.kind) }?.kind.mark ?? .changed
        let members = Dictionary(grouping: changes.filter { $0.member != nil }, by: { $0.member ?? "" })
        var known: Set<String> = []
        lines = entity.attributes.map { attribute in
            known.insert(attribute.name)
            return Diagram.Line(
                attribute.name, detail: attribute.diagramDetail(in: entity), changes: members[attribute.name] ?? [],
                isNew: mark == .added)
        }
        for relationship in entity.relationships {
            known.insert(relationship.name)
            guard let changes = members[relationship.name] else { continue }
            lines.append(
                Diagram.Line(relationship.name, detail: "→ \(relationship.destinationEntityName)", changes: changes))
        }
        lines += own.filter { ![.entityAdded].contains($0.kind) }.map(\.diagramLine)
        lines += changes.filter { change in change.member.map { !known.contains($0) } ?? false }.map(\.diagramLine)
    }
}

extension Diagram.Line {
    /// Creates a line for a property, with its changes.
    fileprivate init(_ name: String, detail: String, changes: [ModelChange], isNew: Bool = false) {
        guard let first = changes.first else {
            self.init(name, detail: detail, isNew ? .added : .none)
            return
        }
        let marks: [Diagram.Mark] = [.added, .renamed]
        let mark = changes.map(\.kind.mark).first(where: marks.contains) ?? first.kind.mark
        let was = changes.compactMap(\.whatWas)
        self.init(name, detail: was.isEmpty ? detail : "\(detail), was \(was.joined(separator: ", "))", mark)
    }
}

extension ModelChange {
    /// The previous state of a changed property, in words; nil for an added one.
    fileprivate var whatWas: String? {
        switch kind.mark {
        case .added: nil
        case .renamed: old
        default: "\(old?.shown ?? "without") (\(kind.noun))"
        }
    }

    /// A line for a change of the entity, or of a member without a line of its own.
    fileprivate var diagramLine: Diagram.Line {
        let name = [member, kind.noun].compactMap { $0 }.joined(separator: " ")
        return switch kind.mark {
        case .added: Diagram.Line("\(name)\(new.map { ": \($0.shown)" } ?? "")", .added)
        case .removed: Diagram.Line("\(name)\(old.map { ": \($0.shown)" } ?? "")", .removed)
        case .renamed: Diagram.Line("was \(old ?? "")", .renamed)
        case .none, .changed: Diagram.Line("\(name): \(old?.shown ?? "none") → \(new?.shown ?? "none")", .changed)
        }
    }
}

extension String {
    /// The text, or quotation marks for an empty one.
    fileprivate var shown: String { isEmpty ? "\"\"" : self }
}

extension [ModelChange] {
    /// The changes of each entity. A renaming identifier is left out, because the rename itself is listed.
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

extension Diagram {
    /// Creates a picture of a plan: each changing entity from version to version, and one box for all unchanged
    /// entities.
    ///
    /// - Parameter rows: the number of objects of each entity in the store.
    package init(_ plan: MigrationPlan, rows: [String: Int64]) {
        self.init(title: plan.versionNames.joined(separator: " → "))
        marksChanges = true
        let steps = plan.edges.map(EntityStep.all)
        let shown = Self.entities(of: plan, changedBy: steps)
        var places: [[String: Int]] = []
        for (number, version) in plan.versionNames.enumerated() {
            var own: [String: Int] = [:]
            let model = number == 0 ? plan.from.model : nil
            for name in shown[number].inByteOrder() {
                own[name] = boxes.count
                let changes = number == 0 ? [] : steps[number - 1].first { $0.newer == name }?.changes ?? []
                boxes.append(Box(name, changes: changes, rows: model.flatMap { _ in rows[name] }, group: version))
            }
            let others = number == 0 ? plan.from.model.entities.filter { !own.keys.contains($0.name) } : []
            if !others.isEmpty {
                let count = others.reduce(Int64(0)) { $0 + (rows[$1.name] ?? 0) }
                boxes.append(
                    Box(
                        "\(Quantity.count(others.count, "other entity", plural: "other entities"))",
                        lines: [Line("\(Quantity.count(count, "row")), unchanged")], group: version))
            }
            places.append(own)
        }
        for (number, edge) in steps.enumerated() {
            for step in edge {
                guard let from = step.older.flatMap({ places[number][$0] }) else { continue }
                guard let to = step.newer.flatMap({ places[number + 1][$0] }) else {
                    if step.newer == nil { boxes[from].mark = .removed }
                    continue
                }
                let label = step.changes.isEmpty ? "" : Quantity.count(step.changes.count, "change")
                links.append(Link(from: from, to: to, kind: .flow, label: label))
            }
        }
    }

    /// Returns the entities to show for each version: those that change at any point of the plan.
    private static func entities(of plan: MigrationPlan, changedBy steps: [[EntityStep]]) -> [Set<String>] {
        var shown = [Set<String>](repeating: [], count: steps.count + 1)
        for (number, edge) in steps.enumerated() {
            for step in edge where step.isChange {
                if let older = step.older { shown[number].insert(older) }
                if let newer = step.newer { shown[number + 1].insert(newer) }
            }
        }
        for number in steps.indices {
            for step in steps[number] {
                guard let older = step.older, let newer = step.newer, shown[number].contains(older) else { continue }
                shown[number + 1].insert(newer)
            }
        }
        for number in steps.indices.reversed() {
            for step in steps[number] {
                guard let older = step.older, let newer = step.newer, shown[number + 1].contains(newer) else {
                    continue
                }
                shown[number].insert(older)
            }
        }
        return shown
    }
}

/// The effect of one edge on an entity.
private struct EntityStep {
    var older: String?
    var newer: String?
    var changes: [ModelChange]

    var isChange: Bool { older != newer || !changes.isEmpty }

    static func all(of edge: MigrationEdge) -> [EntityStep] {
        let mapping: ResolvedMapping
        switch edge.means {
        case .inferred(let resolved), .registered(_, let resolved): mapping = resolved
        case .open: return []
        }
        let changes = edge.diff.hashed.byEntity
        return mapping.entityMappings.map { entity in
            EntityStep(
                older: entity.sourceEntityName, newer: entity.destinationEntityName,
                changes: entity.destinationEntityName.flatMap { changes[$0] } ?? [])
        }
    }
}

extension Diagram.Box {
    fileprivate init(_ name: String, changes: [ModelChange], rows: Int64?, group: String) {
        var lines = rows.map { [Diagram.Line(Quantity.count($0, "row"))] } ?? []
        lines += changes.prefix(6).map { Diagram.Line($0.sentence, $0.kind.mark) }
        if changes.count > 6 { lines.append(Diagram.Line("and \(changes.count - 6) more")) }
        let marks = changes.filter { $0.member == nil }.map(\.kind.mark)
        let mark: Diagram.Mark =
            marks.contains(.added) ? .added : marks.contains(.renamed) ? .renamed : changes.isEmpty ? .none : .changed
        self.init(name, lines: lines, mark: mark, group: group)
    }
}

extension Diagram {
    /// Creates a timeline of the runs on a store, oldest first, followed by its current state.
    ///
    /// - Parameters:
    ///   - now: the name of the store's version; empty if it is unknown.
    ///   - versions: the versions of the store's model, oldest first; empty without a model.
    package init(history runs: [StoreRun], store: String, now: String, versions: [String] = []) {
        self.init(title: store)
        for name in versions {
            boxes.append(Box(name, kind: nil, mark: name == now ? .renamed : .none, group: "versions"))
        }
        for place in boxes.indices.dropFirst() { links.append(Link(from: place - 1, to: place, kind: .flow)) }
        let start = boxes.count
        for run in runs {
            let mark: Mark = run.result == .done || run.result == .recovered ? .added : .removed
            var lines = [Line("\(run.from) → \(run.to)")]
            lines.append(
                Line("\(run.result.rawValue), \(Quantity.count(run.rows, "row")), \(Quantity.duration(run.seconds))"))
            if let backup = run.backup { lines.append(Line("backup \(backup)")) }
            if let error = run.error { lines.append(Line(error, .removed)) }
            lines += run.losses.prefix(4).map { Line($0.sentence, .changed) }
            boxes.append(Box("\(run.startTime) \(run.operation.rawValue)", lines: lines, mark: mark, group: "runs"))
        }
        boxes.append(Box("now", lines: [Line(now.isEmpty ? "of an unknown version" : now)], group: "runs"))
        for place in boxes.indices.dropFirst(start + 1) { links.append(Link(from: place - 1, to: place, kind: .flow)) }
    }

    /// Creates a picture of the tables of a store that contains no model.
    package init(tablesOf path: String, choice: EntityChoice) throws {
        self = try ReadOnlyStore.read(path) { probe in
            try Diagram(tables: StoreContents(probe, in: nil), title: path, choice: choice)
        }
    }

    /// Creates a picture of the differences between two versions.
    ///
    /// - Throws: `usage` for an answer that matches no question.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers, choice: EntityChoice,
        showsUnchanged: Bool = false
    ) throws {
        let difference = try ModelDiff(from: older, to: newer, answers: answers)
        try self.init(from: older, to: newer, difference, choice: choice, showsUnchanged: showsUnchanged)
    }

    /// Creates a picture of a migration's plan.
    package init(planOf session: StoreSession) {
        let plan = session.prepared.plan
        // A plan counts the rows of what it changes.
        let versions = ModelVersions(versions: [plan.from])
        let all = try? StoreInspection(of: session.prepared.store, in: versions).rowCounts
        self.init(plan, rows: (all ?? [:]).merging(session.prepared.bound?.rowCounts ?? [:]) { $1 })
    }

    /// Creates a picture of a store's history.
    package init(historyOf keeper: StoreKeeper, _ versions: ModelVersions?) throws {
        self.init(
            history: try keeper.runs().runs, store: keeper.store, now: keeper.knownVersionName(of: keeper.store),
            versions: versions?.versions.map(\.name) ?? [])
    }
}
