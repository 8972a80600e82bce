import MoultModel
import MoultObjects
import MoultPlan

/// A mapping model on one edge of a history: what inference would do, with some attributes computed another way and
/// now and then a policy.
struct HistoryMapping: Codable, Sendable {
    /// The position of the newer version.
    let position: Int
    private(set) var changes: [Change] = []
    private(set) var policy: Policy?

    /// How one attribute of the objects of exactly one entity is computed.
    struct Change: Codable, Sendable {
        let entity: Int
        /// The newer version's attribute.
        let attribute: HistoryModel.Attribute
        /// The older version's attributes.
        let sources: [HistoryModel.Attribute]
        let means: Means
        /// The to-one of the older version that leads to the source.
        var link: Step?

        var name: String { attribute.description.name }
        var type: AttributeType { attribute.description.type }
    }

    enum Means: String, Codable, CaseIterable, Sendable {
        case closure, other, fallback, reached, arithmetic, upper, text, converted
    }

    /// What values without an equal in their new type make of a migration.
    enum Conflict: Comparable, Sendable { case none, mayRefuse, mustRefuse }

    /// One end of a link.
    struct Step: Codable, Sendable {
        let link: Int
        let isForward: Bool
        let name: String
    }

    /// - Parameter models: those of all versions up to the newer one.
    init(position: Int, _ models: [HistoryModel], using random: inout HistoryRandom) {
        self.position = position
        let (old, new) = (models[position - 1], models[position])
        for entity in new.entities where !entity.isAbstract && old.entity(entity.id)?.isAbstract == false {
            for attribute in new.lineage(entity.id).flatMap(\.attributes)
            where !attribute.isDistinct && attribute.description.compositePath == nil {
                var change = Change(keeping: attribute, entity.id, old, &random)
                // Most ways need a type or a source that is not always there.
                if change == nil, Int.random(in: 0..<3, using: &random) == 0 {
                    for _ in 0..<4 where change == nil { change = Change(of: attribute, entity.id, old, &random) }
                }
                // A value that has no equal may stand in the way for good.
                if change?.means == .converted, changes.contains(where: { $0.means == .converted }) { change = nil }
                if let change { changes.append(change) }
            }
        }
        if Int.random(in: 0..<3, using: &random) == 0 { policy = Policy(models, &random) }
    }

    /// What it computes, for whoever looks into a difference.
    func description(to model: HistoryModel) -> String {
        func place(_ change: Change) -> String {
            "\(model.entity(change.entity)?.name ?? "?").\(change.name) by \(change.means.rawValue) of "
                + ([change.link?.name].compactMap(\.self) + change.sources.map(\.description.name)).joined(
                    separator: ", ")
        }
        let dropping = policy.map {
            let words = $0.splits == true ? "drops and splits" : "drops"
            return ["a policy \(words) \(model.entity($0.entity)?.name ?? "?") \($0.remainder) of 3"]
                + ($0.change.map { [place($0)] } ?? [])
        }
        return "[" + (changes.map(place) + (dropping ?? [])).joined(separator: "; ") + "]"
    }

    /// The code's names, as errors tell them.
    var policyName: String { "Policy to V\(position + 1)" }
}

extension HistoryMapping.Change {
    /// The value of an attribute that has changed its type, as the equal of the new type; nil for another attribute,
    /// and now and then.
    fileprivate init?(
        keeping attribute: HistoryModel.Attribute, _ entity: Int, _ old: HistoryModel, _ random: inout HistoryRandom
    ) {
        guard let source = old.attribute(attribute.description.name, of: entity), attribute.description.isOptional,
            HistoryValues.converts(source.description.type, to: attribute.description.type),
            Bool.random(using: &random)
        else { return nil }
        self.init(entity: entity, attribute: attribute, sources: [source], means: .converted)
    }

