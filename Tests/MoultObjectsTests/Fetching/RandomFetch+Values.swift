import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

extension RandomFetch {
    /// An expression with one value of the family; nil where the entity has none.
    mutating func scalar(_ base: Base, _ family: Family, depth: Int) -> Expression? {
        if depth > 0, pool.chance(2, of: 5), let computed = computed(base, family, depth: depth - 1) { return computed }
        return attributePath(base.entity, family, depth: 2).map(base.path)
    }

    private mutating func computed(_ base: Base, _ family: Family, depth: Int) -> Expression? {
        if pool.chance(1, of: 6), let first = scalar(base, family, depth: depth),
            let second = alike(first, base, family, depth: depth)
        {
            return .conditional(comparison(base, depth: 0), first, second)
        }
        switch family {
        case .number: return number(base, depth: depth)
        case .date: return date(base, depth: depth)
        case .text: return text(base, depth: depth)
        case .bytes: return nil
        }
    }

    /// A second value whose type is certainly the same: SQL has no conditional of two types.
    private mutating func alike(_ first: Expression, _ base: Base, _ family: Family, depth: Int) -> Expression? {
        family == .number ? first : pool.chance(1, of: 2) ? .constant(.null) : first
    }

    private mutating func number(_ base: Base, depth: Int) -> Expression? {
        switch pool.pick(0..<8) {
        case 0, 1:
            guard let left = scalar(base, .number, depth: depth) else { return nil }
            let right = pool.chance(1, of: 2) ? constant(.number) : scalar(base, .number, depth: depth)
            return right.map { .function(pool.pick(Expression.Arithmetic.allCases).rawValue, [left, $0]) }
        case 2:
            let names = ["abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "ln:", "log:", "exp:", "onesComplement:"]
            return scalar(base, .number, depth: depth).map { .function(pool.pick(names), [$0]) }
        case 3:
            let names = ["modulus:by:", "bitwiseAnd:with:", "bitwiseOr:with:", "leftshift:by:"]
            return scalar(base, .number, depth: depth).map { .function(pool.pick(names), [$0, constant(.number)]) }
        case 4: return scalar(base, .text, depth: depth).map { .function("length:", [$0]) }
        case 5:
            guard let date = scalar(base, .date, depth: depth) else { return nil }
            return .function("from:subtract:", [date, constant(.date)])
        default: return collected(base, .number)
        }
    }

    private mutating func date(_ base: Base, depth: Int) -> Expression? {
        guard pool.chance(1, of: 2), let date = scalar(base, .date, depth: depth) else { return collected(base, .date) }
        return .function(
            pool.pick(["add:to:", "from:subtract:"]), [date, .constant(.integer(pool.pick([0, 1, 86_400])))])
    }

    private mutating func text(_ base: Base, depth: Int) -> Expression? {
        guard pool.chance(2, of: 3), let text = scalar(base, .text, depth: depth) else { return collected(base, .text) }
        return .function(pool.pick(["uppercase:", "lowercase:", "canonical:", "noindex:"]), [text])
    }

    /// One value over a to-many.
    private mutating func collected(_ base: Base, _ family: Family) -> Expression? {
        guard let (path, end) = toManyPath(base) else { return nil }
        if family == .number, pool.chance(1, of: 4) { return .function("count:", [base.path(path)]) }
        guard let attribute = attributePath(end, family, depth: 1) else { return nil }
        if pool.chance(1, of: 4) {
            let index: ExpressionValue = pool.pick([
                .string("FIRST"), .string("LAST"), .integer(0), .integer(1), .integer(9),
            ])
            return pool.chance(1, of: 2)
                ? .function("objectFrom:withIndex:", [base.path("\(path).\(attribute)"), .constant(index)])
                : .keyPath(
                    attribute, of: .function("objectFrom:withIndex:", [base.path(path), .constant(index)]))
        }
        if family == .number, pool.chance(1, of: 3) {
            let union = base.path("\(path).@distinctUnionOfObjects.\(attribute)")
            return .function(pool.pick(["count:", "sum:", "max:"]), [union])
        }
        let operators = family == .number ? ["@sum", "@avg", "@min", "@max"] : ["@min", "@max"]
        let collector = pool.pick(operators)
        return pool.chance(1, of: 2)
            ? base.path("\(path).\(collector).\(attribute)") : base.path("\(path).\(attribute).\(collector)")
    }

    // MARK: - Key paths

    /// A path through to-one relationships to an attribute of the family; nil where there is none.
    mutating func attributePath(_ entity: EntityDescription, _ family: Family, depth: Int) -> String? {
        if depth > 0, pool.chance(1, of: 3), let step = toOneSteps(entity).randomElement(using: &pool.generator) {
            if let rest = attributePath(step.destination, family, depth: depth - 1) { return "\(step.name).\(rest)" }
        }
        return model.storedAttributes(of: entity).filter { attribute in
            !attribute.description.allowsExternalBinaryDataStorage && Self.family(attribute.description.type) == family
        }.map(\.name).randomElement(using: &pool.generator)
    }

    private static func family(_ type: AttributeType) -> Family? {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: .number
        case .date: .date
        case .string, .uri: .text
        case .binary, .uuid: .bytes
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }

    func toOneSteps(_ entity: EntityDescription) -> [(name: String, destination: EntityDescription)] {
        steps(entity) { !$0.isToMany }
    }

    func toManySteps(_ entity: EntityDescription) -> [(name: String, destination: EntityDescription)] {
        steps(entity) { $0.isToMany }
    }

    private func steps(_ entity: EntityDescription, _ isIncluded: (RelationshipDescription) -> Bool)
        -> [(name: String, destination: EntityDescription)]
    {
        model.relationships(of: entity).filter(isIncluded).compactMap { relationship in
            model.entity(relationship.destinationEntityName).map { (relationship.name, $0) }
        }
    }

    mutating func toOnePath(_ entity: EntityDescription) -> (String, EntityDescription)? {
        guard let step = toOneSteps(entity).randomElement(using: &pool.generator) else { return nil }
        if pool.chance(1, of: 3), let next = toOneSteps(step.destination).randomElement(using: &pool.generator) {
            return ("\(step.name).\(next.name)", next.destination)
        }
        return (step.name, step.destination)
    }

    /// A path with at least one to-many relationship in it.
    mutating func toManyPath(_ base: Base) -> (String, EntityDescription)? {
        var names: [String] = []
        var entity = base.entity
        var hasMany = false
        for _ in 0..<3 {
            let many = toManySteps(entity)
            let one = toOneSteps(entity)
            let wantsOne = hasMany ? pool.chance(1, of: 2) : pool.chance(1, of: 4)
            guard let step = (wantsOne ? one : many).randomElement(using: &pool.generator) else { break }
            names.append(step.name)
            entity = step.destination
            hasMany = hasMany || !wantsOne
            if hasMany, pool.chance(2, of: 3) { break }
        }
        return hasMany ? (names.joined(separator: "."), entity) : nil
    }
}
