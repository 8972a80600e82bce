import Foundation
import MoultData
import MoultObjects

private typealias PE = PredicateExpressions

extension RandomPredicates {
    // MARK: - Optionals

    func map<Whole, Result>(
        _ whole: Part<Whole?>, _ body: (Part<Whole>) -> Part<Result>
    ) -> Part<Result?> {
        PE.build_flatMap(Erased(whole)) { (whole: PE.Variable<Whole>) in Erased(body(whole)) }
            as PE.OptionalFlatMap<Erased<Whole?>, Whole, Erased<Result>, Result>
    }

    func flatMap<Whole, Result>(
        _ whole: Part<Whole?>, _ body: (Part<Whole>) -> Part<Result?>
    ) -> Part<Result?> {
        PE.build_flatMap(Erased(whole)) { (whole: PE.Variable<Whole>) in Erased(body(whole)) }
            as PE.OptionalFlatMap<Erased<Whole?>, Whole, Erased<Result?>, Result>
    }

    private func or<Value>(_ optional: Part<Value?>, _ other: Part<Value>) -> Part<Value> {
        PE.build_NilCoalesce(lhs: Erased(optional), rhs: Erased(other))
    }

    private func unwrap<Value>(_ optional: Part<Value?>) -> Part<Value> { PE.build_ForcedUnwrap(Erased(optional)) }

    /// A condition that may have no answer, made one that has.
    mutating func about(_ optional: Part<Bool?>) -> Part<Bool> {
        switch number(6) {
        case 0: equal(optional, value(data.maybe([true, false])))
        case 1: or(optional, value(false))
        case 2: or(optional, value(true))
        case 3: equal(optional, nothing())
        case 4: equal(optional, value(true))
        default: unwrap(optional)
        }
    }

    mutating func optionalBool(_ scope: Scope, _ depth: Int) -> Part<Bool?> {
        if let person = person(in: scope) {
            var maker = self
            defer { self = maker }
            return map(person) { found in
                var inner = scope
                inner.people.append(found)
                return maker.bool(inner, depth)
            }
        }
        return flatMap(optionalInt(scope, depth)) { number in
            self.map(self.value(3 as Int?)) { PE.build_Comparison(lhs: Erased(number), rhs: Erased($0), op: .lessThan) }
        }
    }

    /// Another person than those in scope; nil where nothing leads to one.
    mutating func person(in scope: Scope) -> Part<Person?>? {
        if !scope.people.isEmpty, flip() { return property(one(of: scope.people), \.mentor) }
        guard let work = work(in: scope) else { return scope.people.last.map { property($0, \.mentor) } }
        switch number(3) {
        case 0: return property(work, \.author)
        case 1: return property(work, \.translator)
        default:
            let test = Erased(property(work, \.isRare))
            return PE.build_Conditional(
                test, Erased(property(work, \.author)), Erased(property(work, \.translator)))
        }
    }

    // MARK: - To-many relationships

    mutating func collection(_ scope: Scope, _ depth: Int) -> Part<Bool> {
        if let work = work(in: scope), flip() {
            return elements(property(work, \.tags), depth) { tag in Scope(tags: [tag]) }
        }
        if let person = scope.people.last {
            if number(4) == 0 {
                let translations = or(property(person, \.translations), value2())
                return elements(translations, depth) { work in Scope(works: [work], people: [person]) }
            }
            return flip()
                ? elements(property(person, \.works), depth) { work in Scope(works: [work], people: [person]) }
                : elements(property(person, \.students), depth) { student in Scope(people: [person, student]) }
        }
        if let tag = scope.tags.last {
            return elements(property(tag, \.works), depth) { work in Scope(works: [work], tags: [tag]) }
        }
        return about(optionalBool(scope, depth))
    }

    private func value2() -> Part<[Work]> { Nothing() }

    /// No works: models are no constants.
    private struct Nothing: StandardPredicateExpression, PredicateTranslatable {
        func evaluate(_ bindings: PredicateBindings) -> [Work] { [] }
        func translated(by translation: inout PredicateTranslation) -> PredicateTerm { .constant([Work]()) }
    }

    private mutating func elements<Model: PersistentModel>(
        _ list: Part<[Model]>, _ depth: Int, _ scope: (Part<Model>) -> Scope
    ) -> Part<Bool> {
        var maker = self
        defer { self = maker }
        let list = Erased(list)
        func test(_ element: PE.Variable<Model>) -> Erased<Bool> { Erased(maker.bool(scope(element), depth - 1)) }
        switch number(6) {
        case 0: return PE.build_contains(list, where: test)
        case 1: return PE.build_allSatisfy(list, test)
        case 2:
            let filtered: Part<[Model]> = PE.build_filter(list, test)
            return maker.compare(maker.property(filtered, \.count), maker.value(maker.number(4)))
        case 3: return maker.property(list, \.isEmpty)
        case 4: return maker.compare(maker.property(list, \.count), maker.value(maker.number(4)))
        default:
            let filtered: Part<[Model]> = PE.build_filter(list, test)
            return maker.property(filtered, \.isEmpty)
        }
    }

    // MARK: - Numbers

