import Foundation
import MoultModel

extension PredicateExpressions.TypeCheck: PredicateTranslatable {
    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        switch try translation.term(input) {
        case .constant: return try translation.constant(self)
        case .object(let object, _):
            let names = try translation.entities(of: Desired.self, self)
            return .condition(
                .compare(object.property("entity.name"), .in, .constant(.collection(names.map { .string($0) }))))
        default: throw translation.refuse(self, "only models have types of their own")
        }
    }
}

extension PredicateTranslation {
    /// The entities whose objects are of a class, the class's own first.
    func entities(of type: Any.Type, _ part: some PredicateExpression) throws -> [String] {
        guard let model = withoutOptionals(type) as? any PersistentModel.Type else {
            throw refuse(part, "\(type) is no model")
        }
        var names = [try schema.fetchedEntity(model)]
        while true {
            let more = schema.entities.filter {
                !names.contains($0.name) && $0.superentityName.map(names.contains) == true
            }
            if more.isEmpty { return names }
            names += more.map(\.name)
        }
    }
}
