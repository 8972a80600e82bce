import MoultModel
import MoultObjects

extension ObjectFetch {
    /// Returns the fetch with numbers in place of the texts that its predicate compares with attributes of numbers, as
    /// in `age == '30'`. In Core Data's store the type of the attribute decides what a constant is.
    package func readingNumbers(in model: ManagedObjectModel) -> ObjectFetch {
        guard let predicate, let entity = model.entity(entityName) else { return self }
        var fetch = self
        fetch.predicate = predicate.readingNumbers { $0.isNumber(of: entity, in: model) }
        return fetch
    }
}

extension MoultModel.Predicate {
    fileprivate func readingNumbers(_ isNumber: (MoultModel.Expression) -> Bool) -> MoultModel.Predicate {
        switch self {
        case .constant: return self
        case .and(let parts): return .and(parts.map { $0.readingNumbers(isNumber) })
        case .or(let parts): return .or(parts.map { $0.readingNumbers(isNumber) })
        case .not(let part): return .not(part.readingNumbers(isNumber))
        case .comparison(var comparison):
            switch comparison.operator {
            case .matches, .like, .beginsWith, .endsWith, .contains: return self
            default: break
            }
            if isNumber(comparison.left) {
                comparison.right = comparison.right.readAsNumber
            } else if isNumber(comparison.right) {
                comparison.left = comparison.left.readAsNumber
            }
            return .comparison(comparison)
        }
    }
}

extension MoultModel.Expression {
    /// Whether the expression is the key path of an attribute of numbers, or of a count.
    fileprivate func isNumber(of entity: EntityDescription, in model: ManagedObjectModel) -> Bool {
        guard case .keyPath(let path, of: .evaluatedObject) = self else { return false }
        var here = entity
        var keys = path.split(separator: ".")[...]
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
