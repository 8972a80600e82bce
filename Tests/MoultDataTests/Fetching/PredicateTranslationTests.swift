import MoultBasics
import MoultData
import MoultModel
import MoultObjects
import Testing

typealias Work = Library.Work
typealias Person = Library.Person

/// What the store is asked, in the words of Core Data's predicate format.
@Suite struct PredicateTranslationTests {
    private let schema = Schema(versionedSchema: Library.self)

    private func format<T>(_ predicate: Foundation.Predicate<T>) throws -> String {
        try schema.predicate(predicate).format
    }

    @Test func `comparisons name the properties and bind what was captured`() throws {
        let pages = 100
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(
            try format(#Predicate<Work> { $0.pages > pages && $0.title == "Emma" })
                == #"pages > 100 AND title == "Emma""#)
        #expect(
            try format(#Predicate<Work> { $0.published <= date || !$0.isRare })
                == #"published <= CAST(5.0, "NSDate") OR isRare != 1"#)
        #expect(
            try format(#Predicate<Work> { $0.subtitle == nil && $0.mood != nil })
                == "subtitle == nil AND mood.mood != nil")
    }

    @Test func `a path through a relationship is one key path`() throws {
        #expect(try format(#Predicate<Work> { $0.author?.name == "Jane" }) == #"author.name == "Jane""#)
        #expect(
            try format(#Predicate<Work> { ($0.author?.mentor?.age ?? 3) > 4 })
                == "TERNARY(author.mentor.age != nil, author.mentor.age, 3) > 4")
        #expect(try format(#Predicate<Work> { $0.author!.age > 4 }) == "author.age > 4")
    }

    @Test func `a to-many relationship is asked for its elements`() throws {
        #expect(
            try format(#Predicate<Person> { $0.works.contains { $0.pages > 5 } })
                == "ANY SUBQUERY(works, $v1, $v1.pages > 5) != nil")
        #expect(
            try format(#Predicate<Person> { $0.works.filter { $0.isRare }.count == 2 })
                == "SUBQUERY(works, $v1, $v1.isRare == 1).@count == 2")
        #expect(try format(#Predicate<Person> { $0.works.isEmpty }) == "NOT ANY works != nil")
    }

    @Test func `what a store has no words for is refused by name`() throws {
        let error = #expect(throws: MigrationError.self) {
            try format(#Predicate<Work> { $0.keywords.contains("x") })
        }
        #expect(error?.code == .fetchUnsupported)
    }

    @Test func `a descriptor becomes a fetch`() throws {
        var descriptor = FetchDescriptor<Person>(
            predicate: #Predicate { $0.age > 3 }, sortBy: [SortDescriptor(\.age, order: .reverse)])
        descriptor.fetchLimit = 10
        descriptor.fetchOffset = 2
        let fetch = try descriptor.objectFetch(in: schema)
        #expect(fetch.entityName == "Person")
        #expect(fetch.predicate?.format == "age > 3")
        #expect(fetch.sort == [ObjectFetch.SortTerm("age", isAscending: false)])
        #expect((fetch.limit, fetch.offset) == (10, 2))
    }
}
