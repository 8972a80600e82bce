import Foundation
import MoultBasics
import MoultModel

/// A translation of a Swift predicate into a store's predicate.
///
/// The translation has the meaning of `Predicate.evaluate`. Parts that depend on no object are evaluated at once.
package struct PredicateTranslation {
    let schema: Schema
    /// The fetched entity, for error messages.
    let entity: String
    /// The terms that the predicate's variables are bound to.
    var terms: [PredicateExpressions.VariableID: PredicateTerm] = [:]
    /// The values of the variables that are already known.
    var bindings = PredicateBindings()
    private var depth = 0
    /// The number of parts so far; the parts of a variable are counted at each of its uses.
    private(set) var size = 0
    private var sizes: [PredicateExpressions.VariableID: Int] = [:]
    private var variableCount = 0

    init(_ schema: Schema, entity: String) {
        self.schema = schema
        self.entity = entity
    }

    /// The maximum nesting depth of parts, well below SQLite's limit.
    static var depthLimit: Int { 400 }
    /// The maximum number of parts; those of a variable are counted at each of its uses.
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

    // Error handling is in separate functions, because it would take stack space at every level of nesting.

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

    /// Counts parts again, because their translation appears a second time.
    mutating func repeatParts(since start: Int) { size += size - start }

    /// Binds a variable to a term whose parts were counted since `start`.
    mutating func bind(_ key: PredicateExpressions.VariableID, to term: PredicateTerm, since start: Int) {
        terms[key] = term
        sizes[key] = size - start
    }

    /// Returns the term that a variable is bound to; nil for a variable of another predicate.
    mutating func term(of key: PredicateExpressions.VariableID) -> PredicateTerm? {
        size += sizes[key] ?? 0
        return terms[key]
    }

    /// Returns a new name for the elements of a collection.
    mutating func newVariable() -> String {
        variableCount += 1
        return "v\(variableCount)"
    }

    /// Returns the value of a part whose own parts are all known.
    func constant<Part: PredicateExpression>(_ part: Part) throws -> PredicateTerm {
        do {
            return .constant(try part.evaluate(bindings))
        } catch let error as PredicateError {
            throw refuse(part, "\(error)")
        }
    }

    // MARK: - Forms of a term

    /// Returns a Bool as a condition; nil for any other term.
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
            // The column of the current case holds its name; the others are null.
            return names.reversed().reduce(.constant(.null)) { rest, name in
                let column = attribute.property(name)
                return .conditional(.isPresent(column), column, rest)
            }
        case .composite: throw refuse(part, "the store keeps its fields, which can be compared one by one")
        case .collection, .range: throw refuse(part, "many values are used as if they were one")
        }
    }

    /// Returns the condition under which a term is not nil; nil if it never is nil.
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
            remedy: "Change that part, or set allowsInMemoryEvaluation of the fetch, which reads every object of the "
                + "model.")
    }
}

/// A part of a Swift predicate that can be translated for a store, or that reports why it cannot.
package protocol PredicateTranslatable: PredicateExpression {
    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm
}

extension PredicateExpressions.Variable: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        guard let term = translation.term(of: key) else {
            throw translation.refuse(self, "it is a variable of another predicate")
        }
        return term
    }
}

extension PredicateExpressions.Value: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) -> PredicateTerm { .constant(value) }
}

extension PredicateExpressions.NilLiteral: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) -> PredicateTerm {
        .constant(Wrapped?.none as Any)
    }
}

