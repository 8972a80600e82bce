import MoultData
import Testing

/// Texts in SQL are Swift's texts: equal where they are canonically equivalent, searched by characters.
@Suite struct TextPredicateTests {
    private let context: ModelContext
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    init() throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Library.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        for name in [Self.composed, Self.decomposed, "cafe", "CAFE", "\u{212A}", "a\r\nb"] {
            context.insert(Person(name: name))
        }
        try context.save()
    }

    private func count(_ predicate: Predicate<Person>) throws -> Int {
        let found = try context.fetchCount(FetchDescriptor(predicate: predicate))
        #expect(try found == context.fetch(FetchDescriptor<Person>()).filter { try predicate.evaluate($0) }.count)
        return found
    }

    @Test func `one text in two forms is one text`() throws {
        let (composed, decomposed, both) = (Self.composed, Self.decomposed, [Self.composed, "x"])
        #expect(try count(#Predicate { $0.name == composed }) == 2)
        #expect(try count(#Predicate { $0.name == decomposed }) == 2)
        #expect(try count(#Predicate { $0.name != decomposed }) == 4)
        #expect(try count(#Predicate { both.contains($0.name) }) == 2)
        #expect(try count(#Predicate { $0.name == "K" }) == 1)
    }

    @Test func `a part of a character is no part of a text`() throws {
        #expect(try count(#Predicate { $0.name.contains("e") }) == 1)
        #expect(try count(#Predicate { $0.name.starts(with: "cafe") }) == 1)
        #expect(try count(#Predicate { $0.name.contains("\n") }) == 0)
        #expect(try count(#Predicate { $0.name.count == 4 }) == 4)
        let all = try count(#Predicate { _ in true })
        #expect(try count(#Predicate { $0.name.contains("") }) == all)
        #expect(try count(#Predicate { $0.name.starts(with: "") }) == all)
    }

    @Test func `case and marks count where nobody says otherwise`() throws {
        #expect(try count(#Predicate { $0.name.localizedStandardContains("cafe") }) == 4)
        #expect(try count(#Predicate { $0.name.localizedStandardContains("") }) == 0)
        let empty = ""
        #expect(try count(#Predicate { $0.name.localizedStandardContains(empty) }) == 0)
        let same = ComparisonResult.orderedSame
        #expect(try count(#Predicate { $0.name.caseInsensitiveCompare("cafe") == same }) == 2)
    }

    @Test func `the order of people is that of the system's collation for everyday texts`() throws {
        let texts = [
            "b", "a10", "a9", "A9", "\u{E9}", "e", "f", "E", "Z", "z", "_", "ss", "a b", "ab", "a-b", "1", "02",
        ]
        let expected = texts.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
        #expect(texts.sorted { $0._localizedStandardOrder < $1._localizedStandardOrder } == expected)
    }
}
