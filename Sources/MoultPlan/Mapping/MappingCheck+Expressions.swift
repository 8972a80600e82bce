import MoultModel

extension MappingCheck {
    /// The value expression of an attribute.
    mutating func check(
        _ expression: Expression, for attribute: AttributeDescription, of old: EntityDescription, place: String,
        hasPolicy: Bool
    ) {
        checkPaths(in: expression, of: old, place: place)
        if hasPolicy { checkCalls(in: expression, place: place) }
        guard case .keyPath(let path, .variable("source")) = expression,
            let from = self.attribute(at: path, of: old)?.plain
        else { return }
        let attribute = attribute.plain
        let types = "\(attribute.name) is of type \(attribute.type.name) and its source \(path) is \(from.type.name)"
        if !from.type.converts(to: attribute.type) {
            report(
                hasPolicy ? .warning : .error, "mapping-type", place, "\(types).",
                "Convert the value in a closure or a migration policy.")
        } else if !from.type.isTaken(by: attribute.type) {
            report(
                .note, "mapping-converts", place,
                "\(types): values that have no equal are counted before anything is changed.")
        }
        if from.isOptional, !attribute.isOptional {
            report(
                .warning, "mapping-may-be-nil", place,
                "\(attribute.name) is required, and its source \(path) may have no value.",
                "The rows are checked before anything is changed; a policy can give a value where there is none.")
        }
    }

    /// Reports calls of policy functions inside an expression. Where a policy makes the objects, its functions are
    /// called with values that SQL has read: their results cannot go back into an expression.
    private mutating func checkCalls(in expression: Expression, place: String) {
        var inner = [expression]
        if case .message(_, .variable("entityPolicy"), let arguments) = expression { inner = arguments }
        for part in inner {
            for name in part.policyCalls {
                report(
                    .error, "mapping-nested-call", place,
                    "\(name) is called inside \(expression.format), which an entity mapping with a policy cannot do.",
                    "Call it alone and do the rest in the function, or set the attribute in the policy.")
            }
        }
    }

    private func attribute(at path: String, of old: EntityDescription) -> AttributeDescription? {
        var entity = old
        var keys = path.split(separator: ".").map(String.init)
        guard let last = keys.popLast() else { return nil }
        for key in keys {
            guard let next = source.relationship(key, of: entity).flatMap({ source.entity($0.destinationEntityName) })
            else { return nil }
            entity = next
        }
        return source.attribute(last, of: entity)
    }

    /// Every key path from `$source` must lead somewhere, and every mapping that is named must be there.
    mutating func checkPaths(in expression: Expression, of old: EntityDescription, place: String) {
        switch expression {
        case .keyPath(let path, .variable("source")): check(path, of: old, place: place)
        case .keyPath(_, let base): checkPaths(in: base, of: old, place: place)
        case .message(let selector, let target, let arguments):
            if target == .variable("manager") { checkManager(selector, expression, place: place) }
            for part in [target] + arguments { checkPaths(in: part, of: old, place: place) }
        case .function(_, let arguments), .aggregate(let arguments):
            for part in arguments { checkPaths(in: part, of: old, place: place) }
        case .subquery(let collection, _, _): checkPaths(in: collection, of: old, place: place)
        case .conditional(_, let first, let second):
            for part in [first, second] { checkPaths(in: part, of: old, place: place) }
        case .constant, .evaluatedObject, .variable: break
        }
    }

    private mutating func checkManager(_ selector: String, _ expression: Expression, place: String) {
        guard let call = expression.destinationInstances else {
            report(
                .error, "mapping-unknown-selector", place,
                "The migration manager has no method \(selector) for expressions.",
                "Use destinationInstancesForEntityMappingNamed:sourceInstances:, or a migration policy.")
            return
        }
        switch call.kind {
        case .ofEntityMapping where mapping[call.name] == nil:
            report(
                .error, "mapping-unknown-mapping", place, "There is no entity mapping named \(call.name).",
                "Correct the name of the mapping.")
        case .ofEntityMapping, .ofSourceRelationship: break
        }
    }

    private mutating func check(_ path: String, of old: EntityDescription, place: String) {
        var entity: EntityDescription? = old
        for key in path.split(separator: ".").map(String.init) where !key.hasPrefix("@") {
            guard let current = entity else { return }
            if let relationship = source.relationship(key, of: current) {
                entity = source.entity(relationship.destinationEntityName)
            } else if source.attribute(key, of: current) != nil {
                entity = nil
            } else {
                report(
                    .error, "mapping-unknown-source", place, "\(current.name) of the source has no property \(key).",
                    "Correct the key path \(path).")
                return
            }
        }
    }
}

extension AttributeType {
    /// Whether an attribute of the other type takes every value of this one as it is. Core Data takes any number for
    /// another, and cuts off what does not fit.
    fileprivate func isTaken(by other: AttributeType) -> Bool { self == other || widens(to: other) }
}

extension Expression {
    /// The names of the policy's functions that it calls, wherever in it.
    fileprivate var policyCalls: [String] {
        var names: [String] = []
        _ = replacing { part in
            if case .message(let name, .variable("entityPolicy"), _) = part { names.append(name) }
            return nil
        }
        return names
    }
}