    mutating func int(_ scope: Scope, _ depth: Int) -> Part<Int> {
        guard depth > 0 else {
            switch number(5) {
            case 0: return value(one(of: LibraryData.numbers))
            case 1: return property(text(in: scope, 0), \.count)
            case 2: return or(optionalInt(scope, 0), value(one(of: LibraryData.numbers)))
            case 3: return unwrap(optionalInt(scope, 0))
            default: break
            }
            if let work = work(in: scope) { return property(work, \.pages) }
            return scope.people.last.map { property($0, \.age) } ?? value(2)
        }
        let (left, right) = (Erased(int(scope, depth - 1)), Erased(int(scope, 0)))
        switch number(7) {
        case 0: return PE.build_Arithmetic(lhs: left, rhs: right, op: .add)
        case 1: return PE.build_Arithmetic(lhs: left, rhs: right, op: .subtract)
        case 2: return PE.build_Arithmetic(lhs: right, rhs: Erased(int(scope, 0)), op: .multiply)
        case 3: return PE.build_Division(lhs: left, rhs: Erased(value(one(of: [-3, -1, 2, 7]))))
        case 4: return PE.build_Remainder(lhs: left, rhs: Erased(value(one(of: [-3, 2, 7]))))
        case 5: return PE.build_UnaryMinus(left)
        default: return PE.build_Conditional(Erased(bool(scope, depth - 1)), left, right)
        }
    }

    mutating func optionalInt(_ scope: Scope, _ depth: Int) -> Part<Int?> {
        if let tag = scope.tags.last, flip() { return property(tag, \.weight) }
        if let work = work(in: scope), number(4) == 0 {
            return map(property(work, \.mood)) { self.property($0, \.rawValue) }
        }
        if let person = person(in: scope) { return map(person) { self.property($0, \.age) } }
        return value(data.maybe(LibraryData.numbers))
    }

    mutating func double(_ scope: Scope, _ depth: Int) -> Part<Double> {
        guard depth > 0 else {
            guard let work = work(in: scope), flip() else {
                return value(one(of: Array(LibraryData.doubles.dropLast())))
            }
            return flip()
                ? property(work, \.height)
                : or(property(work, \.rating), value(one(of: LibraryData.doubles)))
        }
        let (left, right) = (Erased(double(scope, depth - 1)), Erased(double(scope, 0)))
        switch number(5) {
        case 0: return PE.build_Arithmetic(lhs: left, rhs: right, op: .add)
        case 1: return PE.build_Arithmetic(lhs: left, rhs: right, op: .multiply)
        case 2: return PE.build_Division(lhs: left, rhs: right)
        case 3: return PE.build_UnaryMinus(left)
        default: return PE.build_Conditional(Erased(bool(scope, depth - 1)), left, right)
        }
    }

    // MARK: - Texts

    /// A text of a model in scope.
    mutating func text(in scope: Scope, _ depth: Int) -> Part<String> {
        if depth > 0, flip() { return or(optionalText(scope, depth - 1), value(one(of: LibraryData.texts))) }
        if let novel = scope.novels.last, flip() { return property(novel, \.title) }
        if let work = work(in: scope) { return property(work, \.title) }
        if let tag = scope.tags.last, flip() { return property(tag, \.label) }
        return scope.people.last.map { property($0, \.name) } ?? value("e")
    }

    mutating func optionalText(_ scope: Scope, _ depth: Int) -> Part<String?> {
        switch number(4) {
        case 0: return value(data.maybe(LibraryData.texts))
        case 1: if let person = person(in: scope) { return map(person) { self.property($0, \.name) } }
        case 2: if let novel = scope.novels.last { return property(novel, \.hero) }
        default: break
        }
        if let work = work(in: scope) { return property(work, \.subtitle) }
        return scope.people.last.map { property($0, \.nickname) } ?? value("a" as String?)
    }

    /// A test of a text by a constant.
    mutating func text(_ scope: Scope, _ depth: Int) -> Part<Bool> {
        let other = value(one(of: LibraryData.texts))
        return texts(text(in: scope, depth), other)
    }

    mutating func texts(_ scope: Scope, _ depth: Int) -> Part<Bool> {
        texts(text(in: scope, depth), text(in: scope, depth))
    }

    private mutating func texts(_ left: Part<String>, _ right: Part<String>) -> Part<Bool> {
        let (one, other) = (Erased(left), Erased(right))
        switch number(9) {
        case 0: return PE.build_contains(one, other)
        case 1: return PE.build_starts(one, with: other)
        case 2: return PE.build_localizedStandardContains(one, other)
        case 3: return equal(PE.build_caseInsensitiveCompare(one, other), value(order()))
        case 4: return equal(PE.build_localizedCompare(one, other), value(order()))
        case 5: return compare(left, right)
        case 6: return property(left, \.isEmpty)
        default: return equal(left, right)
        }
    }

    private mutating func order() -> ComparisonResult {
        switch number(3) {
        case 0: .orderedAscending
        case 1: .orderedSame
        default: .orderedDescending
        }
    }

    // MARK: - Classes

    mutating func cast(_ scope: Scope, _ depth: Int) -> Part<Bool> {
        guard let work = work(in: scope) else { return leaf(scope) }
        func isNovel(_ work: some StandardPredicateExpression<Work>) -> Part<Bool> {
            PE.TypeCheck<_, Novel>(work)
        }
        func asNovel(_ work: some StandardPredicateExpression<Work>) -> Part<Novel?> {
            PE.ConditionalCast<_, Novel>(work)
        }
        if flip() { return isNovel(Erased(work)) }
        var maker = self
        defer { self = maker }
        return about(
            map(asNovel(Erased(work))) { novel in
                var inner = scope
                inner.novels.append(novel)
                switch maker.number(4) {
                case 0: return maker.compare(maker.property(novel, \.chapters), maker.value(2))
                case 1:
                    return maker.equal(maker.property(novel, \.hero), maker.value(maker.data.maybe(LibraryData.texts)))
                case 2: return maker.equal(maker.property(novel, \.sequel), maker.nothing())
                default: return maker.bool(inner, depth)
                }
            })
    }
}
