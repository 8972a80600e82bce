import Foundation
import MoultModel

/// One translation of a Swift predicate into the words that a store is asked in.
///
/// The meaning is that of `Predicate.evaluate`. Parts that depend on no object are evaluated at once.
package struct PredicateTranslation {
    let schema: Schema
    /// The entity that is fetched, for errors.
    let entity: String
    /// The terms that the variables of the predicate stand for.
    var terms: [PredicateExpressions.VariableID: PredicateTerm] = [:]
    /// The values of those that are known now.
    var bindings = PredicateBindings()
    private var depth = 0
    /// The number of parts so far, with those of a variable counted wherever it stands.
    private(set) var size = 0
    private var sizes: [PredicateExpressions.VariableID: Int] = [:]
    private var variableCount = 0

    init(_ schema: Schema, entity: String) {
        self.schema = schema
        self.entity = entity
    }

    /// The greatest depth to which parts may lie in one another: well below what SQLite takes.
    static var depthLimit: Int { 400 }
    /// The greatest number of parts, those of variables counted wherever these stand.
    static var sizeLimit: Int { 50_000 }

    // MARK: - Parts

    package mutating func term<Part: PredicateExpression>(_ part: Part) throws -> PredicateTerm {
        depth += 1
        size += 1
        defer { depth -= 1 }
        try checkLimits()
        let part = try translatable(part)
        return try part.translated(by: &self)
    }

    mutating func predicate<Part: PredicateExpression>(_ part: Part) throws -> StoredPredicate {
        try condition(try term(part), of: part)
    }

    mutating func expression<Part: PredicateExpression>(_ part: Part) throws -> StoredExpression {
        try expression(try term(part), of: part)
    }

    // The parts of an error would take room on the stack at every level, so these are functions of their own.

    private func checkLimits() throws {
        guard depth > Self.depthLimit || size > Self.sizeLimit else { return }
        throw MigrationError(
            .fetchUnsupported,
            "The predicate is too large for a store: it has more than \(Self.sizeLimit) parts, or more than "
                + "\(Self.depthLimit) in one another.",
            place: entity, remedy: "Put values into one list and ask whether it contains them, or fetch in parts.")
    }

    private func translatable(_ part: some PredicateExpression) throws -> any PredicateTranslatable {
        guard let part = part as? any PredicateTranslatable else {
            throw refuse(part, "Moult does not know \(type(of: part))")
        }
        return part
    }

    private func condition(_ term: PredicateTerm, of part: some PredicateExpression) throws -> StoredPredicate {
        guard let condition = try condition(term) else { throw refuse(part, "it is not a condition") }
        return condition
    }

    /// Counts parts once more, because what is made of them stands there once more.
    mutating func repeatParts(since start: Int) { size += size - start }

    /// Has a variable stand for a term that was made since then.
    mutating func bind(_ key: PredicateExpressions.VariableID, to term: PredicateTerm, since start: Int) {
        terms[key] = term
        sizes[key] = size - start
    }

    /// Returns the term that a variable stands for; nil for one of another predicate.
    mutating func term(of key: PredicateExpressions.VariableID) -> PredicateTerm? {
        size += sizes[key] ?? 0
        return terms[key]
    }

    /// A name for the elements of a collection.
    mutating func newVariable() -> String {
        variableCount += 1
        return "v\(variableCount)"
    }

    /// The value of a part whose own parts are all known now.
    func constant<Part: PredicateExpression>(_ part: Part) throws -> PredicateTerm {
        do {
            return .constant(try part.evaluate(bindings))
        } catch let error as PredicateError {
            throw refuse(part, "\(error)")
        }
    }

    // MARK: - Forms of a term

    /// A Bool as a condition; nil for anything else.
    func condition(_ term: PredicateTerm) throws -> StoredPredicate? {
        switch term {
        case .constant(let value): (value as? Bool).map(StoredPredicate.constant)
        case .condition(let condition, let present): StoredPredicate.all(present, condition)
        case .value(let expression): .compare(expression, .equal, .constant(.boolean(true)))
        case .object, .collection, .range, .composite: nil
        }
    }

    func expression(_ term: PredicateTerm, of part: some PredicateExpression) throws -> StoredExpression {
        switch term {
        case .constant(let value):
            guard let constant = ExpressionValue(predicateConstant: value) else {
                throw refuse(part, "the store has no form for a value of \(type(of: value))")
            }
            return .constant(constant)
        case .value(let expression), .object(let expression, _): return expression
        case .condition(let condition, nil): return .boolean(condition)
        case .condition(let condition, let present?):
            return .conditional(present, .boolean(condition), .constant(.null))
        case .composite(let attribute, .cases(let names)):
            // The column of the case in use holds its name, the others are null.
            return names.reversed().reduce(.constant(.null)) { rest, name in
                let column = attribute.property(name)
                return .conditional(.isPresent(column), column, rest)
            }
        case .composite: throw refuse(part, "the store keeps its fields, which can be compared one by one")
        case .collection, .range: throw refuse(part, "many values are used as if they were one")
        }
    }

    /// When a term is not nil; nil if it never is.
    func presence(_ term: PredicateTerm) -> StoredPredicate? {
        switch term {
        case .constant(let value): isNilValue(value) ? .constant(false) : nil
        case .value(let expression): .isPresent(expression)
        case .composite(let attribute, let form):
            .or(form.columns.map { .isPresent(attribute.property($0)) })
        case .object(.evaluatedObject, _), .object(.variable, _): nil
        case .object(let expression, _): .isPresent(expression)
        case .condition(_, let present), .collection(_, _, let present): present
        case .range: nil
        }
    }

    // MARK: - Errors

    func refuse(_ part: some PredicateExpression, _ reason: String) -> MigrationError {
        MigrationError(
            .fetchUnsupported, "\(source(of: part)) cannot be evaluated in the store: \(reason).", place: entity,
            remedy: "Change that part, or fetch without it and filter the objects in memory.")
    }
}

/// A part of a Swift predicate that a store can be asked for, or that says why it cannot.
package protocol PredicateTranslatable: PredicateExpression {
    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm
}
