import Foundation
import MoultModel

extension PredicateExpressions.TypeCheck: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        switch try translation.term(input) {
        case .constant: return try translation.constant(self)
        case .object(let object, _):
            let names = try translation.entities(of: Desired.self, self)
            return .condition(.isPresent(object.cast(to: names)))
        default: throw translation.refuse(self, "only models have types of their own")
        }
    }
}

extension PredicateExpressions.ConditionalCast: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.cast(input, to: Desired.self, self)
    }
}

extension PredicateExpressions.ForceCast: PredicateTranslatable {
    /// Translates the cast. An object of another type is not found, because `evaluate` throws for it.
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        try translation.cast(input, to: Desired.self, self)
    }
}

extension PredicateTranslation {
    fileprivate mutating func cast<Input: PredicateExpression>(
        _ input: Input, to type: Any.Type, _ part: some PredicateExpression
    ) throws -> PredicateTerm {
        let found = try term(input)
        switch found {
        case .constant: return try constant(part)
        case .object(let object, let model):
            guard let desired = withoutOptionals(type) as? any PersistentModel.Type else { break }
            if model.isSubclass(of: desired) { return .object(object, desired) }
            return .object(object.cast(to: try entities(of: desired, part)), desired)
        default:
            if withoutOptionals(type) == withoutOptionals(Input.Output.self) { return found }
        }
        throw refuse(part, "the store cannot convert it to \(type)")
    }

    /// The entities whose objects are of a class, the class's own first.
    fileprivate func entities(of type: Any.Type, _ part: some PredicateExpression) throws -> [String] {
        guard let model = withoutOptionals(type) as? any PersistentModel.Type else {
            throw refuse(part, "\(type) is not a model")
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

extension PersistentModel {
    /// Whether every object of the class is one of the other.
    fileprivate static func isSubclass(of other: any PersistentModel.Type) -> Bool {
        var type: (any PersistentModel.Type)? = self
        while let current = type {
            if current == other { return true }
            type = current.schemaMetadata.parent
        }
        return false
    }
}
