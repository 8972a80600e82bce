import MoultData

/// Things in a later version: whatever was required is optional, structs have a field more, a field less and a wider
/// number, and enums have a case more.
enum ThingsLater: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Thing.self] }

    enum Word: String, Codable {
        case gamma
        case alpha
        case beta = "B e t a"
    }
    enum Level: Int, Codable {
        case low = -1
        case middle = 3
        case high = 7
    }
    enum Side: Codable { case left, up, right, `default` }

    struct Inner: Codable, Equatable {
        var key: String
        var count: Int?
        var more: Double?
    }

    struct Every: Codable, Equatable {
        var extra: String?
        var text: String
        var number: Int
        var real: Double
        var single: Float
        var flag: Bool
        var moment: Date
        var code: UUID
        var link: URL
        var sum: Decimal
        var bytes: Data
        var lines: [String]
        var word: Word?
        var level: Level?
        var inner: Inner
        var spare: Inner?
        var inners: [Inner]?
        var words: [Word]?
    }

    @Model final class Thing {
        var name: String
        var word: Word?
        var wordMaybe: Word?
        var level: Level?
        var levelMaybe: Level?
        var side: Side?
        var sideMaybe: Side?
        var every: Every?
        var everyMaybe: Every?
        var texts: [String]?
        var textsMaybe: [String]?
        var numbers: [Int]?
        var blobs: [Data]?
        var blobsMaybe: [Data]?
        var table: [String: Inner]?
        var link: URL?
        var linkMaybe: URL?
        var started: Word?

        init(_ name: String) { self.name = name }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Things.self, ThingsLater.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Things.self, toVersion: ThingsLater.self)] }
        static var answers: [MigrationAnswer] {
            ["every", "everyMaybe"].flatMap { path in
                [.kept("Thing.\(path).number", in: ThingsLater.self)]
                    + ["extra", "inner.more", "spare.more"].map { .new("Thing.\(path).\($0)", in: ThingsLater.self) }
            } + ["side", "sideMaybe"].map { .new("Thing.\($0).up", in: ThingsLater.self) }
        }
    }
}
