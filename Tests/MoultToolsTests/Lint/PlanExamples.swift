import MoultData

// The plans of the rules' pages, with the versions that they are about.

enum PlainVersions {
    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Post.self] }
        @Model final class Post {
            var title = ""
            init() {}
        }
    }

    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Post.self] }
        @Model final class Post {
            var title = ""
            var body = ""
            init() {}
        }
    }

    enum NoStage: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [] }
    }

    enum OneStage: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] {
            [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)]
        }
    }

    enum TwoStages: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: AppV1.self, toVersion: AppV2.self),
                .lightweight(fromVersion: AppV1.self, toVersion: AppV2.self),
            ]
        }
    }

    /// The body that only the older version has can be read by nothing but `willMigrate`.
    enum Back: SchemaMigrationPlan {
        enum AppV3: VersionedSchema {
            static let versionIdentifier = Schema.Version(3, 0, 0)
            static var models: [any PersistentModel.Type] { [AppV1.Post.self, Note.self] }
            @Model final class Note {
                var text = ""
                init() {}
            }
        }

        static var schemas: [any VersionedSchema.Type] { [AppV2.self, AppV3.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: AppV2.self, toVersion: AppV3.self, willMigrate: { _ in }, didMigrate: nil)]
        }
    }
}

enum SizedVersions {
    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Post.self] }
        @Model final class Post {
            var size = ""
            init() {}
        }
    }

    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Post.self] }
        @Model final class Post {
            var size = 0
            init() {}
        }
    }

    enum Custom: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: AppV1.self, toVersion: AppV2.self, willMigrate: nil, didMigrate: { _ in })]
        }
    }

    enum Transformed: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] {
            [.transform(from: AppV1.Post.self, to: AppV2.Post.self) { old, new in new.size = Int(old.size) ?? 0 }]
        }
    }

    enum Plain: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)] }
    }
}

enum SharedType {
    struct Reminder: Codable { var hour = 9 }

    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self] }
        @Model final class Habit {
            var reminder = Reminder()
            init() {}
        }
    }

    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self] }
        @Model final class Habit {
            var reminder = Reminder()
            var name = ""
            init() {}
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)] }
    }
}

enum OwnTypes {
    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self] }
        struct Reminder: Codable { var hour = 9 }
        @Model final class Habit {
            var reminder = Reminder()
            init() {}
        }
    }

    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Habit.self] }
        struct Reminder: Codable { var hour = 9 }
        @Model final class Habit {
            var reminder = Reminder()
            var name = ""
            init() {}
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)] }
    }
}

/// An enum with raw values and one without, which both versions share: only the latter is in the hash by its cases.
enum SharedEnums {
    enum Mood: String, Codable { case good, bad }
    enum Weather: Codable { case sun, rain }

    enum AppV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Day.self] }
        @Model final class Day {
            var mood = Mood.good
            var weather: Weather? = Weather.sun
            @Attribute(.unique) var number = 0
            var word: String
            init(word: String) { self.word = word }
        }
    }

    enum AppV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Day.self] }
        @Model final class Day {
            var mood = Mood.good
            var weather: Weather? = Weather.sun
            @Attribute(.unique) var number = 0
            var word: String
            var note: String?
            init(word: String) { self.word = word }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AppV1.self, AppV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: AppV1.self, toVersion: AppV2.self)] }
    }
}
