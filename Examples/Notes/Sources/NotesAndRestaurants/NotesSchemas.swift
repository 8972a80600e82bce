import MoultData

/// The first release.
public enum NotesV1: VersionedSchema {
    public static let versionIdentifier = Schema.Version(1, 0, 0)
    public static var models: [any PersistentModel.Type] { [Note.self, Author.self, Restaurant.self] }

    @Model public final class Note {
        public var title: String
        public var text: String
        public var author: Author?

        public init(title: String, text: String, author: Author? = nil) {
            self.title = title
            self.text = text
            self.author = author
        }
    }

    @Model public final class Author {
        public var fullName: String
        @Relationship(deleteRule: .cascade, inverse: \Note.author) public var notes: [Note] = []

        public init(fullName: String) { self.fullName = fullName }
    }

    @Model public final class Restaurant {
        public var name: String
        public var category: String

        public init(name: String, category: String) {
            self.name = name
            self.category = category
        }
    }
}

/// `text` is called `content`, and there are new properties with defaults.
public enum NotesV2: VersionedSchema {
    public static let versionIdentifier = Schema.Version(2, 0, 0)
    public static var models: [any PersistentModel.Type] { [Note.self, Author.self, Restaurant.self] }

    @Model public final class Note {
        public var title: String
        @Attribute(originalName: "text") public var content: String
        public var isFavourite = false
        public var author: Author?

        public init(title: String, content: String) {
            self.title = title
            self.content = content
        }
    }

    @Model public final class Author {
        public var fullName: String
        @Relationship(deleteRule: .cascade, inverse: \Note.author) public var notes: [Note] = []

        public init(fullName: String) { self.fullName = fullName }
    }

    @Model public final class Restaurant {
        public var name: String
        public var category: String
        public var rating = 3
        public var visits: Int?

        public init(name: String, category: String) {
            self.name = name
            self.category = category
        }
    }
}

/// Notes count their words, and nothing has an empty title or category.
public enum NotesV3: VersionedSchema {
    public static let versionIdentifier = Schema.Version(3, 0, 0)
    public static var models: [any PersistentModel.Type] { [Note.self, Author.self, NotesV2.Restaurant.self] }

    @Model public final class Note {
        public var title: String
        public var content: String
        public var isFavourite = false
        public var wordCount = 0
        public var author: Author?

        public init(title: String, content: String) {
            self.title = title
            self.content = content
        }
    }

    @Model public final class Author {
        public var fullName: String
        @Relationship(deleteRule: .cascade, inverse: \Note.author) public var notes: [Note] = []

        public init(fullName: String) { self.fullName = fullName }
    }
}

/// An author has a first and a last name.
public enum NotesV4: VersionedSchema {
    public static let versionIdentifier = Schema.Version(4, 0, 0)
    public static var models: [any PersistentModel.Type] { [Note.self, Author.self, NotesV2.Restaurant.self] }

    @Model public final class Note {
        public var title: String
        public var content: String
        public var isFavourite = false
        public var wordCount = 0
        public var author: Author?

        public init(title: String, content: String) {
            self.title = title
            self.content = content
        }
    }

    @Model public final class Author {
        public var firstName: String
        public var lastName: String
        @Relationship(deleteRule: .cascade, inverse: \Note.author) public var notes: [Note] = []

        public init(firstName: String, lastName: String) {
            self.firstName = firstName
            self.lastName = lastName
        }
    }
}
