import MoultData
import MoultModel
import Testing

/// What SQL cannot say is refused with the part named as its author wrote it, and answered in memory where it may be.
@Suite struct PredicateRefusalTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Schema(versionedSchema: Library.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        for (number, mood) in [Library.Mood.gloomy, .even, .bright, nil].enumerated() {
            let work = Work(title: "Work \(number)")
            work.mood = mood
            work.serial = UInt64(number)
            work.keywords = (0..<number).map { "word \($0)" }
            context.insert(work)
        }
        try context.save()
    }

    private func check(
        _ predicate: Foundation.Predicate<Work>, names part: String, finds titles: [Int],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])
        let error = #expect(throws: SwiftDataError.unsupportedPredicate, sourceLocation: location) {
            try context.fetch(descriptor)
        }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")", sourceLocation: location)
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetchCount(descriptor) }
        descriptor.allowsInMemoryEvaluation = true
        let found = try context.fetch(descriptor).map(\.title)
        #expect(found == titles.map { "Work \($0)" }, sourceLocation: location)
        #expect(try context.fetchCount(descriptor) == titles.count, sourceLocation: location)
    }

    @Test func `elements of stored arrays, subscripts, least and greatest`() throws {
        try check(
            #Predicate { $0.keywords.contains("word 1") }, names: #"$0.keywords.contains("word 1")"#, finds: [2, 3])
        try check(#Predicate { $0.keywords.isEmpty }, names: "$0.keywords", finds: [0])
        try check(#Predicate { $0.keywords.count > 1 }, names: "$0.keywords.count", finds: [2, 3])
        try check(
            #Predicate { !$0.keywords.isEmpty && $0.keywords[0] == "word 0" }, names: "$0.keywords", finds: [1, 2, 3])
        try check(#Predicate { $0.tags.first?.label == nil }, names: "$0.tags.first", finds: [0, 1, 2, 3])
        try check(
            #Predicate { $0.keywords.contains { $0.contains("2") } }, names: "$0.keywords", finds: [3])
        try check(
            #Predicate { $0.keywords.max() == "word 1" }, names: "$0.keywords.max()", finds: [2])
        try check(
            #Predicate { $0.keywords.allSatisfy { $0 == "word 0" } }, names: "$0.keywords", finds: [0, 1])
    }

    @Test func `unsigned numbers of 64 bits reckoned with, and regular expressions`() throws {
        let one: UInt64 = 1
        try check(#Predicate { $0.serial + one > 2 }, names: "($0.serial + 1)", finds: [2, 3])
        try check(#Predicate { $0.serial * one == 3 }, names: "($0.serial * 1)", finds: [3])
        let regex = /Work [12]/
        let predicate = Foundation.Predicate<Work> { work in
            PredicateExpressions.build_contains(
                PredicateExpressions.build_KeyPath(root: work, keyPath: \.title), PredicateExpressions.build_Arg(regex))
        }
        try check(predicate, names: "$0.title.contains(", finds: [1, 2])
    }

    @Test func `the order of an enum whose cases are known is that of its own operator`() throws {
        let even = Library.Mood.even
        func titles(_ predicate: Foundation.Predicate<Work>) throws -> [String] {
            let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)]))
            #expect(try context.everything(Work.self).filter { try predicate.evaluate($0) }.count == found.count)
            return found.map(\.title)
        }
        // Bright moods come first.
        #expect(try titles(#Predicate { if let mood = $0.mood { mood < even } else { false } }) == ["Work 2"])
        #expect(
            try titles(#Predicate { if let mood = $0.mood { mood <= even } else { false } }) == ["Work 1", "Work 2"])
        #expect(try titles(#Predicate { if let mood = $0.mood { even < mood } else { true } }) == ["Work 0", "Work 3"])
        #expect(
            try titles(#Predicate { if let mood = $0.mood { mood >= even } else { false } }) == ["Work 0", "Work 1"])
    }

    @Test func `the order of an enum in two columns is refused`() throws {
        try check(
            #Predicate { work in
                if let mood = work.mood { mood < work.mood! } else { false }
            }, names: "<", finds: [])
    }
}