    /// Some way to compute the attribute that its type allows; nil where the one that was picked does not.
    fileprivate init?(
        of attribute: HistoryModel.Attribute, _ entity: Int, _ old: HistoryModel, _ random: inout HistoryRandom
    ) {
        let (type, isOptional) = (attribute.description.type, attribute.description.isOptional)
        guard type != .transformable, let means = HistoryMapping.Means.allCases.randomElement(using: &random) else {
            return nil
        }
        let attributes = old.lineage(entity).flatMap(\.attributes)
        func some(_ isFit: (AttributeType) -> Bool, of list: [HistoryModel.Attribute]? = nil) -> HistoryModel
            .Attribute?
        { (list ?? attributes).filter { isFit($0.description.type) }.randomElement(using: &random) }
        let integers: Set<AttributeType> = [.integer16, .integer32]
        var (sources, link) = ([HistoryModel.Attribute](), HistoryMapping.Step?.none)
        switch means {
        case .closure: sources = Array(attributes.shuffled(using: &random).prefix(.random(in: 1...3, using: &random)))
        case .other where isOptional, .fallback: sources = some { $0 == type }.map { [$0] } ?? []
        case .reached where isOptional:
            guard let step = old.toOnes(of: entity).randomElement(using: &random) else { return nil }
            link = step.step
            sources = some({ $0 == type }, of: old.lineage(step.entity).flatMap(\.attributes)).map { [$0] } ?? []
        case .arithmetic where isOptional && type == .integer64: sources = some(integers.contains).map { [$0] } ?? []
        case .upper where isOptional && type == .string: sources = some { $0 == .string }.map { [$0] } ?? []
        case .text where isOptional && type == .string: sources = some(integers.contains).map { [$0] } ?? []
        case .converted where isOptional:
            sources = some { HistoryValues.converts($0, to: type) }.map { [$0] } ?? []
        default: return nil
        }
        guard !sources.isEmpty, means != .fallback || HistoryValues.standard(type) != nil else { return nil }
        self.init(entity: entity, attribute: attribute, sources: sources, means: means, link: link)
    }

    /// In Moult's words.
    fileprivate var mapping: PropertyMapping {
        get throws {
            let source = sources[0].description.name
            switch means {
            case .closure:
                return PropertyMapping(
                    name, from: sources.map(\.description.name),
                    ValueTransform("\(name)Of\(entity)") { value(of: $0.map(HistoryValues.text)) })
            case .other, .text, .converted: return PropertyMapping(name, .source(source))
            case .fallback:
                let isNil = Predicate.comparison(.init(.source(source), .equal, .constant(.null)))
                let standard = HistoryValues.standard(type).map(ExpressionValue.init) ?? .null
                return PropertyMapping(name, .conditional(isNil, .constant(standard), .source(source)))
            case .reached: return PropertyMapping(name, .source("\(link?.name ?? "").\(source)"))
            case .arithmetic: return try PropertyMapping(name, "$source.\(source) * 3 + 1")
            case .upper: return try PropertyMapping(name, "uppercase:($source.\(source))")
            }
        }
    }

    /// What the closure gives for values as the witness prints them.
    func value(of texts: [String]) -> AttributeValue? {
        if attribute.description.isOptional, texts.allSatisfy({ $0 == "-" }) { return nil }
        return HistoryValues.digest(texts, as: type)
    }

    /// The text of the attribute, from those of its sources: the slow and obvious meaning.
    ///
    /// - Parameter standard: the default value that the attribute has now.
    func text(of texts: [String], standard: AttributeValue?) -> String {
        let text = texts.first ?? "-"
        let number = Int64(text.dropFirst(2))
        switch means {
        case .closure: return HistoryValues.text(value(of: texts))
        case .other, .reached: return text
        case .fallback: return text == "-" ? HistoryValues.text(HistoryValues.standard(type)) : text
        case .arithmetic: return number.map { "i:\($0 * 3 + 1)" } ?? "-"
        case .text: return number.map { HistoryValues.text(.string("\($0)")) } ?? "-"
        case .upper: return HistoryValues.uppercased(text)
        case .converted:
            return text == "-" ? text : HistoryValues.converted(text, to: type) ?? HistoryValues.text(standard)
        }
    }
}

extension HistoryModel {
    /// The to-ones that objects of the entity have, each with the entity that it leads to.
    fileprivate func toOnes(of id: Int) -> [(step: HistoryMapping.Step, entity: Int)] {
        let members = Set(lineage(id).map(\.id))
        return links.flatMap { link -> [(step: HistoryMapping.Step, entity: Int)] in
            var found: [(step: HistoryMapping.Step, entity: Int)] = []
            if !link.end.isToMany, members.contains(link.end.entity) {
                let step = HistoryMapping.Step(link: link.id, isForward: true, name: link.end.name)
                found.append((step, link.inverse?.entity ?? link.destination))
            }
            if let inverse = link.inverse, !inverse.isToMany, members.contains(inverse.entity) {
                let step = HistoryMapping.Step(link: link.id, isForward: false, name: inverse.name)
                found.append((step, link.end.entity))
            }
            return found
        }
    }
}

