import MoultData
import TestSupport
import Testing

/// Predicates and sorts on fields of structs and on enums are asked of the store, and mean what `evaluate` means.
@Suite struct ValuePredicateTests {
    typealias Thing = Things.Thing

    private let context: ModelContext
    private let things: [Thing]

    init() throws {
        let schema = Schema(versionedSchema: Things.self)
        let container = try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        Things.fill(context)
        try context.save()
        things = try context.fetch(FetchDescriptor<Thing>())
    }

    private func check(
        _ predicate: Predicate<Thing>, _ count: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let found = try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
        let expected = try things.filter { try predicate.evaluate($0) }.map(\.name)
        #expect(Set(found) == Set(expected), sourceLocation: location)
        if let count { #expect(found.count == count, sourceLocation: location) }
    }

    @Test func `a field of a struct is its column`() throws {
        let (moment, sum, code, link) = (
            Date(timeIntervalSinceReferenceDate: 2), Decimal(3) / 100, Things.every(4).code, Things.link(5)
        )
        try check(#Predicate { $0.every.text == "text 3" }, 1)
        try check(#Predicate { $0.every.number > 2 && !$0.every.flag }, 1)
        try check(#Predicate { $0.every.real < 1 && $0.every.single > 0.1 }, 3)
        try check(#Predicate { $0.every.moment > moment }, 3)
        try check(#Predicate { $0.every.sum == sum }, 1)
        try check(#Predicate { $0.every.code == code }, 1)
        try check(#Predicate { $0.every.link == link || $0.link == link }, 1)
        try check(#Predicate { $0.every.text.contains("t 4") || $0.every.text.starts(with: "text 5") }, 2)
        try check(#Predicate { $0.every.hint == nil }, 3)
        try check(#Predicate { $0.every.inner.key == "k1" || $0.every.inner.count == 3 }, 2)
        try check(#Predicate { $0.every.spare?.key == "spare" }, 3)
        try check(#Predicate { $0.every.spare == nil }, 3)
    }

    @Test func `an optional struct is nil where all its columns are`() throws {
        try check(#Predicate { $0.everyMaybe == nil }, 3)
        try check(#Predicate { $0.everyMaybe != nil }, 3)
        try check(#Predicate { $0.everyMaybe?.text == "text 11" }, 1)
        try check(#Predicate { $0.everyMaybe?.text != "text 11" }, 5)
        try check(#Predicate { ($0.everyMaybe?.number ?? 0) > 12 }, 2)
        try check(#Predicate { $0.everyMaybe?.inner.count == 15 }, 1)
        try check(#Predicate { $0.everyMaybe?.spare?.key == nil }, 3)
        try check(#Predicate { $0.everyMaybe?.flag == true }, 3)
    }

    @Test func `enums are compared by their cases, whether they have raw values or not`() throws {
        let (alpha, beta, high) = (Things.Word.alpha, Things.Word.beta, Things.Level.high)
        let (left, right, other, none) = (Things.Side.left, Things.Side.right, Things.Side.default, Things.Side?.none)
        let sides = [left, right]
        try check(#Predicate { $0.word == beta }, 3)
        try check(#Predicate { $0.word != beta && $0.started == beta }, 3)
        try check(#Predicate { $0.wordMaybe == nil }, 3)
        try check(#Predicate { $0.wordMaybe == alpha }, 3)
        try check(#Predicate { $0.wordMaybe != alpha }, 3)
        try check(#Predicate { $0.word.rawValue == "B e t a" }, 3)
        try check(#Predicate { $0.level == high }, 3)
        try check(#Predicate { $0.side == left }, 2)
        try check(#Predicate { $0.side != left }, 4)
        try check(#Predicate { left == $0.side || $0.side == other }, 4)
        try check(#Predicate { $0.sideMaybe == nil || $0.sideMaybe == right }, 4)
        try check(#Predicate { $0.sideMaybe == none }, 3)
        try check(#Predicate { sides.contains($0.side) }, 4)
        try check(#Predicate { $0.every.word == beta }, 3)
        try check(#Predicate { $0.every.level != nil }, 4)
        try check(#Predicate { $0.everyMaybe?.word == beta }, 3)
    }

    @Test func `a struct as a whole, and elements of lists, are refused with the part`() throws {
        let every = Things.every(1)
        let refused: [Predicate<Thing>] = [
            #Predicate { $0.every == every }, #Predicate { $0.every.inner == every.inner },
            #Predicate { $0.texts.contains("t1") },
        ]
        for predicate in refused {
            var descriptor = FetchDescriptor(predicate: predicate)
            let error = #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
            #expect(error?.message.contains("every") == true || error?.message.contains("texts") == true)
            descriptor.allowsInMemoryEvaluation = true
            let expected = try things.filter { try predicate.evaluate($0) }.map(\.name)
            #expect(try Set(context.fetch(descriptor).map(\.name)) == Set(expected))
        }
    }

    @Test func `fields are sorted by, nil first`() throws {
        func names(_ sorts: SortDescriptor<Thing>...) throws -> [String] {
            try context.fetch(FetchDescriptor(sortBy: sorts)).map { String($0.name.suffix(1)) }
        }
        #expect(try names(SortDescriptor(\.every.text, order: .reverse)) == ["5", "4", "3", "2", "1", "0"])
        #expect(try names(SortDescriptor(\.every.single, order: .reverse)) == ["5", "4", "3", "2", "1", "0"])
        #expect(
            try names(SortDescriptor(\.everyMaybe?.number), SortDescriptor(\.name)) == ["0", "2", "4", "1", "3", "5"])
        #expect(try names(SortDescriptor(\.every.inner.key, order: .reverse)) == ["5", "4", "3", "2", "1", "0"])
        #expect(
            try names(SortDescriptor(\.every.hint), SortDescriptor(\.every.real)) == ["0", "2", "4", "1", "3", "5"])
        #expect(try names(SortDescriptor(\.word.rawValue), SortDescriptor(\.name)) == ["0", "2", "4", "1", "3", "5"])
    }

    @Test func `only the columns of a struct are read where only it is asked for`() throws {
        var descriptor = FetchDescriptor<Thing>(sortBy: [SortDescriptor(\.name)])
        descriptor.propertiesToFetch = [\.every, \.side]
        let found = try ModelContext(context.container).fetch(descriptor)
        #expect(found.map(\.every) == (0..<6).map(Things.every))
        #expect(found.map(\.word.rawValue).prefix(2) == ["alpha", "B e t a"])
    }
}
