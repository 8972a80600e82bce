import MoultData

/// Models with values of every kind, relationships of every kind and a subclass, to be asked for.
enum Library: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Work.self, Novel.self, Essay.self, Person.self, Tag.self] }

    enum Status: String, Codable, CaseIterable { case shelved, lent, lost }
    /// Bright moods come first.
    enum Mood: Int, Codable, CaseIterable, Comparable {
        case gloomy = -1
        case even
        case bright

        static func < (left: Mood, right: Mood) -> Bool { left.rawValue > right.rawValue }
    }

    @Model class Work {
        var title: String
        var subtitle: String?
        var pages: Int
        var edition: Int16?
        var stars: UInt8
        var readers: UInt32
        var serial: UInt64
        var rating: Double?
        var height: Double
        var mass: Float
        var price: Decimal
        var fee: Decimal?
        var published: Date
        var returned: Date?
        var isRare: Bool
        var isSigned: Bool?
        var code: UUID
        var owner: UUID?
        var cover: Data
        var page: URL?
        var status: Status
        var mood: Mood?
        var keywords: [String]
        var author: Person?
        var translator: Person?
        @Relationship(inverse: \Tag.works) var tags: [Tag] = []

        init(title: String) {
            self.title = title
            pages = 0
            stars = 0
            readers = 0
            serial = 0
            height = 0
            mass = 0
            price = 0
            published = Date(timeIntervalSinceReferenceDate: 0)
            isRare = false
            code = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            cover = Data()
            status = .shelved
            keywords = []
        }
    }

    @Model final class Novel: Work {
        var chapters: Int = 0
        var hero: String?
        @Relationship(inverse: \Novel.sequel) var prequel: Novel?
        var sequel: Novel?

        override init(title: String) { super.init(title: title) }
    }

    @Model final class Essay: Work {
        var topic: String = ""

        override init(title: String) { super.init(title: title) }
    }

    @Model final class Person {
        var name: String
        var nickname: String?
        var age: Int
        var born: Date?
        @Relationship(inverse: \Person.mentor) var students: [Person] = []
        var mentor: Person?
        @Relationship(inverse: \Work.author) var works: [Work] = []
        @Relationship(inverse: \Work.translator) var translations: [Work]?

        init(name: String, age: Int = 0) {
            self.name = name
            self.age = age
        }
    }

    @Model final class Tag {
        var label: String
        var weight: Int?
        var works: [Work] = []

        init(label: String) { self.label = label }
    }
}
