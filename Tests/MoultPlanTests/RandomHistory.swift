import MoultModel

@testable import MoultPlan

/// A model that somebody edits at random, version by version; every edge can be inferred, with answers at random.
struct RandomHistory {
    private(set) var versions: [ModelVersion] = []
    private(set) var correspondences: [EntityMatching] = []
    private(set) var mappings: [ResolvedMapping] = []
    private(set) var answers: [Answer] = []
    /// How often each kind of edit was made.
    private(set) var edits: [String: Int] = [:]

    init(edges: Int, using random: inout SeededGenerator) throws {
        var entities = Self.start
        var history = RenamingHistory()
        versions.append(ModelVersion(names: ["V0"], model: try ManagedObjectModel(entities: entities)))
        while mappings.count < edges {
            var edited = entities
            var names: [String] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) { names.append(Self.edit(&edited, using: &random)) }
            guard let model = try? ManagedObjectModel(entities: edited), Self.hasWholeInverses(model),
                let step = try step(to: model, history: history, using: &random)
            else { continue }
            versions.append(step.version)
            correspondences.append(step.correspondence)
            mappings.append(step.mapping)
            answers += step.answers
            history = history.advanced(along: step.correspondence)
            entities = edited
            for name in names { edits[name, default: 0] += 1 }
        }
    }

    /// A relationship that names an inverse which names none back is no model that Xcode would compile.
    private static func hasWholeInverses(_ model: ManagedObjectModel) -> Bool {
        model.entities.allSatisfy { entity in
            entity.relationships.allSatisfy { $0.inverseName == nil || model.inverse(of: $0)?.inverseName == $0.name }
        }
    }

    private struct Step {
        var version: ModelVersion
        var correspondence: EntityMatching
        var mapping: ResolvedMapping
        var answers: [Answer]
    }

    /// Infers the next edge, answering what is asked at random; nil where it cannot be inferred.
    private func step(
        to model: ManagedObjectModel, history: RenamingHistory, using random: inout SeededGenerator
    ) throws -> Step? {
        guard let last = versions.last else { return nil }
        let version = ModelVersion(names: ["V\(versions.count)"], model: model)
        var given: [Answer] = []
        for _ in 0..<20 {
            guard let answers = try? Answers(given) else { return nil }
            let correspondence = try EntityMatching(from: last, to: version, answers: answers, history: history)
            let inferred = try InferredMapping(correspondence)
            if let mapping = inferred.mapping {
                return Step(version: version, correspondence: correspondence, mapping: mapping, answers: given)
            }
            guard let answer = inferred.questions.first?.answers.randomElement(using: &random) else { return nil }
            given.append(answer)
        }
        return nil
    }
}

// MARK: - Edits

extension RandomHistory {
    private static let start = [
        entity(
            "A", [attribute("a"), attribute("b", .integer16, required: true, default: .integer(7))],
            [toMany("cs", "C", inverse: "as")]),
        entity("B", [attribute("x")], [toOne("owner", "C", inverse: "bs")], parent: "A"),
        entity(
            "C", [attribute("a"), attribute("c", .boolean)],
            [toMany("as", "A", inverse: "cs"), toMany("bs", "B", inverse: "owner", ordered: true)]),
        entity("D", [attribute("d", .integer32)], [toOne("any", "A")]),
    ]
    private static let names = ["a", "b", "c", "d", "e", "as", "bs", "cs", "owner", "any"]
    private static let entityNames = ["A", "B", "C", "D", "E", "F"]
    private static let types: [AttributeType] = [
        .string, .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal,
    ]

    private static func edit(_ entities: inout [EntityDescription], using random: inout SeededGenerator) -> String {
        guard let chosen = entities.indices.randomElement(using: &random) else {
            entities = start
            return "started over"
        }
        let edits: [(String, (inout [EntityDescription], Int, inout SeededGenerator) -> Void)] = [
            ("attribute added", addAttribute), ("attribute removed", removeAttribute),
            ("attribute renamed", renameAttribute), ("attribute changed", changeAttribute),
            ("attribute moved", moveAttribute), ("entity added", addEntity), ("entity removed", removeEntity),
            ("entity renamed", renameEntity), ("parent changed", changeParent), ("link added", addLink),
            ("link removed", removeLink), ("link renamed", renameLink), ("link changed", changeLink),
            ("link changed", changeLink),
        ]
        guard let edit = edits.randomElement(using: &random) else { return "none" }
        edit.1(&entities, chosen, &random)
        return edit.0
    }

    private static func newAttribute(_ name: String, using random: inout SeededGenerator) -> AttributeDescription {
        let type = types.randomElement(using: &random) ?? .string
        var new = attribute(name, type, required: Bool.random(using: &random))
        if Bool.random(using: &random) || !new.isOptional { new.defaultValue = standard(type) }
        if Int.random(in: 0..<12, using: &random) == 0 { new.derivation = .init(expression: "now()") }
        return new
    }

