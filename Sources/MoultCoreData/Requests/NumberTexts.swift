import MoultModel
import MoultObjects

extension ObjectFetch {
    /// Returns the fetch with numbers in place of the texts that its predicate compares with attributes of numbers, as
    /// in `age == '30'`. In Core Data's store the type of the attribute decides what a constant is.
    package func readingNumbers(in model: ManagedObjectModel) -> ObjectFetch {
        guard let predicate, let entity = model.entity(entityName) else { return self }
        var fetch = self
        fetch.predicate = predicate.readingNumbers([:]) { path in path.isNumber(of: entity, in: model) }
        return fetch
    }
}

extension MoultModel.Predicate {
    /// - Parameters:
    ///   - variables: the paths of the collections that the variables of subqueries stand for.
    ///   - isNumber: returns whether a path from the evaluated object leads to numbers.
    fileprivate func readingNumbers(
        _ variables: [String: String], _ isNumber: (String) -> Bool
    ) -> MoultModel.Predicate {
        switch self {
        case .constant: return self
        case .and(let parts): return .and(parts.map { $0.readingNumbers(variables, isNumber) })
        case .or(let parts): return .or(parts.map { $0.readingNumbers(variables, isNumber) })
        case .not(let part): return .not(part.readingNumbers(variables, isNumber))
        case .comparison(var comparison):
            comparison.left = comparison.left.readingNumbers(variables, isNumber)
            comparison.right = comparison.right.readingNumbers(variables, isNumber)
            switch comparison.operator {
            case .matches, .like, .beginsWith, .endsWith, .contains: return .comparison(comparison)
            default: break
            }
            if comparison.left.path(variables).map(isNumber) ?? false {
                comparison.right = comparison.right.readAsNumber
            } else if comparison.right.path(variables).map(isNumber) ?? false {
                comparison.left = comparison.left.readAsNumber
            }
            return .comparison(comparison)
        }
    }
}

extension String {
    /// Whether this is the key path of an attribute of numbers, or of a count.
    fileprivate func isNumber(of entity: EntityDescription, in model: ManagedObjectModel) -> Bool {
        var here = entity
        var keys = split(separator: ".")[...]
        while let key = keys.first {
            if key == "@count" { return true }
            if !key.hasPrefix("@") {
                let next = model.relationship(String(key), of: here).flatMap { model.entity($0.destinationEntityName) }
                guard let next else {
                    let rest = keys.joined(separator: ".")
                    return model.leaves(of: here).first { $0.name == rest }?.type.isNumber ?? false
                }
                here = next
            }
            keys.removeFirst()
        }
        return false
    }
}

extension MoultModel.Expression {
    /// Returns the expression with the predicates of its subqueries and choices read in the same way.
    fileprivate func readingNumbers(
        _ variables: [String: String], _ isNumber: (String) -> Bool
    ) -> MoultModel.Expression {
        replacing { part in
            switch part {
            case .subquery(let collection, let variable, let predicate):
                var inner = variables
                inner[variable] = collection.path(variables)
                return .subquery(
                    collection.readingNumbers(variables, isNumber), variable: variable,
                    predicate.readingNumbers(inner, isNumber))
            case .conditional(let predicate, let first, let second):
                return .conditional(
                    predicate.readingNumbers(variables, isNumber), first.readingNumbers(variables, isNumber),
                    second.readingNumbers(variables, isNumber))
            default: return nil
            }
        }
    }

    /// The constant, or the list of constants, with numbers in place of the texts that are numbers.
    fileprivate var readAsNumber: MoultModel.Expression {
        switch self {
        case .constant(let value): .constant(value.readAsNumber)
        case .aggregate(let parts): .aggregate(parts.map(\.readAsNumber))
        default: self
        }
    }
}

extension ExpressionValue {
    fileprivate var readAsNumber: ExpressionValue {
        switch self {
        case .string(let text):
            if let whole = Int64(text) { return .integer(whole) }
            // `Double` also reads infinity, NaN and hexadecimal digits.
            guard text.utf8.allSatisfy(Array("0123456789.+-eE".utf8).contains), let number = Double(text) else {
                return self
            }
            return .real(number)
        case .collection(let values): return .collection(values.map(\.readAsNumber))
        default: return self
        }
    }
}

extension AttributeType {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .decimal, .boolean: true
        default: false
        }
    }
}
