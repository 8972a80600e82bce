import MoultData
import MoultObjects

/// A library full of random objects, the same for a seed, with values that are often alike.
struct LibraryData {
    var random: SeededGenerator
    private(set) var works: [Library.Work] = []
    private(set) var people: [Library.Person] = []
    private(set) var tags: [Library.Tag] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Composed and decomposed letters, letters that others stand for, characters of many scalars, and what a pattern
    /// language would trip over.
    static let texts = [
        "", "a", "A", "b", "\u{E9}", "e\u{301}", "e", "E", "K", "k", "\u{212A}", "Stra\u{DF}e", "STRASSE", "strasse",
        "a\r\nb", "\n", "\r\n", "\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}", "\u{1F468}\u{200D}\u{1F469}", "\u{1F469}",
        "\u{FB01}", "fi", "\u{212B}", "\u{C5}", "A\u{30A}", ";", "\u{37E}", "`", "\u{1FEF}", "abc", "abd", "ABC",
        "abcabc", "zebra", "a10", "a9", "a\u{301}", "\u{301}", "x\u{0}y", "y", " ", "\u{65E5}\u{672C}", "%", "_",
        "it's \"so\"", "\u{1E9B}\u{323}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}", "ab\u{E9}c", "abe\u{301}c",
    ]
    static let dates = [-1e9, -0.5, 0, 0.25, 1, 86_400, 700_000_000.125].map(Date.init(timeIntervalSinceReferenceDate:))
    static let decimals = ["0", "1", "-1", "0.1", "12.34", "1000000", "-0.5"].compactMap { Decimal(string: $0) }
    static let uuids = (0..<5).map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255 &- $0)) }
    static let datas = [[], [0], [1, 2], [1, 2, 3], [255, 0]].map { Data($0 as [UInt8]) }
    static let urls = ["https://example.org", "https://example.org/a?b=c", "file:///tmp"].compactMap(URL.init(string:))
    // SQLite keeps no negative zero.
    static let doubles = [-2.5, -1, 0, 0.1, 0.5, 1, 2, 1e10, .infinity]
    static let floats: [Float] = [-1, 0, 0.1, 0.5, 3]
    static let numbers = [-7, -1, 0, 1, 2, 3, 5, 100]
    static let serials: [UInt64] = [0, 1, 5, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
    static let readers: [UInt32] = [0, 1, 7, 0x7FFF_FFFF, 0x8000_0000, .max]

    mutating func one<Value>(of values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    mutating func maybe<Value>(_ values: [Value]) -> Value? { Bool.random(using: &random) ? one(of: values) : nil }

    mutating func fill(_ context: ModelContext, works workCount: Int = 60) {
        for number in 0..<(workCount / 3) { people.append(person(number)) }
        for number in 0..<(workCount / 5) { tags.append(tag(number)) }
        for person in people { context.insert(person) }
        for tag in tags { context.insert(tag) }
        for person in people { person.mentor = maybe(people) }
        for _ in 0..<workCount { works.append(work(in: context)) }
        let novels = works.compactMap { $0 as? Library.Novel }
        for novel in novels { novel.sequel = maybe(novels) }
    }

    mutating func person(_ number: Int) -> Library.Person {
        let person = Library.Person(name: one(of: Self.texts), age: one(of: Self.numbers))
        person.nickname = maybe(Self.texts)
        person.born = maybe(Self.dates)
        return person
    }

    mutating func tag(_ number: Int) -> Library.Tag {
        let tag = Library.Tag(label: one(of: Self.texts))
        tag.weight = maybe(Self.numbers)
        return tag
    }

    mutating func work(in context: ModelContext) -> Library.Work {
        let work: Library.Work
        switch Int.random(in: 0..<3, using: &random) {
        case 0: work = Library.Work(title: one(of: Self.texts))
        case 1:
            let novel = Library.Novel(title: one(of: Self.texts))
            novel.chapters = one(of: Self.numbers)
            novel.hero = maybe(Self.texts)
            work = novel
        default:
            let essay = Library.Essay(title: one(of: Self.texts))
            essay.topic = one(of: Self.texts)
            work = essay
        }
        context.insert(work)
        change(work)
        return work
    }

    /// Gives a work other values.
    mutating func change(_ work: Library.Work) {
        work.subtitle = maybe(Self.texts)
        work.pages = one(of: Self.numbers)
        work.edition = maybe([-3, 0, 1, 2])
        work.stars = one(of: [0, 1, 5, 255])
        work.readers = one(of: Self.readers)
        work.serial = one(of: Self.serials)
        work.rating = maybe(Self.doubles)
        work.height = one(of: Self.doubles)
        work.mass = one(of: Self.floats)
        work.price = one(of: Self.decimals)
        work.fee = maybe(Self.decimals)
        work.published = one(of: Self.dates)
        work.returned = maybe(Self.dates)
        work.isRare = Bool.random(using: &random)
        work.isSigned = maybe([true, false])
        work.code = one(of: Self.uuids)
        work.owner = maybe(Self.uuids)
        work.cover = one(of: Self.datas)
        work.page = maybe(Self.urls)
        work.status = one(of: Library.Status.allCases)
        work.mood = maybe(Library.Mood.allCases)
        work.author = maybe(people)
        work.translator = maybe(people)
        work.tags = tags.shuffled(using: &random).prefix(Int.random(in: 0..<4, using: &random)).map { $0 }
    }
}

extension ModelContext {
    /// Every model of a class, by the fetch below, which knows no predicate.
    func everything<Model: PersistentModel>(_ type: Model.Type) throws -> [Model] {
        try objects.fetch(ObjectFetch(entityName: Schema.entityName(for: type))).compactMap {
            model(for: PersistentIdentifier($0.id)) as? Model
        }
    }
}
