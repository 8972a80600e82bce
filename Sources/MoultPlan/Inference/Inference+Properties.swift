import MoultBasics
import MoultModel

extension Inference {
    /// Returns the source of an attribute's values, in the objects of one entity.
    mutating func source(of attribute: AttributeDescription, in pair: EntityMatching.Pair) -> AttributeSource {
        let place = Place(attribute.name, in: pair.destination)
        let answer = correspondence.answers.property(attribute.name, declaredBy: place.entity)
        guard let name = correspondence.source(of: attribute.name, in: pair.destination.name),
            let old = pair.source.attributes[name], old.isStored
        else { return startAnew(attribute, at: place, in: pair) }
        if isWayBack, old.type != attribute.type, !old.type.widens(to: attribute.type) {
            // A number may have an equal value of the older type; no other type does.
            return attribute.type.isNumber && old.type.isNumber
                ? .expression(.keyPath(name, of: .variable("source"))) : startAnew(attribute, at: place, in: pair)
        }
        if old.type != attribute.type, !keepsValues(of: old, in: attribute, at: place, answer: answer) {
            return startAnew(attribute, at: place, in: pair)
        }
        guard old.isOptional, !attribute.isOptional else { return .attribute(name, ifNil: nil) }
        return .attribute(name, ifNil: firstValue(of: attribute, at: place, in: pair))
    }

    /// Returns the value for an object without one: the default value, or else the value from an answer.
    private mutating func firstValue(
        of attribute: AttributeDescription, at place: Place, in pair: EntityMatching.Pair
    ) -> AttributeValue? {
        if attribute.isOptional || attribute.defaultValue != nil { return attribute.defaultValue }
        guard let answer = correspondence.answers.property(attribute.name, declaredBy: place.entity),
            answer.is == .value
        else {
            refuseMissingDefault(attribute, at: place, in: pair)
            return nil
        }
        use(answer)
        guard let value = answer.value(for: attribute) else {
            refuse(
                .requiredWithoutDefault, place.description,
                "The answer gives \(place) a value that is not of type \(attribute.type.name).",
                remedy: "Answer with a value of that type.")
            return nil
        }
        return value
    }

    /// Returns the source of a new attribute: its default value in every object, whether or not it is optional, or nil.
    private mutating func startAnew(
        _ attribute: AttributeDescription, at place: Place, in pair: EntityMatching.Pair
    ) -> AttributeSource {
        .constant(firstValue(of: attribute, at: place, in: pair))
    }

    /// Refuses a required attribute without a default, unless the entity is abstract and so has no objects.
    private mutating func refuseMissingDefault(
        _ attribute: AttributeDescription, at place: Place, in pair: EntityMatching.Pair
    ) {
        guard !pair.source.description.isAbstract else { return }
        let name = correspondence.source(of: attribute.name, in: pair.destination.name)
        let wasOptional = name.flatMap { pair.source.attributes[$0] }?.isStored == true
        refuse(
            .requiredWithoutDefault, place.description,
            wasOptional
                ? "\(place) becomes required and has no default value for the objects that have none."
                : "\(place) is required and has no default value for the existing objects.",
            remedy: "Give it a default value or make it optional.",
            detail: DefaultExample.detail(of: attribute, at: place.description))
    }

    /// Returns whether the values are kept. A wider type keeps every value, as in Core Data's own inference. Any other
    /// change of type needs an answer that drops the values.
    private mutating func keepsValues(
        of old: AttributeDescription, in new: AttributeDescription, at place: Place, answer: Answer?
    ) -> Bool {
        if let answer { use(answer) }
        let isWider = old.type.widens(to: new.type)
        let isToText = old.type.isNumber && new.type == .string
        let doubt =
            isToText
            ? "Core Data does not convert numbers to text"
            : "not every \(old.type.name) is \(new.type.name.withArticle)"
        switch answer?.is {
        case .drop: return false
        case _ where isWider: return true
        case .keep, .rename:
            refuse(
                .typeNotConvertible, place.description,
                isToText
                    ? "\(place) changes from \(old.type.name) to \(new.type.name): \(doubt)."
                    : "\(old.type.name) does not convert to \(new.type.name) for every value of \(place).",
                remedy: answer?.is == .keep
                    ? "Answer drop, or keep the old attribute and fill a new one in a custom stage."
                    : "Answer new, which drops the values of \(old.name), or fill it in a custom stage.")
        case .new, .value, nil:
            ask(
                place.conversion(
                    "\(place) changes its type from \(old.type.name) to \(new.type.name).", old: old.name,
                    evidence:
                        "\(doubt): keep needs a mapping or a custom stage",
                    in: correspondence))
        }
        return true
    }
}