    private static func standard(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .boolean: .boolean(true)
        case .integer16, .integer32, .integer64: .integer(42)
        case .float, .double: .double(4.25)
        case .decimal: .decimal("42")
        default: .string("standard")
        }
    }

    private static func addAttribute(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        entities[chosen].attributes.append(newAttribute(names.randomElement(using: &random) ?? "a", using: &random))
    }

    private static func removeAttribute(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].attributes.indices.randomElement(using: &random) else { return }
        entities[chosen].attributes.remove(at: position)
    }

    private static func renameAttribute(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].attributes.indices.randomElement(using: &random) else { return }
        let old = entities[chosen].attributes[position]
        let name = names.randomElement(using: &random) ?? "a"
        entities[chosen].attributes[position].name = name
        // Canonical, previous name, or none at all.
        entities[chosen].attributes[position].renamingIdentifier =
            [old.renamingIdentifier ?? old.name, old.name, nil].randomElement(using: &random) ?? nil
    }

    private static func changeAttribute(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].attributes.indices.randomElement(using: &random) else { return }
        let old = entities[chosen].attributes[position]
        var new = newAttribute(old.name, using: &random)
        if Bool.random(using: &random) { new.type = old.type }
        new.defaultValue = new.defaultValue == nil ? nil : standard(new.type)
        new.renamingIdentifier = old.renamingIdentifier
        entities[chosen].attributes[position] = new
    }

    private static func moveAttribute(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].attributes.indices.randomElement(using: &random) else { return }
        let goal =
            entities.firstIndex { $0.name == entities[chosen].superentityName }
            ?? entities.firstIndex { $0.superentityName == entities[chosen].name }
        guard let goal else { return }
        entities[goal].attributes.append(entities[chosen].attributes.remove(at: position))
    }

    private static func addEntity(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        let parent = Bool.random(using: &random) ? entities[chosen].name : nil
        entities.append(
            entity(
                entityNames.randomElement(using: &random) ?? "E", [newAttribute("e", using: &random)], parent: parent))
    }

    private static func removeEntity(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        let removed = entities.remove(at: chosen)
        for position in entities.indices {
            if entities[position].superentityName == removed.name {
                entities[position].superentityName = removed.superentityName
            }
            entities[position].relationships.removeAll { $0.destinationEntityName == removed.name }
            for link in entities[position].relationships.indices {
                let inverse = entities[position].relationships[link].inverseName
                if removed.relationships.contains(where: { $0.name == inverse }) {
                    entities[position].relationships[link].inverseName = nil
                }
            }
        }
    }

    private static func renameEntity(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        let old = entities[chosen]
        let name = entityNames.randomElement(using: &random) ?? "E"
        entities[chosen].name = name
        entities[chosen].renamingIdentifier =
            [old.renamingIdentifier ?? old.name, old.name, nil].randomElement(using: &random) ?? nil
        for position in entities.indices {
            if entities[position].superentityName == old.name { entities[position].superentityName = name }
            for link in entities[position].relationships.indices
            where entities[position].relationships[link].destinationEntityName == old.name {
                entities[position].relationships[link].destinationEntityName = name
            }
        }
    }

    private static func changeParent(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        entities[chosen].superentityName = entities.randomElement(using: &random)?.name
        if Bool.random(using: &random) { entities[chosen].superentityName = nil }
    }

    private static func addLink(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let other = entities.indices.randomElement(using: &random) else { return }
        let name = names.randomElement(using: &random) ?? "a"
        let inverse = names.randomElement(using: &random) ?? "b"
        let hasInverse = other != chosen && Bool.random(using: &random)
        entities[chosen].relationships.append(
            Bool.random(using: &random)
                ? toOne(name, entities[other].name, inverse: hasInverse ? inverse : nil)
                : toMany(name, entities[other].name, inverse: hasInverse ? inverse : nil))
        guard hasInverse else { return }
        entities[other].relationships.append(
            Bool.random(using: &random)
                ? toOne(inverse, entities[chosen].name, inverse: name)
                : toMany(inverse, entities[chosen].name, inverse: name))
    }

    private static func removeLink(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].relationships.indices.randomElement(using: &random) else { return }
        let removed = entities[chosen].relationships.remove(at: position)
        forEachInverse(of: removed, in: &entities) { $0.inverseName = nil }
    }

    private static func renameLink(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].relationships.indices.randomElement(using: &random) else { return }
        let old = entities[chosen].relationships[position]
        let name = names.randomElement(using: &random) ?? "a"
        forEachInverse(of: old, in: &entities) { $0.inverseName = name }
        entities[chosen].relationships[position].name = name
        entities[chosen].relationships[position].renamingIdentifier =
            [old.renamingIdentifier ?? old.name, old.name, nil].randomElement(using: &random) ?? nil
    }

    /// One cardinality at a time: where two ends narrow at once, it would matter which goes first.
    private static func changeLink(
        _ entities: inout [EntityDescription], _ chosen: Int, _ random: inout SeededGenerator
    ) {
        guard let position = entities[chosen].relationships.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            entities[chosen].relationships[position].isOrdered =
                entities[chosen].relationships[position].isToMany
                && !entities[chosen].relationships[position].isOrdered
        case 1:
            let old = entities[chosen].relationships[position]
            forEachInverse(of: old, in: &entities) { $0.inverseName = nil }
            entities[chosen].relationships[position].inverseName = nil
        case 2:
            let parent = entities.first { $0.name == entities[chosen].relationships[position].destinationEntityName }?
                .superentityName
            if let parent, entities[chosen].relationships[position].inverseName == nil {
                entities[chosen].relationships[position].destinationEntityName = parent
            }
        default:
            let isToMany = entities[chosen].relationships[position].isToMany
            entities[chosen].relationships[position].maxCount = isToMany ? 1 : 0
            if isToMany { entities[chosen].relationships[position].isOrdered = false }
        }
    }

    private static func forEachInverse(
        of relationship: RelationshipDescription, in entities: inout [EntityDescription],
        _ change: (inout RelationshipDescription) -> Void
    ) {
        for position in entities.indices {
            for link in entities[position].relationships.indices
            where entities[position].relationships[link].name == relationship.inverseName
                && entities[position].relationships[link].inverseName == relationship.name
            {
                change(&entities[position].relationships[link])
            }
        }
    }
}
