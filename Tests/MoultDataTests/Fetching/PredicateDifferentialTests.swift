import MoultData
import MoultModel
import MoultObjects
import TestSupport
import Testing

/// Random predicates over random objects: what the store finds is what `evaluate` finds in memory.
enum PredicateDifferential {
    /// Objects of a seed, saved, and what they are asked.
    static func run(seed: UInt64, predicates: Int, isPending: Bool = false) throws -> Int {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Library.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        var data = LibraryData(seed: seed)
        data.fill(context, works: 40)
        try context.save()
        let identities = (data.people.map(\.persistentModelID), data.works.map(\.persistentModelID))
        if isPending { try change(&data, context) }
        var maker = RandomPredicates(data: data, people: identities.0, works: identities.1)
        var compared = 0
        for number in 0..<predicates {
            let depth = 1 + number % 5
            switch number % 4 {
            case 0: compared += try compare(maker.person(depth: depth), context)
            case 1: compared += try compare(maker.novel(depth: depth), context)
            default: compared += try compare(maker.work(depth: depth), context)
            }
        }
        return compared
    }

    /// Objects changed, inserted and deleted, and not saved.
    private static func change(_ data: inout LibraryData, _ context: ModelContext) throws {
        let works = data.works
        for work in works.prefix(8) { data.change(work) }
        for work in works.suffix(4) { context.delete(work) }
        for _ in 0..<4 { _ = data.work(in: context) }
        for person in data.people.prefix(3) { person.name = "e\u{301}" }
    }

    /// How many objects were compared.
    private static func compare<Model: PersistentModel>(
        _ predicate: Foundation.Predicate<Model>, _ context: ModelContext
    ) throws -> Int {
        var found: Set<PersistentIdentifier> = []
        let fetch = try FetchDescriptor(predicate: predicate).objectFetch(in: context.container.schema)
        do {
            found = Set(try context.objects.fetchIDs(fetch).map(PersistentIdentifier.init))
        } catch {
            Issue.record("\(error)\n\(fetch.predicate?.format ?? "")\n\(predicate.expression)")
            return 0
        }
        var count = 0
        for model in try context.everything(Model.self) {
            // What `evaluate` throws for, such as a forced unwrap of nil, has no answer to compare with.
            guard let isMeant = try? predicate.evaluate(model) else { continue }
            count += 1
            if isMeant != found.contains(model.persistentModelID) {
                Issue.record(
                    """
                    \(model.persistentModelID) is \(isMeant ? "" : "not ")meant.
                    \(fetch.predicate?.format ?? "")
                    \(predicate.expression)
                    """)
                return count
            }
        }
        return count
    }
}

@Suite struct PredicateDifferentialTests {  // tier: long
    @Test(arguments: [1, 2] as [UInt64])
    func `the store finds what evaluate finds`(seed: UInt64) throws {
        #expect(try PredicateDifferential.run(seed: seed, predicates: 400) > 1000)
    }

    @Test func `unsaved changes are found as evaluate finds them`() throws {
        #expect(try PredicateDifferential.run(seed: 3, predicates: 150, isPending: true) > 500)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct PredicateDifferentialMatrixTests {
    @Test(arguments: Array(10..<50) as [UInt64])
    func `the store finds what evaluate finds for ten thousand predicates`(seed: UInt64) throws {
        #expect(try PredicateDifferential.run(seed: seed, predicates: 250) > 1000)
    }

    @Test(arguments: Array(50..<60) as [UInt64])
    func `unsaved changes are found as evaluate finds them, in a thousand predicates`(seed: UInt64) throws {
        #expect(try PredicateDifferential.run(seed: seed, predicates: 100, isPending: true) > 500)
    }
}
