import Foundation

/// A part of a predicate that can be spelled as its author would write it, for error messages.
protocol PredicateSpelled {
    var spelling: String { get }
}

func source(of part: some PredicateExpression) -> String { (part as? any PredicateSpelled)?.spelling ?? "\(part)" }

extension AnyKeyPath {
    /// The key path for error messages. A computed property has no name at run time, and its address says nothing; the
    /// sort keys that ``SortDescriptor`` appends to a string are left out.
    var spelling: String {
        "\(self)".replacing(/\.<computed 0x[0-9a-f]+ \([^)]*_LocalizedOrder[^)]*\)>/, with: "")
            .replacing(/<computed 0x[0-9a-f]+ \((.+?)\)>/) { "<computed \($0.1)>" }
    }
}

private typealias PE = PredicateExpressions

extension PE.Variable: PredicateSpelled { var spelling: String { "$0" } }

extension PE.NilLiteral: PredicateSpelled { var spelling: String { "nil" } }

extension PE.Value: PredicateSpelled {
    var spelling: String {
        let text = value is String || value is String? ? String(reflecting: value) : "\(value)"
        return text.count > 60 ? "\(text.prefix(60))…" : text
    }
}

extension PE.KeyPath: PredicateSpelled {
    var spelling: String {
        let model = Root.Output.self as? any PersistentModel.Type
        var name = model.flatMap { ModelProperties.of($0)[keyPath]?.name } ?? StructFields.name(of: keyPath)
        switch kind {
        case .collectionCount: name = "count"
        case .collectionIsEmpty: name = "isEmpty"
        case .collectionFirst: name = "first"
        case .bidirectionalCollectionLast: name = "last"
        case nil: break
        }
        return "\(source(of: root)).\(name ?? "[\(keyPath.spelling)]")"
    }
}

extension PE.Equal: PredicateSpelled { var spelling: String { spelled(lhs, "==", rhs) } }
extension PE.NotEqual: PredicateSpelled { var spelling: String { spelled(lhs, "!=", rhs) } }
extension PE.Conjunction: PredicateSpelled { var spelling: String { spelled(lhs, "&&", rhs) } }
extension PE.Disjunction: PredicateSpelled { var spelling: String { spelled(lhs, "||", rhs) } }
extension PE.NilCoalesce: PredicateSpelled { var spelling: String { spelled(lhs, "??", rhs) } }
extension PE.IntDivision: PredicateSpelled { var spelling: String { spelled(lhs, "/", rhs) } }
extension PE.FloatDivision: PredicateSpelled { var spelling: String { spelled(lhs, "/", rhs) } }
extension PE.IntRemainder: PredicateSpelled { var spelling: String { spelled(lhs, "%", rhs) } }
extension PE.Range: PredicateSpelled { var spelling: String { spelled(lower, "..<", upper) } }
extension PE.ClosedRange: PredicateSpelled { var spelling: String { spelled(lower, "...", upper) } }

extension PE.Comparison: PredicateSpelled {
    var spelling: String {
        switch op {
        case .lessThan: spelled(lhs, "<", rhs)
        case .lessThanOrEqual: spelled(lhs, "<=", rhs)
        case .greaterThan: spelled(lhs, ">", rhs)
        case .greaterThanOrEqual: spelled(lhs, ">=", rhs)
        @unknown default: "\(self)"
        }
    }
}

extension PE.Arithmetic: PredicateSpelled {
    var spelling: String {
        switch op {
        case .add: spelled(lhs, "+", rhs)
        case .subtract: spelled(lhs, "-", rhs)
        case .multiply: spelled(lhs, "*", rhs)
        @unknown default: "\(self)"
        }
    }
}

extension PE.Negation: PredicateSpelled { var spelling: String { "!\(source(of: wrapped))" } }
extension PE.UnaryMinus: PredicateSpelled { var spelling: String { "-\(source(of: wrapped))" } }
extension PE.ForcedUnwrap: PredicateSpelled { var spelling: String { "\(source(of: inner))!" } }

extension PE.OptionalFlatMap: PredicateSpelled {
    var spelling: String {
        let inner = source(of: transform)
        let whole = source(of: wrapped)
        return inner.hasPrefix("$0.") ? "\(whole)?\(inner.dropFirst(2))" : "\(whole).flatMap { \(inner) }"
    }
}

extension PE.Conditional: PredicateSpelled {
    var spelling: String {
        let parts = (source(of: test), source(of: trueBranch), source(of: falseBranch))
        return "(\(parts.0) ? \(parts.1) : \(parts.2))"
    }
}

extension PE.SequenceContains: PredicateSpelled { var spelling: String { called(sequence, "contains", element) } }
extension PE.RangeExpressionContains: PredicateSpelled { var spelling: String { called(range, "contains", element) } }
extension PE.CollectionContainsCollection: PredicateSpelled {
    var spelling: String { called(base, "contains", other) }
}
extension PE.StringContainsRegex: PredicateSpelled { var spelling: String { called(subject, "contains", regex) } }
extension PE.SequenceStartsWith: PredicateSpelled {
    var spelling: String { "\(source(of: base)).starts(with: \(source(of: prefix)))" }
}
extension PE.StringLocalizedStandardContains: PredicateSpelled {
    var spelling: String { called(root, "localizedStandardContains", other) }
}
extension PE.StringCaseInsensitiveCompare: PredicateSpelled {
    var spelling: String { called(root, "caseInsensitiveCompare", other) }
}
extension PE.StringLocalizedCompare: PredicateSpelled {
    var spelling: String { called(root, "localizedCompare", other) }
}
extension PE.PredicateEvaluate: PredicateSpelled {
    var spelling: String { "{ \(source(of: predicate.expression)) }.evaluate(…)" }
}

extension PE.SequenceContainsWhere: PredicateSpelled { var spelling: String { closed(sequence, "contains", test) } }
extension PE.SequenceAllSatisfy: PredicateSpelled { var spelling: String { closed(sequence, "allSatisfy", test) } }
extension PE.Filter: PredicateSpelled { var spelling: String { closed(sequence, "filter", filter) } }

extension PE.SequenceMinimum: PredicateSpelled {
    var spelling: String { "\(source(of: elements)).min()" }
}
extension PE.SequenceMaximum: PredicateSpelled {
    var spelling: String { "\(source(of: elements)).max()" }
}
extension PE.CollectionIndexSubscript: PredicateSpelled {
    var spelling: String { "\(source(of: wrapped))[\(source(of: index))]" }
}
extension PE.CollectionRangeSubscript: PredicateSpelled {
    var spelling: String { "\(source(of: wrapped))[\(source(of: range))]" }
}

extension PE.TypeCheck: PredicateSpelled {
    var spelling: String { "\(source(of: input)) is \(Desired.self)" }
}
extension PE.ConditionalCast: PredicateSpelled {
    var spelling: String { "(\(source(of: input)) as? \(Desired.self))" }
}
extension PE.ForceCast: PredicateSpelled {
    var spelling: String { "(\(source(of: input)) as! \(Desired.self))" }
}

private func spelled(
    _ left: some PredicateExpression, _ symbol: String, _ right: some PredicateExpression
) -> String { "(\(source(of: left)) \(symbol) \(source(of: right)))" }

private func called(_ whole: some PredicateExpression, _ name: String, _ part: some PredicateExpression) -> String {
    "\(source(of: whole)).\(name)(\(source(of: part)))"
}

private func closed(_ whole: some PredicateExpression, _ name: String, _ test: some PredicateExpression) -> String {
    "\(source(of: whole)).\(name) { \(source(of: test)) }"
}
