import MoultModel
import MoultPlan

extension Diagram {
    /// A plan as the way of each entity from version to version; the entities that nothing happens to are one box.
    ///
    /// - Parameter rows: the objects of each entity that the store has.
    package init(_ plan: MigrationPlan, rows: [String: Int64]) {
        self.init(title: plan.versionNames.joined(separator: " → "))
        let steps = plan.edges.map(EntityStep.all)
        let shown = Self.entities(of: plan, changedBy: steps)
        var places: [[String: Int]] = []
        for (number, version) in plan.versionNames.enumerated() {
            var own: [String: Int] = [:]
            let model = number == 0 ? plan.from.model : nil
            for name in shown[number].sorted(by: { $0.precedesInByteOrder($1) }) {
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

    /// For each version the entities on whose way something happens, before or behind.
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