/// The identity of a property: its name and the entity that declares it.
struct Place: CustomStringConvertible {
    var entity: String
    var property: String

    init(_ property: String, in entity: ResolvedEntity) {
        self.entity = entity.declaringEntity(of: property)
        self.property = property
    }

    var description: String { "\(entity).\(property)" }

    /// Returns the question whether to drop values that cannot be kept.
    func conversion(
        _ sentence: String, old: String, evidence: String, isOfLinks: Bool = false, in correspondence: EntityMatching
    ) -> Question {
        Question(
            kind: .conversion, from: correspondence.from, to: correspondence.to, entity: entity, property: property,
            sentence: "\(sentence) Drop its values?", candidates: [.init(name: old, evidence: [evidence])],
            answers: [
                Answer(from: correspondence.from, to: correspondence.to, entity: entity, property: property, is: .drop)
            ], isOfLinks: isOfLinks)
    }
}

extension AttributeType {
    /// The next wider types, which hold every value of this one exactly.
    ///
    /// A Float's 24 bits hold an Integer 16, a Double's 53 bits an Integer 32, and only a Decimal's 38 digits an
    /// Integer 64. A Double has no exact Decimal of 38 digits. A Boolean is 0 or 1.
    private var nextWider: [AttributeType] {
        switch self {
        case .boolean: [.integer16]
        case .integer16: [.integer32, .float]
        case .integer32: [.integer64, .double]
        case .integer64: [.decimal]
        case .float: [.double]
        default: []
        }
    }

    /// Whether every value of this type has exactly one equal value of the other, so that nothing is lost. A type does
    /// not widen to itself. The relation is transitive.
    package func widens(to other: AttributeType) -> Bool { nextWider.contains { $0 == other || $0.widens(to: other) } }

    private static let numbers: Set<AttributeType> = [
        .boolean, .integer16, .integer32, .integer64, .decimal, .double, .float,
    ]
    package var isNumber: Bool { Self.numbers.contains(self) }

    /// Whether some values of this type have an equal value of the other, such as a text that is a number, or a number
    /// without a fraction.
    package func converts(to other: AttributeType) -> Bool {
        let numbers = Self.numbers
        let texts: Set<AttributeType> = [.string, .uri, .uuid]
        switch self {
        case _ where numbers.contains(self): return numbers.contains(other) || [.string, .date].contains(other)
        case .string: return numbers.union(texts).union([.date, .binary]).contains(other)
        case .uri: return texts.subtracting([.uuid]).contains(other)
        case .uuid: return [.uuid, .string, .binary].contains(other)
        case .date: return numbers.union([.date, .string]).contains(other)
        case .binary: return [.binary, .uuid].contains(other)
        default: return self == other
        }
    }
}

extension AttributeValue {
    /// Returns the equal value of a wider type, or the value itself if no conversion is needed.
    package func widened(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.boolean(let value), _) where type != .boolean:
            AttributeValue.integer(value ? 1 : 0).widened(to: type)
        case (.integer(let value), .float), (.integer(let value), .double): .double(Double(value))
        case (.integer(let value), .decimal): .decimal(String(value))
        default: self
        }
    }
}

extension Inference {
    /// Returns the source of a relationship's destinations, in the objects of one entity.
    mutating func source(of relationship: RelationshipDescription, in pair: EntityMatching.Pair) -> RelationshipSource {
        let place = Place(relationship.name, in: pair.destination)
        let answer = correspondence.answers.property(relationship.name, declaredBy: place.entity)
        let name = correspondence.source(of: relationship.name, in: pair.destination.name)
        guard let name, let old = pair.source.relationships[name], !old.isTransient else { return .empty }
        let destinations = destinations(of: old)
        if destinations.isEmpty, correspondence.entitySources[relationship.destinationEntityName] != nil {
            return .empty
        }
        if isWayBack || destinations.allSatisfy({ $0.isKind(of: relationship.destinationEntityName) }) {
            return .relationship(name)
        }
        if let answer { use(answer) }
        switch answer?.is {
        case .drop: return .empty
        case .keep, .rename:
            refuse(
                .destinationNotConvertible, place.description,
                "Not every \(old.destinationEntityName) is \(relationship.destinationEntityName.withArticle) for \(place).",
                remedy: "Answer \(answer?.is == .keep ? "drop" : "new"), or add a new relationship and fill it in a "
                    + "custom stage.")
        case .new, .value, nil: askAboutDestination(old, relationship, at: place)
        }
        return .relationship(name)
    }

