import Foundation
import MoultData
import MoultObjects

private typealias PE = PredicateExpressions
typealias Part<Value> = any StandardPredicateExpression<Value>

/// A part whose type says nothing of its own parts, so that ten thousand predicates are not as many types.
struct Erased<Output>: StandardPredicateExpression, PredicateTranslatable, CustomStringConvertible {
    let part: Part<Output>

    func evaluate(_ bindings: PredicateBindings) throws -> Output { try part.evaluate(bindings) }

    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm { try translation.term(part) }

    var description: String { "\(part)" }

    struct IsOfTests: Error {}
    init(_ part: Part<Output>) { self.part = part }
    init(from decoder: any Decoder) throws { throw IsOfTests() }
    func encode(to encoder: any Encoder) throws { throw IsOfTests() }
}

/// Makes predicates at random, of all that a store can be asked.
struct RandomPredicates {
    typealias Work = Library.Work
    typealias Novel = Library.Novel
    typealias Person = Library.Person
    typealias Tag = Library.Tag

    var data: LibraryData
    /// Identities of stored objects.
    let people: [PersistentIdentifier]
    let works: [PersistentIdentifier]

    /// What a part may be about.
    struct Scope {
        var works: [Part<Work>] = []
        var novels: [Part<Novel>] = []
        var people: [Part<Person>] = []
        var tags: [Part<Tag>] = []
    }

    mutating func work(depth: Int) -> Predicate<Work> {
        var maker = self
        let predicate = Predicate<Work> { maker.bool(Scope(works: [$0]), depth) }
        self = maker
        return predicate
    }

    mutating func novel(depth: Int) -> Predicate<Novel> {
        var maker = self
        let predicate = Predicate<Novel> { maker.bool(Scope(novels: [$0]), depth) }
        self = maker
        return predicate
    }

    mutating func person(depth: Int) -> Predicate<Person> {
        var maker = self
        let predicate = Predicate<Person> { maker.bool(Scope(people: [$0]), depth) }
        self = maker
        return predicate
    }

    // MARK: - Choosing

    mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &data.random) }
    mutating func flip() -> Bool { number(2) == 0 }
    mutating func one<Value>(of values: [Value]) -> Value { data.one(of: values) }

    func value<Value: Codable & Sendable>(_ value: Value) -> Part<Value> { PE.build_Arg(value) as PE.Value<Value> }

    /// A property of one of the models in scope; nil where there is none of the kind.
    func property<Model, Value>(
        _ part: Part<Model>, _ path: any KeyPath<Model, Value> & Sendable
    ) -> Part<Value> {
        func open<Root: StandardPredicateExpression<Model>>(_ root: Root) -> Part<Value> {
            PE.build_KeyPath(root: root, keyPath: path)
        }
        return Erased(open(part))
    }

    // MARK: - Conditions

    mutating func bool(_ scope: Scope, _ depth: Int) -> Part<Bool> {
        guard depth > 0 else { return leaf(scope) }
        let below = depth - 1
        switch number(20) {
        case 0, 1:
            let (left, right) = (Erased(bool(scope, below)), Erased(bool(scope, below)))
            return PE.build_Conjunction(lhs: left, rhs: right)
        case 2, 3:
            let (left, right) = (Erased(bool(scope, below)), Erased(bool(scope, below)))
            return PE.build_Disjunction(lhs: left, rhs: right)
        case 4, 5: return PE.build_Negation(Erased(bool(scope, below)))
        case 6:
            let test = Erased(bool(scope, below))
            return PE.build_Conditional(test, Erased(bool(scope, below)), Erased(bool(scope, below)))
        case 7: return equal(bool(scope, below), bool(scope, below))
        case 8, 9: return about(optionalBool(scope, below))
        case 10, 11: return collection(scope, below)
        case 12: return compare(int(scope, below), int(scope, below))
        case 13: return compare(double(scope, below), double(scope, below))
        case 14: return equal(int(scope, below), int(scope, below))
        case 15: return texts(scope, below)
        case 16: return cast(scope, below)
        case 17: return equal(optionalText(scope, below), optionalText(scope, below))
        case 18: return equal(optionalInt(scope, below), optionalInt(scope, below))
        default: return leaf(scope)
        }
    }

    /// Something simple of a model in scope.
    mutating func leaf(_ scope: Scope) -> Part<Bool> {
        switch number(4) {
        case 0: return text(scope, 0)
        case 1: return compare(int(scope, 0), value(one(of: LibraryData.numbers)))
        default: break
        }
        if let work = work(in: scope) { return leaf(work) }
        if !scope.people.isEmpty, flip() || scope.tags.isEmpty { return leaf(one(of: scope.people)) }
        if scope.tags.isEmpty { return value(flip()) }
        return leaf(one(of: scope.tags))
    }

    private mutating func leaf(_ person: Part<Person>) -> Part<Bool> {
        switch number(6) {
        case 0: return equal(property(person, \.born), value(data.maybe(LibraryData.dates)))
        case 1: return equal(property(person, \.nickname), value(data.maybe(LibraryData.texts)))
        case 2: return compare(property(person, \.age), value(one(of: LibraryData.numbers)))
        case 3: return equal(property(person, \.persistentModelID), value(one(of: people)))
        case 4: return contains(value([one(of: people), one(of: people)]), property(person, \.persistentModelID))
        default: return equal(property(person, \.mentor), nothing())
        }
    }

    private mutating func leaf(_ tag: Part<Tag>) -> Part<Bool> {
        flip()
            ? equal(property(tag, \.weight), value(data.maybe(LibraryData.numbers)))
            : equal(property(tag, \.label), value(one(of: LibraryData.texts)))
    }

    private mutating func leaf(_ work: Part<Work>) -> Part<Bool> {
        switch number(24) {
        case 0: return property(work, \.isRare)
        case 1: return equal(property(work, \.isSigned), value(data.maybe([true, false])))
        case 2: return compare(property(work, \.stars), value(one(of: [0, 1, 200] as [UInt8])))
        case 3: return compare(property(work, \.readers), value(one(of: LibraryData.readers)))
        case 4: return compare(property(work, \.serial), value(one(of: LibraryData.serials)))
        case 5: return equal(property(work, \.serial), value(one(of: LibraryData.serials)))
        case 6: return equal(property(work, \.rating), value(data.maybe(LibraryData.doubles)))
        case 7: return compare(property(work, \.mass), value(one(of: LibraryData.floats)))
        case 8: return compare(property(work, \.price), value(one(of: LibraryData.decimals)))
        case 9: return equal(property(work, \.fee), value(data.maybe(LibraryData.decimals)))
        case 10: return compare(property(work, \.published), value(one(of: LibraryData.dates)))
        case 11: return equal(property(work, \.returned), value(data.maybe(LibraryData.dates)))
        case 12: return compare(property(work, \.code), value(one(of: LibraryData.uuids)))
        case 13: return equal(property(work, \.owner), value(data.maybe(LibraryData.uuids)))
        case 14: return equal(property(work, \.cover), value(one(of: LibraryData.datas)))
        case 15: return equal(property(work, \.page), value(data.maybe(LibraryData.urls)))
        case 16: return equal(property(work, \.status), value(one(of: Library.Status.allCases)))
        case 17: return equal(property(work, \.mood), value(data.maybe(Library.Mood.allCases)))
        case 18: return contains(value(Array(LibraryData.texts.shuffled(using: &data.random).prefix(12))), title(work))
        case 19: return contains(value([data.maybe(LibraryData.numbers), 1]), age(of: work))
        case 20: return equal(property(work, \.author), property(work, \.translator))
        case 21: return equal(property(work, \.edition), value(data.maybe([-3, 0, 1] as [Int16])))
        case 22: return contains(value(Set([one(of: works), one(of: works)])), property(work, \.persistentModelID))
        default: return range(property(work, \.pages))
        }
    }

    private func age(of work: Part<Work>) -> Part<Int?> {
        map(property(work, \.author)) { self.property($0, \.age) }
    }

    private func title(_ work: Part<Work>) -> Part<String> { property(work, \.title) }

    private mutating func range(_ part: Part<Int>) -> Part<Bool> {
        func open(_ part: some StandardPredicateExpression<Int>, _ kind: Int, _ low: Int, _ high: Int) -> Part<Bool> {
            switch kind {
            case 0: PE.build_contains(PE.build_Arg(low..<high), part)
            case 1: PE.build_contains(PE.build_Arg(low...high), part)
            case 2: PE.build_contains(PE.build_Arg(low...), part)
            case 3:
                PE.build_contains(PE.build_Range(lower: PE.build_Arg(low), upper: PE.build_Arg(high)), part)
            default:
                PE.build_contains(PE.build_ClosedRange(lower: PE.build_Arg(low), upper: PE.build_Arg(high)), part)
            }
        }
        let low = one(of: LibraryData.numbers)
        return open(part, number(5), low, low + number(10))
    }

    /// A work in scope, a novel for one.
    mutating func work(in scope: Scope) -> Part<Work>? {
        if !scope.novels.isEmpty, scope.works.isEmpty || flip() {
            func open(_ novel: some StandardPredicateExpression<Novel>) -> Part<Work> { PE.ForceCast<_, Work>(novel) }
            let novel = one(of: scope.novels)
            return open(novel)
        }
        return scope.works.isEmpty ? nil : one(of: scope.works)
    }

    // MARK: - Comparing

    mutating func equal<Value: Equatable>(_ left: Part<Value>, _ right: Part<Value>) -> Part<Bool> {
        flip()
            ? PE.build_Equal(lhs: Erased(left), rhs: Erased(right))
            : PE.build_NotEqual(lhs: Erased(left), rhs: Erased(right))
    }

    mutating func compare<Value: Comparable>(_ left: Part<Value>, _ right: Part<Value>) -> Part<Bool> {
        let symbols: [PE.ComparisonOperator] = [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual]
        return PE.build_Comparison(lhs: Erased(left), rhs: Erased(right), op: one(of: symbols))
    }

    func contains<List: Sequence>(_ list: Part<List>, _ element: Part<List.Element>) -> Part<Bool>
    where List.Element: Equatable { PE.build_contains(Erased(list), Erased(element)) }

    func nothing<Value>() -> Part<Value?> { PE.build_NilLiteral() as PE.NilLiteral<Value> }
}