extension PredicateExpressions.KeyPath: PredicateTranslatable {
    package func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        switch try translation.term(root) {
        case .constant: return try translation.constant(self)
        case .object(let object, let model): return try property(of: object, model, by: translation)
        case .collection(let collection, let model, _):
            return try element(of: collection, model, by: translation)
        case .value(let value): return try part(of: value, by: translation)
        case .composite(let attribute, let form): return try field(of: attribute, form, by: translation)
        case .condition, .range: throw translation.refuse(self, "only a property of a model has a column")
        }
    }

    private func property(
        of object: StoredExpression, _ model: any PersistentModel.Type, by translation: PredicateTranslation
    ) throws -> PredicateTerm {
        // The key path begins at the class that it was written for, which may be a superclass of the object's.
        let owner = Root.Output.self as? any PersistentModel.Type ?? model
        guard let property = ModelProperties.of(owner)[keyPath] else {
            // persistentModelID and id: in a store, the object itself represents its identity.
            if Output.self == PersistentIdentifier.self { return .object(object, model) }
            throw translation.refuse(self, "it is not a stored property of \(model)")
        }
        switch property.shape {
        case .attribute(let attribute):
            let value = object.property(property.name)
            guard attribute.type == .composite else { return .value(StoredNumber.expression(value, of: Output.self)) }
            let form = ValueForm.of(property.valueType)
            if case .rawValue = form { return .value(value.property(property.name)) }
            return .composite(value, form)
        case .toOne(let destination, _): return .object(object.property(property.name), destination)
        // For a choice between two objects, it is the list of the chosen one.
        case .toMany(let destination, _):
            if case .conditional = object { return .collection(.keyPath(property.name, of: object), destination) }
            return .collection(object.property(property.name), destination)
        }
    }

    /// Returns a field of a struct, from its column or columns.
    private func field(
        of attribute: StoredExpression, _ form: ValueForm, by translation: PredicateTranslation
    ) throws -> PredicateTerm {
        guard case .fields(let fields) = form, let name = StructFields.name(of: keyPath),
            let field = fields.first(where: { $0.name == name })
        else { throw translation.refuse(self, "it is not a stored property of \(Root.Output.self)") }
        let value = attribute.property(name)
        switch field.form {
        case .fields, .cases: return .composite(value, field.form)
        case .plain, .rawValue, .archive, .json, .encoded, .unknown:
            return .value(StoredNumber.expression(value, of: Output.self))
        }
    }

    private func element(
        of collection: StoredExpression, _ model: any PersistentModel.Type, by translation: PredicateTranslation
    ) throws -> PredicateTerm {
        switch kind {
        case .collectionCount: return .value(collection.property("@count"))
        case .collectionIsEmpty: return .condition(StoredPredicate.hasElement(collection).negated)
        case .collectionFirst, .bidirectionalCollectionLast, nil: break
        }
        throw translation.refuse(self, "of a to-many relationship only count and isEmpty are known")
    }

    /// Returns a value derived from an attribute.
    private func part(of value: StoredExpression, by translation: PredicateTranslation) throws -> PredicateTerm {
        if Root.Output.self == String.self {
            switch kind {
            case .collectionIsEmpty: return .condition(.compare(value, .equal, .constant(.string(""))))
            case .collectionCount: return .value(StoredText.count(value))
            case .collectionFirst, .bidirectionalCollectionLast, nil: break
            }
        }
        if Root.Output.self == Data.self {
            switch kind {
            case .collectionIsEmpty: return .condition(.compare(value, .equal, .constant(.data([]))))
            case .collectionCount: return .value(.function("length:", [value]))
            case .collectionFirst, .bidirectionalCollectionLast, nil: break
            }
        }
        if let enumeration = Root.Output.self as? any RawRepresentable.Type, enumeration.hasRawValue(at: keyPath) {
            return .value(value)
        }
        if keyPath == \Date.timeIntervalSinceReferenceDate {
            return .value(.function("castObject:toType:", [value, .constant(.string("NSNumber"))]))
        }
        throw translation.refuse(self, "only the stored property itself has a column")
    }
}

extension RawRepresentable {
    /// Whether a key path refers to the raw value, judged by all cases, because key paths of the same property can
    /// differ.
    fileprivate static func hasRawValue(at keyPath: AnyKeyPath) -> Bool {
        guard let path = keyPath as? KeyPath<Self, RawValue>, let cases = MoultData.allCases(Self.self) else {
            return keyPath == \Self.rawValue
        }
        return cases.allSatisfy { value in
            guard let raw = value[keyPath: path] as? AnyHashable else { return false }
            return raw == value.rawValue as? AnyHashable
        }
    }
}
