import MoultData

/// A model of SwiftData that uses each kind of value that CloudKit stores differently.
enum Diary: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Entry.self, Author.self] }

    enum Mood: String, Codable {
        case glad, sad
    }

    struct Place: Codable {
        var latitude = 0.0
        var name = ""
    }

    @Model final class Entry {
        var identifier = UUID()
        var title = ""
        var written = Date(timeIntervalSince1970: 0)
        var isPinned = false
        var rating: Int?
        var weight = 0.0
        var price: Decimal?
        var tags: [String] = []
        @Attribute(.externalStorage) var photo: Data?
        var link: URL?
        var mood: Mood?
        var place: Place?
        @Attribute(.allowsCloudEncryption) var secret = ""
        @Transient var draft = ""
        var author: Author?
        init() {}
    }

    @Model final class Author {
        var name = ""
        @Relationship(inverse: \Entry.author) var entries: [Entry]?
        init() {}
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Diary.self] }
        static var stages: [MigrationStage] { [] }
    }
}
