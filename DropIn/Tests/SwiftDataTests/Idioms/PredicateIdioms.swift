import Foundation
import SwiftData
import Testing

/// One predicate of SwiftData's documentation and of public code for each test.
@Suite struct PredicateIdioms {
    let store: Store
    init() throws { store = try Store() }

    private func expect(
        _ titles: [String], _ predicate: Predicate<Book>, _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try store.titles(predicate) == titles, sourceLocation: location)
    }

    @Test func equal() throws { try expect(["Emma"], #Predicate { $0.title == "Emma" }) }
    @Test func notEqual() throws { try expect(["Germinal", "Persuasion"], #Predicate { $0.title != "Emma" }) }
    @Test func less() throws { try expect(["Persuasion"], #Predicate { $0.pages < 300 }) }
    @Test func between() throws { try expect(["Emma"], #Predicate { $0.pages > 300 && $0.pages <= 400 }) }
    @Test func range() throws { try expect(["Emma"], #Predicate { (300...400).contains($0.pages) }) }
    @Test func capturedRange() throws {
        let range = 300..<501
        try expect(["Emma", "Germinal"], #Predicate { range.contains($0.pages) })
    }
    @Test func captured() throws {
        let title = "Emma"
        try expect(["Emma"], #Predicate<Book> { book in book.title == title })
    }
    @Test func negated() throws { try expect(["Emma", "Germinal"], #Predicate { !($0.pages == 250) }) }
    @Test func flag() throws { try expect([], #Predicate { $0.isRead }) }
    @Test func negatedFlag() throws { try expect(["Emma", "Germinal", "Persuasion"], #Predicate { !$0.isRead }) }
    @Test func flagCompared() throws { try expect([], #Predicate { $0.isRead == true }) }
    @Test func or() throws {
        try expect(["Emma", "Germinal"], #Predicate { $0.title == "Emma" || $0.title == "Germinal" })
    }
    @Test func stringContains() throws { try expect(["Emma", "Germinal"], #Predicate { $0.title.contains("m") }) }
    @Test func startsWith() throws { try expect(["Persuasion"], #Predicate { $0.title.starts(with: "Per") }) }
    @Test func localizedStandardContains() throws {
        try expect(["Emma"], #Predicate { $0.title.localizedStandardContains("EMM") })
    }
    @Test func accentsAreIgnored() throws {
        try expect(["Germinal"], #Predicate { $0.author?.name.localizedStandardContains("emile") ?? false })
    }
    @Test func caseInsensitiveCompare() throws {
        let same = ComparisonResult.orderedSame
        try expect(["Emma"], #Predicate { $0.title.caseInsensitiveCompare("emma") == same })
    }
    @Test func emptyText() throws { try expect([], #Predicate { $0.title.isEmpty }) }
    @Test func textLength() throws { try expect(["Emma"], #Predicate { $0.title.count == 4 }) }
    @Test func optionalIsNil() throws {
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { $0.rating == nil })
    }
    @Test func optionalIsNotNil() throws { try expect([], #Predicate { $0.rating != nil }) }
    @Test func nilCoalescing() throws { try expect([], #Predicate { ($0.rating ?? 0) > 3 }) }
    @Test func ifLet() throws {
        try expect(
            [],
            #Predicate { book in
                if let rating = book.rating { rating > 3 } else { false }
            })
    }
    @Test func flatMapOnOptional() throws {
        try expect([], #Predicate { $0.rating.flatMap { $0 > 3 } ?? false })
    }
    @Test func forcedUnwrapping() throws { try expect([], #Predicate { $0.rating != nil && $0.rating! > 3 }) }
    @Test func toOneProperty() throws {
        try expect(["Emma", "Persuasion"], #Predicate { $0.author?.name == "Jane" })
    }
    @Test func toOneIsNil() throws { try expect([], #Predicate { $0.author == nil }) }
    @Test func toOneIdentifier() throws {
        let id = try store.book("Emma").author?.persistentModelID
        try expect(["Emma", "Persuasion"], #Predicate { $0.author?.persistentModelID == id })
    }
    @Test func identifier() throws {
        let id = try store.book("Emma").persistentModelID
        try expect(["Emma"], #Predicate { $0.persistentModelID == id })
    }
    @Test func identifiers() throws {
        let ids = try store.context.fetchIdentifiers(FetchDescriptor<Book>())
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { ids.contains($0.persistentModelID) })
    }
    @Test func listContains() throws {
        let wanted = ["Emma", "Nana"]
        try expect(["Emma"], #Predicate { wanted.contains($0.title) })
    }
    @Test func setContains() throws {
        let wanted: Set<Int> = [250, 500]
        try expect(["Germinal", "Persuasion"], #Predicate { wanted.contains($0.pages) })
    }
    @Test func date() throws {
        let now = Date.now
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { $0.published < now })
    }
    @Test func arithmetic() throws { try expect(["Germinal"], #Predicate { $0.pages + 1 > 500 }) }
    @Test func remainder() throws { try expect(["Persuasion"], #Predicate { $0.pages % 100 == 50 }) }
    @Test func division() throws { try expect(["Germinal"], #Predicate { $0.pages / 100 == 5 }) }
    @Test func decimal() throws {
        let price: Decimal = 1
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { $0.price < price })
    }
    @Test func enumCase() throws {
        let novel = Book.Genre.novel
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { $0.genre == novel })
    }
    @Test func enumRawValue() throws { try expect([], #Predicate { $0.genre.rawValue == "crime" }) }
    @Test func fieldOfStruct() throws {
        try expect(["Emma", "Germinal", "Persuasion"], #Predicate { $0.format.isBound && $0.format.width < 11 })
    }
    @Test func conditional() throws {
        try expect(["Germinal"], #Predicate { $0.isRead ? $0.pages > 0 : $0.pages > 450 })
    }
    @Test func always() throws { try expect(["Emma", "Germinal", "Persuasion"], #Predicate { _ in true }) }
    @Test func never() throws { try expect([], .false) }
    @Test func everything() throws { try expect(["Emma", "Germinal", "Persuasion"], .true) }

    private func authors(_ predicate: Predicate<Author>) throws -> [String] {
        try store.context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }
    @Test func toManyContainsWhere() throws {
        #expect(try authors(#Predicate { $0.books.contains { $0.pages > 450 } }) == ["Émile"])
    }
    @Test func toManyIsEmpty() throws { #expect(try authors(#Predicate { $0.books.isEmpty }) == []) }
    @Test func toManyCount() throws { #expect(try authors(#Predicate { $0.books.count > 1 }) == ["Jane"]) }
    @Test func toManyAllSatisfy() throws {
        #expect(try authors(#Predicate { $0.books.allSatisfy { $0.pages > 300 } }) == ["Émile"])
    }
    @Test func toManyFilterCount() throws {
        #expect(try authors(#Predicate { $0.books.filter { $0.pages > 300 }.count == 1 }) == ["Émile", "Jane"])
    }
    @Test func toManyContains() throws {
        let id = try store.book("Emma").persistentModelID
        #expect(try authors(#Predicate { $0.books.contains { $0.persistentModelID == id } }) == ["Jane"])
    }
    @Test func optionalToMany() throws {
        let shelves = try store.context.fetch(
            FetchDescriptor<Shelf>(predicate: #Predicate { $0.books?.contains { $0.isRead } ?? false }))
        #expect(shelves.isEmpty)
    }
    @Test func optionalDate() throws {
        let now = Date.now
        #expect(try authors(#Predicate { $0.born != nil && $0.born! < now }) == ["Jane"])
    }
    @Test func optionalDateWithDefault() throws {
        let (now, past) = (Date.now, Date.distantFuture)
        #expect(try authors(#Predicate { ($0.born ?? past) < now }) == ["Jane"])
    }
    @Test func evaluatedInMemory() throws {
        let predicate = #Predicate<Book> { $0.pages > 300 }
        #expect(try predicate.evaluate(store.book("Emma")))
        #expect(try store.context.fetch(FetchDescriptor<Book>()).filter(predicate).count == 2)
    }
    @Test func builtFromParts() throws {
        let long = #Predicate<Book> { $0.pages > 300 }
        let novel = #Predicate<Book> { $0.title == "Emma" }
        let both = Predicate<Book> {
            PredicateExpressions.build_Conjunction(
                lhs: PredicateExpressions.build_evaluate(long, $0),
                rhs: PredicateExpressions.build_evaluate(novel, $0))
        }
        try expect(["Emma"], both)
    }
    @Test func aFunctionThatMakesOne() throws {
        func longer(than pages: Int) -> Predicate<Book> { #Predicate { $0.pages > pages } }
        try expect(["Germinal"], longer(than: 400))
    }
    @Test func aStaticMember() throws { try expect(["Germinal"], Book.long()) }
    @Test func severalLets() throws {
        try expect(
            ["Emma"],
            #Predicate<Book> { book in
                if let author = book.author {
                    if author.name == "Jane" { book.pages > 300 } else { false }
                } else {
                    false
                }
            })
    }
    @Test func inMemoryOnly() throws {
        let tagged = try store.context.fetch(FetchDescriptor<Book>()).filter { $0.tags.contains("classic") }
        #expect(tagged.isEmpty)
    }
}

extension Book {
    static func long() -> Predicate<Book> { #Predicate<Book> { $0.pages > 450 } }
}
