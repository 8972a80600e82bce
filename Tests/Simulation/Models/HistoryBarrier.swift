import MoultModel
import MoultPlan

/// A change of a model that no migration can follow by inference, each for a reason that the two models show.
enum HistoryBarrier: String, Codable, CaseIterable, Sendable {
    /// An attribute that every object must have, without a default value for those that are there.
    case requiredAttribute
    /// A destination that every object must have, which those that are there lack.
    case requiredLink
    /// A type in which not every value has an equal, without an answer for the others.
    case unasked
    /// The same, with the answer that all values are kept.
    case kept
    /// Two hierarchies of objects become one, whose root none of them had.
    case merged

    /// A version behind a barrier.
    struct Version {
        var model: HistoryModel
        /// What the refusal has to name, and its code.
        var place: String
        var code = "cannotInfer"
        /// The attribute that an answer keeps.
        var kept: String?
    }

    /// The name of a version behind a barrier, and of what is new there.
    static let name = "Barred"

    /// The version that cannot follow, with the barrier at an entity of the store; nil where it has no place for one.
    func version(after model: HistoryModel, at id: Int) -> Version? {
        guard let place = model.entities.firstIndex(where: { $0.id == id && !$0.isAbstract }) else { return nil }
        var next = model
        next.forgetIdentifiers()
        let (entity, new) = (model.entities[place], "\(model.entities[place].name).\(Self.name)")
        switch self {
        case .requiredAttribute:
            let attribute = AttributeDescription(name: Self.name, type: .integer32, isOptional: false)
            next.entities[place].attributes.append(.init(id: 0, description: attribute))
            return Version(model: next, place: new)
        case .requiredLink:
            next.links.append(
                .init(id: 0, end: .init(entity: id, name: Self.name, isRequired: true), destination: id))
            return Version(model: next, place: new)
        case .unasked, .kept:
            let position = entity.attributes.firstIndex {
                !$0.isDistinct && $0.description.compositePath == nil
                    && !HistoryValues.narrower($0.description.type).isEmpty
            }
            guard let position else { return nil }
            var attribute = next.entities[place].attributes[position].description
            attribute.type = HistoryValues.narrower(attribute.type)[0]
            (attribute.isOptional, attribute.defaultValue) = (true, nil)
            next.entities[place].attributes[position].description = attribute
            let old = "\(entity.name).\(attribute.name)"
            return self == .kept
                ? Version(model: next, place: old, kept: attribute.name)
                : Version(model: next, place: old, code: "question")
        case .merged:
            let part = next.held.entity(id) == nil ? next.rest : next.held
            let other = part.entities.first { $0.id != id && $0.parent == nil && !$0.isAbstract }?.id
            guard entity.parent == nil, let other,
                let second = next.entities.firstIndex(where: { $0.id == other })
            else { return nil }
            next.entities.append(.init(id: 0, name: Self.name))
            if next.isMarked(id), next.isMarked(other) { next.others?.append(0) }
            for child in [place, second] { next.entities[child].parent = 0 }
            return Version(model: next, place: Self.name)
        }
    }
}
