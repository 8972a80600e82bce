import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

/// Fetches over ``FetchModel`` that follow from a seed: any predicate that can be asked of it, and any order.
struct RandomFetch {
    /// What may be compared with each other without a mistake.
    enum Family: CaseIterable { case number, date, text, bytes }

    /// Where key paths start, and what they start at.
    struct Base {
        var expression: Expression
        var entity: EntityDescription

        func path(_ path: String) -> Expression { .keyPath(path, of: expression) }
    }

    let world: FetchWorld
    var pool: ValuePool
    private var variableCount = 0

    init(_ world: FetchWorld, seed: UInt64) {
        self.world = world
        pool = ValuePool(seed: seed)
    }

    var model: ManagedObjectModel { world.model }

    mutating func fetch() -> ObjectFetch {
        let entity = pool.pick(model.entities)
        let base = Base(expression: .evaluatedObject, entity: entity)
        var fetch = ObjectFetch(entityName: entity.name, predicate: predicate(base, depth: 2))
        if pool.chance(1, of: 6) { fetch.predicate = nil }
        fetch.includesSubentities = pool.chance(4, of: 5)
        for _ in 0..<pool.pick([0, 1, 1, 2, 3]) {
            let options: Predicate.Options = pool.pick([
                [], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive],
            ])
            fetch.sort.append(.init(sortPath(entity), isAscending: pool.chance(1, of: 2), options: options))
        }
        if pool.chance(1, of: 4) { fetch.limit = pool.pick([1, 3, 100]) }
        if pool.chance(1, of: 4) { fetch.offset = pool.pick([1, 2, 100]) }
        return fetch
    }

    private mutating func sortPath(_ entity: EntityDescription) -> String {
        switch pool.pick(0..<8) {
        case 0: toOneSteps(entity).map(\.name).randomElement(using: &pool.generator) ?? "self"
        case 1: toManySteps(entity).map { "\($0.name).@count" }.randomElement(using: &pool.generator) ?? "self"
        default: attributePath(entity, pool.pick(Family.allCases), depth: 2) ?? "self"
        }
    }

    // MARK: - Logic

    mutating func predicate(_ base: Base, depth: Int) -> Predicate {
        guard depth > 0 else { return comparison(base, depth: 1) }
        switch pool.pick(0..<8) {
        case 0, 1: return .and((0..<pool.pick([0, 2, 2, 3])).map { _ in predicate(base, depth: depth - 1) })
        case 2, 3: return .or((0..<pool.pick([0, 2, 2, 3])).map { _ in predicate(base, depth: depth - 1) })
        case 4, 5: return .not(predicate(base, depth: depth - 1))
        case 6: return pool.chance(1, of: 8) ? .constant(pool.chance(1, of: 2)) : comparison(base, depth: 1)
        default: return comparison(base, depth: 1)
        }
    }

    mutating func comparison(_ base: Base, depth: Int) -> Predicate {
        switch pool.pick(0..<20) {
        case 0...8: return values(base, depth: depth)
        case 9...12: return modified(base, depth: depth)
        case 13...15: return identity(base)
        case 16: return membership(base, depth: depth)
        case 17: return entityName(base)
        default: return subquery(base, depth: depth)
        }
    }

    // MARK: - Single values

    private mutating func values(_ base: Base, depth: Int) -> Predicate {
        let family = pool.pick(Family.allCases)
        guard let left = scalar(base, family, depth: depth) else { return .constant(true) }
        switch pool.pick(0..<10) {
        case 0:
            return .comparison(.init(left, pool.pick([.equal, .notEqual]), .constant(.null)))
        case 1:
            return .comparison(.init(left, .in, .constant(.collection(list(family)))))
        case 2:
            let bounds = [constant(family), scalar(base, family, depth: 0) ?? constant(family)]
            return .comparison(.init(left, .between, .aggregate(bounds.shuffled(using: &pool.generator))))
        case 3 where pool.chance(1, of: 3):
            // Values of other kinds are never equal.
            return .comparison(.init(left, pool.pick([.equal, .notEqual]), constant(pool.pick(Family.allCases))))
        default:
            let right =
                pool.chance(2, of: 3) ? constant(family) : scalar(base, family, depth: depth) ?? constant(family)
            let sides = pool.chance(1, of: 6) ? (right, left) : (left, right)
            return test(sides.0, sides.1, family)
        }
    }

    private mutating func test(
        _ left: Expression, _ right: Expression, _ family: Family, modifier: Predicate.Modifier = .direct
    ) -> Predicate {
        var operators: [Predicate.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        var options: Predicate.Options = []
        var right = right
        if family == .text {
            operators += [.beginsWith, .endsWith, .contains, .like, .matches, .in, .beginsWith, .contains]
            options = pool.pick([
                [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
                [.caseInsensitive, .normalized], .localeSensitive,
            ])
        }
        let chosen = pool.pick(operators)
        if chosen == .like { right = .constant(.string(pool.pick(Self.patterns))) }
        if chosen == .matches { right = .constant(.string(pool.pick(Self.regularExpressions))) }
        return .comparison(.init(left, chosen, right, modifier: modifier, options: options))
    }

    private static let patterns = [
        "*", "a*", "*c", "?", "??", "a?c", "*b*", "A*", "é", "?\u{301}", "a\\*b", "*\\?*", "", "日*", "*ss*", "\\",
        "[a]",
    ]
    private static let regularExpressions = ["a.*", "[a-c]+", "", ".", "(?i)abc", "é|e", "\\d+", "日.?", ".*b.*"]

    private mutating func list(_ family: Family) -> [ExpressionValue] {
        let count = pool.pick([0, 1, 2, 3, 5, 100])
        return (0..<count).map { _ in
            let other = pool.chance(1, of: 12) ? pool.pick(Family.allCases) : family
            return pool.chance(1, of: 8) ? .null : constantValue(other)
        }
    }

    mutating func constantValue(_ family: Family) -> ExpressionValue {
        let types: [AttributeType] =
            switch family {
            case .number: [.integer16, .integer32, .integer64, .double, .float, .decimal, .boolean]
            case .date: [.date]
            case .text: [.string, .string, .uri]
            case .bytes: [.binary, .uuid]
            }
        return ExpressionValue(pool.value(pool.pick(types)))
    }

    mutating func constant(_ family: Family) -> Expression { .constant(constantValue(family)) }

    // MARK: - Collections

    /// ANY, ALL and NONE.
    private mutating func modified(_ base: Base, depth: Int) -> Predicate {
        guard let (path, end) = toManyPath(base) else { return values(base, depth: depth) }
        let modifier: Predicate.Modifier = pool.chance(1, of: 2) ? .any : .all
        let family = pool.pick(Family.allCases)
        let found: Predicate
        if let attribute = attributePath(end, family, depth: 1), pool.chance(4, of: 5) {
            let left = base.path("\(path).\(attribute)")
            switch pool.pick(0..<6) {
            case 0:
                found = .comparison(.init(left, pool.pick([.equal, .notEqual]), .constant(.null), modifier: modifier))
            case 1: found = .comparison(.init(left, .in, .constant(.collection(list(family))), modifier: modifier))
            case 2:
                let right = scalar(base, family, depth: 0) ?? constant(family)
                found = test(left, right, family, modifier: modifier)
            default: found = test(left, constant(family), family, modifier: modifier)
            }
        } else {
            let right = objects(of: end)
            found =
                pool.chance(1, of: 2)
                ? .comparison(.init(base.path(path), .in, .constant(.collection(right)), modifier: modifier))
                : .comparison(
                    .init(
                        base.path(path), pool.pick([.equal, .notEqual]), .constant(right.first ?? .null),
                        modifier: modifier))
        }
        return pool.chance(1, of: 3) ? .not(found) : found
    }

    /// A value or an object among those of a to-many.
    private mutating func membership(_ base: Base, depth: Int) -> Predicate {
        guard let (path, end) = toManyPath(base) else { return values(base, depth: depth) }
        let family = pool.pick(Family.allCases)
        var element = Expression.constant(objects(of: end).first ?? .null)
        var collection = base.path(path)
        if let attribute = attributePath(end, family, depth: 1), pool.chance(1, of: 2) {
            collection = base.path("\(path).\(attribute)")
            element = pool.chance(1, of: 2) ? constant(family) : scalar(base, family, depth: 0) ?? constant(family)
        } else if pool.chance(1, of: 3) {
            element = base.expression
        }
        return pool.chance(1, of: 2)
            ? .comparison(.init(element, .in, collection)) : .comparison(.init(collection, .contains, element))
    }

    private mutating func subquery(_ base: Base, depth: Int) -> Predicate {
        guard depth > 0, let (collection, end) = filtered(base, depth: depth - 1) else {
            return modified(base, depth: 0)
        }
        if let path = attributePath(end, .number, depth: 1), pool.chance(1, of: 4) {
            return test(
                .keyPath(path, of: collection), constant(.number), .number, modifier: pool.pick([.any, .all]))
        }
        return .comparison(
            .init(
                .function("count:", [collection]), pool.pick([.equal, .greaterThan, .lessThanOrEqual]),
                .constant(.integer(pool.pick([0, 1, 2])))))
    }

    /// `SUBQUERY(path, $x, …)`
    private mutating func filtered(_ base: Base, depth: Int) -> (Expression, EntityDescription)? {
        guard let (path, end) = toManyPath(base) else { return nil }
        variableCount += 1
        let name = "x\(variableCount)"
        let inner = Base(expression: .variable(name), entity: end)
        var condition = predicate(inner, depth: depth)
        // Outside of the subquery the object is the outer one still.
        if pool.chance(1, of: 3) { condition = .and([condition, comparison(base, depth: 0)]) }
        return (.subquery(base.path(path), variable: name, condition), end)
    }

    // MARK: - Objects

    private mutating func identity(_ base: Base) -> Predicate {
        let comparison: Predicate.Operator = pool.pick([.equal, .notEqual])
        var (left, end) = (base.expression, base.entity)
        if let (path, destination) = toOnePath(base.entity), pool.chance(3, of: 4) {
            (left, end) = (base.path(path), destination)
        }
        let others = objects(of: end)
        switch pool.pick(0..<5) {
        case 0: return .comparison(.init(left, comparison, .constant(.null)))
        case 1: return .comparison(.init(left, .in, .constant(.collection(others))))
        case 2:
            guard let (path, _) = toOnePath(base.entity) else { break }
            return .comparison(.init(left, comparison, base.path(path)))
        case 3:
            guard let (path, _) = toManyPath(base) else { break }
            return .comparison(.init(left, .in, base.path(path)))
        default: break
        }
        return .comparison(.init(left, comparison, .constant(others.first ?? .null)))
    }

    private mutating func entityName(_ base: Base) -> Predicate {
        let name = pool.pick(["Writer", "Poet", "Laureate", "Book", "Nobody"])
        let path = pool.pick(["entity", "entity.name"])
        return pool.chance(1, of: 2)
            ? .comparison(.init(base.path(path), pool.pick([.equal, .notEqual]), .constant(.string(name))))
            : .comparison(.init(base.path(path), .in, .constant(.collection([.string(name), .string("Poet")]))))
    }

    /// A few objects of an entity, strangers among them.
    private mutating func objects(of entity: EntityDescription) -> [ExpressionValue] {
        let candidates = world.objects(of: entity, includingSubentities: true)
        var chosen = (0..<pool.pick([1, 2, 4, 80])).map { _ in ExpressionValue.object(pool.pick(candidates)) }
        if pool.chance(1, of: 6) {
            chosen.insert(.object(ObjectID(store: .init(), entityName: entity.name, key: 1)), at: 0)
        }
        if pool.chance(1, of: 6) { chosen.append(.null) }
        if pool.chance(1, of: 10) { chosen.append(.string("a")) }
        return chosen
    }
}