    /// Returns the destination entities of the objects that a relationship can lead to, except removed ones.
    private func destinations(of old: RelationshipDescription) -> [ResolvedEntity] {
        correspondence.source.family(of: old.destinationEntityName).compactMap {
            correspondence.entityDestinations[$0].flatMap { correspondence.destination[$0] }
        }
    }

    private mutating func askAboutDestination(
        _ old: RelationshipDescription, _ new: RelationshipDescription, at place: Place
    ) {
        ask(
            place.conversion(
                "\(place) changes its destination from \(old.destinationEntityName) to "
                    + "\(new.destinationEntityName).",
                old: old.name,
                evidence: "not every \(old.destinationEntityName) becomes "
                    + "\(new.destinationEntityName.withArticle): keep needs a mapping or a custom stage",
                isOfLinks: true, in: correspondence))
    }

    /// Refuses new relationships that may not be empty, unless their inverse fills them. A relationship has no default.
    mutating func refuseUnfilledRelationships() {
        for name in correspondence.destination.names where !correspondence.kept.contains(name) {
            guard let pair = correspondence.pair(name), !pair.source.description.isAbstract else { continue }
            let required = correspondence.destination.model.relationships(of: pair.destination.description).filter {
                !$0.mayBeEmpty && !$0.isTransient
            }
            for relationship in required where oldRelationship(relationship.name, of: name) == nil {
                if let inverse = relationship.inverseName,
                    oldRelationship(inverse, of: relationship.destinationEntityName) != nil
                {
                    continue
                }
                let place = Place(relationship.name, in: pair.destination).description
                refuse(
                    .requiredRelationship, place,
                    relationship.isToMany
                        ? "\(place) is new and needs \(Quantity.count(relationship.minCount, "destination")) or more, and a relationship "
                            + "has no default value."
                        : "\(place) is required and new, and a relationship has no default value.",
                    remedy: relationship.isToMany
                        ? "Make it optional, set its minimum count to 0, or fill it in a custom stage."
                        : "Make it optional, or fill it in a custom stage.")
            }
        }
    }

    /// Returns the source relationship of a destination relationship in the mapping made so far.
    private func oldRelationship(_ name: String, of entity: String) -> String? {
        guard case .relationship(let old)? = known(entity)?.relationships[name] else { return nil }
        return old
    }

    /// Refuses relationships whose two ends would come from two different links.
    mutating func refuseDisagreeingInverses() {
        for name in correspondence.destination.names where !correspondence.kept.contains(name) {
            guard let pair = correspondence.pair(name) else { continue }
            for relationship in pair.destination.description.relationships {
                guard let inverse = relationship.inverseName,
                    let old = oldRelationship(relationship.name, of: name),
                    let oldInverse = oldRelationship(inverse, of: relationship.destinationEntityName),
                    pair.source.relationships[old]?.inverseName != oldInverse
                else { continue }
                let places = ["\(name).\(relationship.name)", "\(relationship.destinationEntityName).\(inverse)"]
                let ordered = places.inByteOrder()
                refuse(
                    .inversesDisagree, ordered[0],
                    "\(ordered[0]) and \(ordered[1]) become each other's inverse and were not before.",
                    remedy: "Give one of them a new name, so that it starts empty and the other fills it.",
                    detail: "If Moult asks whether it was renamed, answer that it is new.")
            }
        }
    }

    /// Refuses merged hierarchies ("You can't merge entity hierarchies"). Several hierarchies may share a root only if
    /// it is the root of one of them, whose objects keep their keys. The objects of the others get new keys.
    mutating func refuseMergedHierarchies(_ mapping: ResolvedMapping) {
        let (source, destination) = (correspondence.source.model, correspondence.destination.model)
        for merged in mapping.mergedHierarchies(from: source, to: destination) {
            let former = correspondence.pair(merged.root)?.source.rootName
            if let former, merged.members.keys.contains(former) { continue }
            let names = merged.members.values.compactMap(\.first).inByteOrder()
            refuse(
                .hierarchiesMerged, merged.root,
                "\(names.joined(separator: " and ")) now have the common root \(merged.root), and had none before.",
                remedy: "Keep their hierarchies apart. Or add a version between the two that has the new hierarchy, "
                    + "under other names, next to the old entities; copy the objects in a custom stage to that "
                    + "version, and leave the old entities out of the one after it.")
        }
    }
}
