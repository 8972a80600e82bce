import MoultBasics
import MoultData
import MoultModel
import MoultObjects
import Testing

/// What a descriptor says beside its predicate, against Foundation's sort of the same objects in memory.
@Suite struct SortAndLimitTests {
    private let container: ModelContainer
    private let context: ModelContext
    private var data = LibraryData(seed: 77)

    init() throws {
        container = try ModelContainer(
            for: Schema(versionedSchema: Library.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        data.fill(context, works: 60)
        try context.save()
    }

    private func found<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [PersistentIdentifier] {
        try context.objects.fetch(try descriptor.objectFetch(in: container.schema)).map { PersistentIdentifier($0.id) }
    }

    /// The models in the order of their insertion, then sorted: Swift's sort keeps the order of equals.
    private func sorted<Model: PersistentModel>(by sorts: [SortDescriptor<Model>]) throws -> [PersistentIdentifier] {
        try context.everything(Model.self).sorted {
            $0.persistentModelID.objectID.key < $1.persistentModelID.objectID.key
        }
        .sorted { left, right in
            for sort in sorts {
                switch sort.compare(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
        .map(\.persistentModelID)
    }

    private func check<Model: PersistentModel>(_ sorts: SortDescriptor<Model>..., line: Int = #line) throws {
        #expect(try found(FetchDescriptor(sortBy: sorts)) == sorted(by: sorts), "line \(line)")
    }

    @Test func `what is not saved comes behind all that is, by its identity`() throws {
        let saved = try context.everything(Person.self).count
        for name in ["x", "y"] { context.insert(Person(name: name, age: 1)) }
        let found = try context.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.persistentModelID)]))
        #expect(found.count == saved + 2 && Set(found.suffix(2).map(\.name)) == ["x", "y"])
    }

    @Test func `nil comes first, and last in reverse`() throws {
        try check(SortDescriptor(\Person.born), SortDescriptor(\.age, order: .reverse))
        try check(SortDescriptor(\Person.born, order: .reverse))
        try check(SortDescriptor(\Library.Tag.weight, order: .reverse), SortDescriptor(\.label))
    }

    @Test func `numbers and dates of every type sort as in Swift`() throws {
        try check(SortDescriptor(\Person.age), SortDescriptor(\.name, order: .reverse))
        try check(SortDescriptor(\Person.born, order: .reverse), SortDescriptor(\.nickname))
        try check(SortDescriptor(\Work.serial), SortDescriptor(\.readers, order: .reverse))
        try check(SortDescriptor(\Work.price), SortDescriptor(\.fee), SortDescriptor(\.mass, order: .reverse))
        try check(SortDescriptor(\Work.rating, order: .reverse), SortDescriptor(\.published), SortDescriptor(\.stars))
        try check(SortDescriptor(\Work.code), SortDescriptor(\.edition), SortDescriptor(\.height, order: .reverse))
        try check(SortDescriptor(\Library.Novel.chapters), SortDescriptor(\.sequel?.pages), SortDescriptor(\.title))
    }

    @Test func `a sort goes through relationships`() throws {
        try check(SortDescriptor(\Person.mentor?.age), SortDescriptor(\.mentor?.mentor?.born, order: .reverse))
        try check(SortDescriptor(\Person.mentor?.name))
        try check(SortDescriptor(\Person.students.count, order: .reverse), SortDescriptor(\.mentor?.works.count))
    }

    @Test func `objects sort by their identities, those that are not saved last`() throws {
        try check(SortDescriptor(\Person.persistentModelID))
        try check(SortDescriptor(\Person.id, order: .reverse))
        try check(SortDescriptor(\Person.mentor?.persistentModelID), SortDescriptor(\.name))
        // A computed property gives an identity too, and no store can sort by it.
        for (sort, type) in [
            (SortDescriptor(\Person.mentorID), "PersistentIdentifier"),
            (SortDescriptor(\Person.shout, comparator: .localizedStandard), "String"),
        ] {
            let error = try #require(throws: MigrationError.self) {
                try FetchDescriptor(sortBy: [sort]).objectFetch(in: container.schema)
            }
            // Its type, and no address.
            let text = error.message
            #expect(text.contains("<computed ") && text.contains(type) && !text.contains("0x"), "\(text)")
            #expect(!text.contains("_LocalizedOrder") && error.remedy.contains("allowsInMemoryEvaluation"), "\(error)")
        }
        let new = ["a", "b"].map { Library.Tag(label: $0) }
        for tag in new { context.insert(tag) }
        let tags = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Library.Tag.persistentModelID)]))
        #expect(Set(tags.suffix(2).map(ObjectIdentifier.init)) == Set(new.map(ObjectIdentifier.init)))
        let reversed = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Library.Tag.id, order: .reverse)]))
        #expect(Set(reversed.prefix(2).map(ObjectIdentifier.init)) == Set(new.map(ObjectIdentifier.init)))
        #expect(tags.dropLast(2).map(\.persistentModelID) == reversed.dropFirst(2).map(\.persistentModelID).reversed())
    }

    @Test func `texts sort as people do, and by scalars where that is asked for`() throws {
        try check(SortDescriptor(\Person.name))
        try check(SortDescriptor(\Person.name, comparator: .localized, order: .reverse))
        let names = try context.objects.fetch(
            try FetchDescriptor(sortBy: [SortDescriptor(\Person.name, comparator: .lexical)])
                .objectFetch(in: container.schema)
        ).map { try $0.attribute("name") }
        let texts = names.compactMap { if case .string(let text)? = $0 { text } else { nil } }
        #expect(texts == texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test func `unsaved changes take their places in the order and in the limit`() throws {
        var data = self.data
        for _ in 0..<5 { context.insert(data.person(0)) }
        for person in data.people.prefix(5) { person.age = 50 }
        let sorts = [SortDescriptor(\Person.age, order: .reverse), SortDescriptor(\.name)]
        let all = try context.everything(Person.self)
        let ages = all.map(\.age).sorted(by: >)
        for (offset, limit) in [(0, 3), (4, 5), (8, 100), (3, 0)] {
            var descriptor = FetchDescriptor(sortBy: sorts)
            (descriptor.fetchOffset, descriptor.fetchLimit) = (offset, limit == 0 ? nil : limit)
            let found = try found(descriptor).compactMap { context.registeredModel(for: $0) as Person? }
            let expected = ages.dropFirst(offset).prefix(limit == 0 ? 1000 : limit)
            #expect(found.map(\.age) == Array(expected))
        }
        var saved = FetchDescriptor<Person>()
        saved.includePendingChanges = false
        #expect(try found(saved).count == all.count - 5)
    }

    @Test func `a sort that no store can do is refused`() throws {
        let error = #expect(throws: MigrationError.self) {
            try found(FetchDescriptor(sortBy: [SortDescriptor(\Work.shout)]))
        }
        #expect(error?.code == .fetchUnsupported)
    }

    @Test func `what a store cannot answer is answered in memory where that is allowed`() throws {
        let word = "a"
        var descriptor = FetchDescriptor<Work>(
            predicate: #Predicate { !$0.keywords.contains(word) && $0.pages > 0 }, sortBy: [SortDescriptor(\.shout)])
        #expect(throws: MigrationError.self) { try descriptor.objectFetch(in: container.schema) }
        #expect(try descriptor.memoryFetch(in: container.schema) == nil)
        descriptor.allowsInMemoryEvaluation = true
        descriptor.fetchOffset = 1
        let all = try context.everything(Work.self)
        let found = try context.fetch(descriptor)
        #expect(try context.fetchCount(descriptor) == found.count)
        #expect(try context.fetchIdentifiers(descriptor) == found.map(\.persistentModelID))
        #expect(found.count == all.count { $0.pages > 0 } - 1)
        #expect(
            found.map(\.shout) == found.map(\.shout).sorted { $0._localizedStandardOrder < $1._localizedStandardOrder })
    }

    @Test func `only the properties asked for are read, the others when one of them is asked for`() throws {
        let fresh = ModelContext(container)
        var descriptor = FetchDescriptor<Person>()
        descriptor.propertiesToFetch = [\.name, \.mentor]
        let objects = try fresh.objects.fetch(try descriptor.objectFetch(in: container.schema))
        let first = try #require(objects.first)
        _ = try objects.map { (try $0.attribute("name"), try $0.toOneID("mentor")) }
        #expect(objects.allSatisfy { $0.isFault })
        _ = try first.attribute("age")
        #expect(objects.allSatisfy { !$0.isFault })
        let expected = try context.everything(Person.self).map { ($0.name, $0.age) }
        let read = try objects.map { (try $0.attribute("name"), try $0.attribute("age")) }
        #expect(read.map(\.0) == expected.map { .string($0.0) })
        #expect(read.map(\.1) == expected.map { .integer(Int64($0.1)) })
    }

    @Test func `relationships are read ahead along their whole path`() throws {
        let fresh = ModelContext(container)
        var descriptor = FetchDescriptor<Person>()
        descriptor.relationshipKeyPathsForPrefetching = [\.mentor?.works, \.students]
        let objects = try fresh.objects.fetch(try descriptor.objectFetch(in: container.schema))
        let works = try objects.compactMap { try $0.toOne("mentor") }.flatMap { try $0.toMany("works") }
        #expect(!works.isEmpty)
        #expect(works.allSatisfy { !$0.isFault })
        let error = #expect(throws: MigrationError.self) {
            descriptor.relationshipKeyPathsForPrefetching = [\.name]
            _ = try descriptor.objectFetch(in: container.schema)
        }
        #expect(error?.code == .usage)
    }

    @Test func `counts and identities follow the predicate and the limit`() throws {
        var descriptor = FetchDescriptor<Work>(predicate: #Predicate { $0.isRare })
        let all = try context.everything(Work.self).filter(\.isRare)
        #expect(try context.objects.count(descriptor.objectFetch(in: container.schema)) == all.count)
        descriptor.fetchLimit = 3
        #expect(try context.objects.count(descriptor.objectFetch(in: container.schema)) == 3)
        let ids = try context.objects.fetchIDs(descriptor.objectFetch(in: container.schema))
        #expect(Set(ids.map(PersistentIdentifier.init)).isSubset(of: all.map(\.persistentModelID)))
    }
}

extension Library.Work {
    /// No stored property.
    var shout: String { title.uppercased() + "!" }
}

extension Person {
    fileprivate var mentorID: PersistentIdentifier { mentor?.persistentModelID ?? persistentModelID }
    fileprivate var shout: String { name + "!" }
}
