import MoultData
import Testing

@Suite struct FetchingTests {
    let context: ModelContext

    @Model final class Movie {
        var title: String
        var year: Int
        var rating: Double?
        var director: Director?
        init(title: String, year: Int, rating: Double? = nil) {
            self.title = title
            self.year = year
            self.rating = rating
        }
    }

    @Model final class Director {
        var name: String
        @Relationship(inverse: \Movie.director) var movies: [Movie] = []
        init(name: String) { self.name = name }
    }

    init() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        context = ModelContext(try ModelContainer(for: Movie.self, configurations: configuration))
        let (ada, bo) = (Director(name: "Ada"), Director(name: "Bo"))
        context.insert(ada)
        context.insert(bo)
        for (title, year, rating, director) in [
            ("Dawn", 1990, 7.5, ada), ("Dusk", 1995, nil, ada), ("Éclair", 2001, 9.0, bo), ("fog", 2010, 4.0, nil),
        ] as [(String, Int, Double?, Director?)] {
            let movie = Movie(title: title, year: year, rating: rating)
            context.insert(movie)
            movie.director = director
        }
        try context.save()
    }

    private func titles(_ descriptor: FetchDescriptor<Movie>) throws -> [String] {
        var descriptor = descriptor
        if descriptor.sortBy.isEmpty { descriptor.sortBy = [SortDescriptor(\.year)] }
        return try context.fetch(descriptor).map(\.title)
    }

    @Test func `everything`() throws {
        #expect(try context.fetch(FetchDescriptor<Movie>()).count == 4)
    }

    @Test func `sorted, forwards and backwards`() throws {
        #expect(
            try titles(FetchDescriptor(sortBy: [SortDescriptor(\.year, order: .reverse)])) == [
                "fog", "Éclair", "Dusk", "Dawn",
            ])
        #expect(
            try titles(FetchDescriptor(sortBy: [SortDescriptor(\.rating), SortDescriptor(\.title)])).last == "Éclair")
    }

    @Test func `a page at a time`() throws {
        var descriptor = FetchDescriptor<Movie>(sortBy: [SortDescriptor(\.year)])
        descriptor.fetchLimit = 2
        #expect(try titles(descriptor) == ["Dawn", "Dusk"])
        descriptor.fetchOffset = 3
        #expect(try titles(descriptor) == ["fog"])
    }

    @Test func `counted without being read`() throws {
        #expect(try context.fetchCount(FetchDescriptor<Movie>(predicate: #Predicate { $0.year < 2000 })) == 2)
    }

    @Test func `identifiers only`() throws {
        let ids = try context.fetchIdentifiers(FetchDescriptor<Movie>(sortBy: [SortDescriptor(\.year)]))
        #expect(ids.compactMap { (context.model(for: $0) as? Movie)?.year } == [1990, 1995, 2001, 2010])
    }

    @Test func `one after the other`() throws {
        var years = 0
        try context.enumerate(FetchDescriptor<Movie>(), batchSize: 2) { years += $0.year }
        #expect(years == 7996)
    }

    @Test func `in batches`() throws {
        let movies = try context.fetch(FetchDescriptor<Movie>(sortBy: [SortDescriptor(\.year)]), batchSize: 2)
        #expect(movies.count == 4 && movies.last?.title == "fog")
    }

    @Test func `some properties now, the others when they are asked for`() throws {
        var descriptor = FetchDescriptor<Movie>(sortBy: [SortDescriptor(\.year)])
        descriptor.propertiesToFetch = [\.title]
        #expect(try context.fetch(descriptor).map(\.year) == [1990, 1995, 2001, 2010])
    }

    @Test func `with what they lead to`() throws {
        var descriptor = FetchDescriptor<Movie>(sortBy: [SortDescriptor(\.year)])
        descriptor.relationshipKeyPathsForPrefetching = [\.director]
        #expect(try context.fetch(descriptor).map { $0.director?.name } == ["Ada", "Ada", "Bo", nil])
    }

    @Test func `with and without what is not saved`() throws {
        context.insert(Movie(title: "New", year: 2024))
        var descriptor = FetchDescriptor<Movie>()
        #expect(try context.fetchCount(descriptor) == 5)
        descriptor.includePendingChanges = false
        #expect(try context.fetchCount(descriptor) == 4)
    }

    @Test func `comparisons and logic`() throws {
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { $0.year > 1990 && $0.year <= 2001 })) == [
                "Dusk", "Éclair",
            ])
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { !($0.year > 1990) || $0.title == "fog" })) == [
                "Dawn", "fog",
            ])
    }

    @Test func `a value from outside`() throws {
        let (from, words) = (1995, ["Dawn", "Dusk", "fog"])
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { $0.year >= from && words.contains($0.title) })) == [
                "Dusk", "fog",
            ])
    }

    @Test func `parts of a text`() throws {
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.title.starts(with: "D") })) == ["Dawn", "Dusk"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.title.contains("og") })) == ["fog"])
    }

    @Test func `a text as people search for it`() throws {
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { $0.title.localizedStandardContains("ECL") })) == [
                "Éclair"
            ])
    }

    @Test func `nil and optionals`() throws {
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.rating == nil })) == ["Dusk"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { ($0.rating ?? 0) > 7 })) == ["Dawn", "Éclair"])
        #expect(
            try titles(
                FetchDescriptor(
                    predicate: #Predicate { movie in
                        if let rating = movie.rating { rating < 5 } else { false }
                    })) == ["fog"])
    }

    @Test func `through a to-one relationship`() throws {
        let name = "Ada"
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.director?.name == name })) == ["Dawn", "Dusk"])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.director == nil })) == ["fog"])
    }

    @Test func `by the identity of a related object`() throws {
        let bo = try #require(
            try context.fetch(FetchDescriptor<Director>(predicate: #Predicate { $0.name == "Bo" })).first)
        let id = bo.persistentModelID
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { $0.director?.persistentModelID == id })) == ["Éclair"])
    }

    @Test func `by the objects of a to-many relationship`() throws {
        let old = FetchDescriptor<Director>(predicate: #Predicate { $0.movies.contains { $0.year < 1995 } })
        #expect(try context.fetch(old).map(\.name) == ["Ada"])
        let all = FetchDescriptor<Director>(predicate: #Predicate { $0.movies.allSatisfy { $0.year > 2000 } })
        #expect(try context.fetch(all).map(\.name) == ["Bo"])
        let several = FetchDescriptor<Director>(predicate: #Predicate { $0.movies.count > 1 })
        #expect(try context.fetch(several).map(\.name) == ["Ada"])
        let none = FetchDescriptor<Director>(predicate: #Predicate { $0.movies.isEmpty })
        #expect(try context.fetch(none).isEmpty)
    }

    @Test func `ranges and arithmetic`() throws {
        #expect(
            try titles(FetchDescriptor(predicate: #Predicate { (1991...2001).contains($0.year) })) == [
                "Dusk", "Éclair",
            ])
        #expect(try titles(FetchDescriptor(predicate: #Predicate { $0.year % 10 == 0 })) == ["Dawn", "fog"])
    }

    @Test func `what SQL cannot answer is refused with SwiftData's name for it`() throws {
        let computed = FetchDescriptor<Movie>(predicate: #Predicate { $0.title.hashValue == 1 })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(computed) }
    }
}
