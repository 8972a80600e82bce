import MoultBasics
import MoultData
import MoultModel
import MoultObjects
import Testing

private typealias PE = PredicateExpressions

/// Predicates that are put together by the thousand.
@Suite struct PredicateLimitTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Schema(versionedSchema: Library.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        for age in 0..<10 { context.insert(Person(name: "P\(age)", age: age)) }
        try context.save()
    }

    private func count(_ predicate: Foundation.Predicate<Person>) throws -> Int {
        try context.objects.count(FetchDescriptor(predicate: predicate).objectFetch(in: container.schema))
    }

    /// Whether the age is one of `ages`, each asked for by a predicate around the one before.
    private func chain(_ ages: Range<Int>) -> Foundation.Predicate<Person> {
        ages.reduce(Foundation.Predicate<Person>.false) { chain, age in
            Foundation.Predicate<Person> { person in
                PE.build_Disjunction(
                    lhs: PE.build_evaluate(chain, person),
                    rhs: PE.build_Equal(lhs: PE.build_KeyPath(root: person, keyPath: \.age), rhs: PE.build_Arg(age)))
            }
        }
    }

    @Test func `a hundred predicates in one another are one condition`() throws {
        #expect(try count(chain(5..<105)) == 5)
        #expect(try context.everything(Person.self).filter { try chain(5..<105).evaluate($0) }.count == 5)
    }

    /// One of some thousands needs more than 512 kB of stack to be released, whoever made it.
    @Test func `a predicate that is too deep for a stack or for SQLite is refused`() throws {
        let error = #expect(throws: MigrationError.self) { try count(chain(0..<1000)) }
        #expect(error?.code == .fetchUnsupported)
        #expect(error?.message.contains("too large") == true)
    }

    @Test func `a test of each of a thousand constants is no deep tree`() throws {
        let ages = Array(0..<1500)
        let predicate = Foundation.Predicate<Person> { person in
            PE.build_contains(PE.build_Arg(ages)) { age in
                PE.build_Equal(lhs: PE.build_KeyPath(root: person, keyPath: \.age), rhs: age)
            }
        }
        #expect(try count(predicate) == 10)
    }

    @Test func `a variable that doubles at every level is refused rather than written out`() throws {
        func twice(_ part: Part<Int?>, _ levels: Int) -> Part<Int?> {
            guard levels > 0 else { return part }
            func open(_ part: some StandardPredicateExpression<Int?>) -> Part<Int?> {
                PE.build_flatMap(part) { (number: PE.Variable<Int>) in
                    PE.build_Arithmetic(lhs: number, rhs: number, op: .subtract)
                } as PE.OptionalFlatMap<_, Int, _, Int>
            }
            return twice(Erased(open(Erased(part))), levels - 1)
        }
        let predicate = Foundation.Predicate<Person> { person in
            let age = PE.build_flatMap(PE.build_KeyPath(root: person, keyPath: \.mentor)) { mentor in
                PE.build_KeyPath(root: mentor, keyPath: \.age)
            }
            return PE.build_Equal(lhs: Erased(twice(Erased(age), 60)), rhs: PE.build_Arg(0 as Int?))
        }
        let error = #expect(throws: MigrationError.self) { try count(predicate) }
        #expect(error?.code == .fetchUnsupported)
    }

    @Test func `thousands of constants are one parameter`() throws {
        let ages = Set(5..<50_000)
        #expect(try count(#Predicate { ages.contains($0.age) }) == 5)
    }

    @Test func `a refusal names the part as its author wrote it`() throws {
        let error = #expect(throws: MigrationError.self) {
            let word = "x"
            let predicate = #Predicate<Work> { $0.pages > 3 && $0.keywords.contains(word) }
            _ = try container.schema.predicate(predicate)
        }
        #expect(error?.message.contains(#"$0.keywords.contains("x")"#) == true)
    }
}
