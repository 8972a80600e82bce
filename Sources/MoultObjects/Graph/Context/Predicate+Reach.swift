import MoultModel

extension Predicate {
    /// Whether what the predicate says of an object may depend on other objects: it follows a relationship.
    func reachesOtherObjects(from entity: EntityDescription, in model: ManagedObjectModel) -> Bool {
        let entities = [entity] + model.descendants(of: entity)
        let relationships = Set(entities.flatMap { model.relationships(of: $0) }.map(\.name))
        return uses { path in
            let first = path.split(separator: ".").first.map(String.init) ?? path
            return path.contains(".") && relationships.contains(first) || path.contains("@")
        }
    }

    fileprivate func uses(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .constant: false
        case .comparison(let comparison): comparison.left.uses(isWanted) || comparison.right.uses(isWanted)
        case .and(let parts), .or(let parts): parts.contains { $0.uses(isWanted) }
        case .not(let part): part.uses(isWanted)
        }
    }
}

extension Expression {
    fileprivate func uses(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .constant, .evaluatedObject, .variable: false
        case .keyPath(let path, of: .evaluatedObject): isWanted(path)
        // A path that starts elsewhere starts at an object or a value that is reached already.
        case .keyPath: true
        case .function(_, let arguments): arguments.contains { $0.uses(isWanted) }
        case .message(_, let target, let arguments): ([target] + arguments).contains { $0.uses(isWanted) }
        case .aggregate(let parts): parts.contains { $0.uses(isWanted) }
        case .subquery: true
        case .conditional(let condition, let one, let other):
            condition.uses(isWanted) || one.uses(isWanted) || other.uses(isWanted)
        }
    }
}