// MARK: - In Moult's words

extension HistoryMapping {
    func register(
        in registry: inout MigrationRegistry, inferred: ResolvedMapping, from old: HistoryModel, to new: HistoryModel
    ) throws {
        var mapping = try MappingModel(inferred, from: old.model(), to: new.model())
        for change in changes {
            guard let place = mapping.position(of: change.entity, from: old, to: new) else { continue }
            mapping.entityMappings[place].attributeMappings.removeAll { $0.name == change.name }
            mapping.entityMappings[place].attributeMappings.append(try change.mapping)
        }
        if let policy, let place = mapping.position(of: policy.entity, from: old, to: new) {
            mapping.entityMappings[place].entityMigrationPolicyClassName = policyName
            mapping.entityMappings[place].type = .custom
            let names = Dictionary(
                mapping.entityMappings.map { ($0.sourceEntityName ?? "", $0.name) },
                uniquingKeysWith: { first, _ in first })
            registry.register(policy: { HistoryPolicy(policy, mappings: names) }, named: policyName)
        }
        registry.register(mapping: mapping, from: "V\(position)", to: "V\(position + 1)")
    }
}

extension MappingModel {
    fileprivate func position(of entity: Int, from old: HistoryModel, to new: HistoryModel) -> Int? {
        entityMappings.firstIndex {
            $0.sourceEntityName == old.entity(entity)?.name && $0.destinationEntityName == new.entity(entity)?.name
        }
    }
}

// MARK: - The slow and obvious meaning

extension HistoryMapping {
    /// Whether it computes a value in place of one that an object has.
    func overwrites(_ world: HistoryWorld) -> Bool {
        (changes + (policy?.change.map { [$0] } ?? [])).contains { change in
            world.objects.values.contains {
                $0.entity == change.entity && $0.values[change.attribute.id] ?? "-" != "-"
            }
        }
    }
}

extension HistoryWorld {
    /// What the mapping to a model makes of this world beside what inference makes: `next`.
    func changed(by mapping: HistoryMapping?, into next: HistoryWorld, of model: HistoryModel) -> HistoryWorld {
        guard let mapping else { return next }
        var next = next
        for change in mapping.changes + (mapping.policy?.change.map { [$0] } ?? []) {
            let known = model.lineage(change.entity).flatMap(\.attributes).first { $0.id == change.attribute.id }
            for (number, object) in objects where object.entity == change.entity {
                let owner = change.link.map { step in
                    let pairs = pairs[step.link]
                    return (step.isForward ? pairs?.forward[number] : pairs?.backward[number])?.first
                }
                let holder = change.link == nil ? object : (owner ?? nil).flatMap { objects[$0] }
                let found = change.sources.map { holder?.values[$0.id] ?? "-" }
                let texts = change.means == .closure ? found.map(HistoryValues.asRead) : found
                let text = change.text(of: texts, standard: known?.description.defaultValue)
                next.set(text, for: change.attribute.id, of: number)
            }
        }
        return next
    }

    /// What values without an equal in the type that the mapping gives them make of it. Where there is a default value,
    /// they become that; where a policy makes the objects, it may refuse them, or drop the object.
    func conflict(with mapping: HistoryMapping?) -> HistoryMapping.Conflict {
        guard let mapping else { return .none }
        var found = HistoryMapping.Conflict.none
        for change in mapping.changes where change.means == .converted {
            let policy = mapping.policy?.entity == change.entity ? mapping.policy : nil
            for object in objects.values where object.entity == change.entity {
                guard let text = object.values[change.sources[0].id], text != "-",
                    HistoryValues.converted(text, to: change.type) == nil
                else { continue }
                let isLeftOut = policy.map { $0.drops(Int64(object.key)) || $0.change?.name == change.name } ?? false
                if change.attribute.description.defaultValue == nil, !isLeftOut { return .mustRefuse }
                if policy != nil { found = .mayRefuse }
            }
        }
        return found
    }
}
