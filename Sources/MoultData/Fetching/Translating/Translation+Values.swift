import Foundation
import MoultModel

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
        // The key path starts at the class that it was written for, which may be one above the object's.
        let owner = Root.Output.self as? any PersistentModel.Type ?? model
        guard let property = ModelProperties.of(owner)[keyPath] else {
            // persistentModelID, id: the object itself stands for them in the store.
            if Output.self == PersistentIdentifier.self { return .object(object, model) }
            throw translation.refuse(self, "it is not a stored property of \(model)")
        }
        switch property.shape {
        case .attribute(let attribute):
            let value = object.property(property.name)
            guard attribute.type == .composite else {
                return .value(StoredNumber.expression(value, of: Output.self))
            }
            let form = ValueForm.of(property.valueType)
            if case .rawValue = form { return .value(value.property(property.name)) }
            return .composite(value, form)
        case .toOne(let destination, _): return .object(object.property(property.name), destination)
        // Of one of two objects it is the list of whichever it is.
        case .toMany(let destination, _):
            if case .conditional = object { return .collection(.keyPath(property.name, of: object), destination) }
            return .collection(object.property(property.name), destination)
        }
    }

    /// A field of a struct, by its own column or columns.
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

    /// Something of an attribute's value.
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
    /// Whether a key path means the raw value: seen from all cases, because key paths of the same property can differ.
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
