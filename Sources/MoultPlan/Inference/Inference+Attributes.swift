import MoultModel

extension Inference {
    /// Returns the source of an attribute's values, in the objects of one entity.
    mutating func source(of attribute: AttributeDescription, in pair: Correspondence.Pair) -> AttributeSource {
        let place = Place(attribute.name, in: pair.destination)
        let answer = correspondence.answers.property(attribute.name, declaredBy: place.entity)
        guard let name = correspondence.source(of: attribute.name, in: pair.destination.name),
            let old = pair.source.attributes[name], old.isStored
        else { return startAnew(attribute, at: place, in: pair) }
        if isWayBack, old.type != attribute.type, !old.type.widens(to: attribute.type) {
            // A number may have an equal one of the older type; of other types nothing is the same.
            return attribute.type.isNumber && old.type.isNumber
                ? .expression(.keyPath(name, of: .variable("source"))) : startAnew(attribute, at: place, in: pair)
        }
        if old.type != attribute.type, !keepsValues(of: old, in: attribute, at: place, answer: answer) {
            return startAnew(attribute, at: place, in: pair)
        }
        guard old.isOptional, !attribute.isOptional else { return .attribute(name, ifNil: nil) }
        return .attribute(name, ifNil: firstValue(of: attribute, at: place, in: pair))
    }

    /// Returns the value for an object without a value: the default value, otherwise what an answer gives.
    private mutating func firstValue(
        of attribute: AttributeDescription, at place: Place, in pair: Correspondence.Pair
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

    /// A new attribute: its default in every object, whether optional or not, or nil.
    private mutating func startAnew(
        _ attribute: AttributeDescription, at place: Place, in pair: Correspondence.Pair
    ) -> AttributeSource {
        .constant(firstValue(of: attribute, at: place, in: pair))
    }

    /// An abstract entity has no objects that could miss a value.
    private mutating func refuseMissingDefault(
        _ attribute: AttributeDescription, at place: Place, in pair: Correspondence.Pair
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

    /// A wider type keeps every value, as Core Data infers it. Any other change of type is never silent: an answer says
    /// that the values are dropped.
    private mutating func keepsValues(
        of old: AttributeDescription, in new: AttributeDescription, at place: Place, answer: Answer?
    ) -> Bool {
        if let answer { use(answer) }
        let isWider = old.type.widens(to: new.type)
        switch answer?.is {
        case .drop: return false
        case _ where isWider: return true
        case .keep, .rename:
            refuse(
                .typeNotConvertible, place.description,
                "\(old.type.name) does not convert to \(new.type.name) for every value of \(place).",
                remedy: answer?.is == .keep
                    ? "Answer drop, or keep the old attribute and fill a new one in a custom stage."
                    : "Answer new, which drops the values of \(old.name), or fill it in a custom stage.")
        case .new, .value, nil:
            ask(
                place.conversion(
                    "\(place) changes its type from \(old.type.name) to \(new.type.name).", old: old.name,
                    evidence:
                        "not every \(old.type.name) is a \(new.type.name): keep needs a mapping or a custom stage",
                    in: correspondence))
        }
        return true
    }
}

/// A property by the entity that declares it.
struct Place: CustomStringConvertible {
    var entity: String
    var property: String

    init(_ property: String, in entity: ResolvedEntity) {
        self.entity = entity.declaringEntity(of: property)
        self.property = property
    }

    var description: String { "\(entity).\(property)" }

    /// The question whether values that cannot be kept may go.
    func conversion(
        _ sentence: String, old: String, evidence: String, isOfLinks: Bool = false, in correspondence: Correspondence
    ) -> Question {
        Question(
            kind: .conversion, from: correspondence.from, to: correspondence.to, entity: entity, property: property,
            sentence: "\(sentence) Drop its values?", candidates: [.init(name: old, evidence: [evidence])],
            answers: [
                Answer(from: correspondence.from, to: correspondence.to, entity: entity, property: property, is: .drop)
            ], isOfLinks: isOfLinks)
    }
}
