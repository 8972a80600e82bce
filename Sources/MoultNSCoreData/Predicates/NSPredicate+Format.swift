import Foundation
import MoultBasics
import MoultModel

/// Asks a predicate that was made from a format for what it was made from.
final class PredicateProbe {
    var found: (predicate: MoultModel.Predicate, variables: [String: ExpressionValue])?
}

// Foundation's NSPredicate has no formats on Linux. One that is made here is a block that evaluates the format, and that
// tells a probe what it evaluates.

extension NSPredicate {
    /// A predicate in Core Data's format language. Ends the program where the format does not parse.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, argumentArray: arguments)
    }

    /// A predicate whose arguments are in an array. Ends the program where the format does not parse.
    public convenience init(format: String, argumentArray arguments: [Any?]?) {
        let predicate = orRaise("NSPredicate(format: \"\(format)\")") {
            try MoultModel.Predicate(
                parsing: format, arguments: try (arguments ?? []).map { FormatArgument.value(try expressionValue($0)) })
        }
        self.init(moult: predicate)
    }

    convenience init(moult predicate: MoultModel.Predicate, variables: [String: ExpressionValue] = [:]) {
        self.init(block: { subject, bindings in
            if let probe = subject as? PredicateProbe {
                probe.found = (predicate, variables)
                return false
            }
            return orRaise("NSPredicate.evaluate(with:) \(predicate.format)") {
                let bound = try (bindings ?? [:]).mapValues(expressionValue)
                return try PredicateSubject(subject).holds(predicate, variables.merging(bound) { _, new in new })
            }
        })
    }

    /// The predicate with values for its variables (`$name`).
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        let call = "NSPredicate.withSubstitutionVariables(_:)"
        return orRaise(call) {
            let (predicate, known) = try moult(for: call)
            let values = try variables.mapValues(expressionValue)
            return NSPredicate(moult: predicate, variables: known.merging(values) { _, new in new })
        }
    }

    /// Returns the predicate in the form that a store can answer, with the values of its variables.
    ///
    /// - Throws: `fetchUnsupported` for a block, which no store can answer.
    func moult(
        for call: String
    ) throws -> (predicate: MoultModel.Predicate, variables: [String: ExpressionValue]) {
        if let compound = self as? NSCompoundPredicate {
            let parts = try compound.subpredicates.map { try $0.moult(for: call) }
            let variables = parts.reduce(into: [:]) { $0.merge($1.variables) { first, _ in first } }
            switch compound.compoundPredicateType {
            case .and: return (.and(parts.map(\.predicate)), variables)
            case .or: return (.or(parts.map(\.predicate)), variables)
            case .not: return (.not(parts.first?.predicate ?? .constant(false)), variables)
            }
        }
        let probe = PredicateProbe()
        _ = evaluate(with: probe)
        if let found = probe.found { return found }
        // Foundation says of NSPredicate(value:) what it is only in its stored properties.
        let kind = Mirror(reflecting: self).superclassMirror.map { [$0] } ?? []
        for mirror in [Mirror(reflecting: self)] + kind {
            for child in mirror.children where child.label == "kind" {
                let content = Mirror(reflecting: child.value).children.first
                if content?.label == "boolean", let flag = content?.value as? Bool { return (.constant(flag), [:]) }
            }
        }
        throw MigrationError(
            .fetchUnsupported, "A store cannot answer a predicate that is a block.", place: call,
            remedy: "Write it as a format, or filter the objects after the fetch.")
    }
}
