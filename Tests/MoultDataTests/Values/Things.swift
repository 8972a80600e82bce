import MoultData

/// A model with a property for every kind of value type, plain and optional, alone and in a struct.
enum Things: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Thing.self] }

    enum Word: String, Codable { case alpha, beta = "B e t a" }
    enum Level: Int, Codable { case low = -1, high = 7 }
    enum Side: Codable { case left, right, `default` }

    struct Inner: Codable, Equatable {
        var key: String
        var count: Int?
    }

    /// What a struct can have without being uncertain.
    struct Every: Codable, Equatable {
        var text: String
        var number: Int32
        var real: Double
        var single: Float
        var flag: Bool
        var moment: Date
        var code: UUID
        var link: URL
        var sum: Decimal
        var bytes: Data
        var lines: [String]
        var hint: String?
        var word: Word?
        var level: Level?
        var inner: Inner
        var spare: Inner?
        var inners: [Inner]?
        var words: [Word]?
    }

    @Model final class Thing {
        var name: String
        var word: Word
        var wordMaybe: Word?
        var level: Level
        var levelMaybe: Level?
        var side: Side
        var sideMaybe: Side?
        var every: Every
        var everyMaybe: Every?
        var texts: [String]
        var textsMaybe: [String]?
        var numbers: [Int]
        var blobs: [Data]
        var blobsMaybe: [Data]?
        var table: [String: Inner]?
        var link: URL
        var linkMaybe: URL?
        var started = Word.beta

        init(_ name: String) {
            (self.name, word, level, side) = (name, .alpha, .low, .left)
            every = Things.every(0)
            (texts, numbers, blobs, link) = ([], [], [], Things.link(0))
        }
    }

    static func link(_ number: Int) -> URL {
        URL(string: "https://example.com/\(number)?a=b") ?? URL(fileURLWithPath: "/")
    }

    static func every(_ number: Int) -> Every {
        Every(
            text: "text \(number)", number: Int32(number), real: Double(number) / 4, single: Float(number) / 8,
            flag: number % 2 == 1, moment: Date(timeIntervalSinceReferenceDate: Double(number)),
            code: UUID(uuid: (UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), link: link(number),
            sum: Decimal(number) / 100, bytes: Data([UInt8(number), 255]), lines: ["line \(number)"],
            hint: number % 2 == 0 ? nil : "hint", word: number % 2 == 0 ? nil : .beta,
            level: number % 3 == 0 ? nil : .high,
            inner: Inner(key: "k\(number)", count: number % 2 == 0 ? nil : number),
            spare: number % 2 == 0 ? nil : Inner(key: "spare", count: nil),
            inners: number % 3 == 0 ? nil : [Inner(key: "a", count: 1), Inner(key: "b", count: nil)],
            words: number % 3 == 0 ? nil : [.beta, .alpha])
    }

    /// Things in which every optional is nil and is not, and every case is used.
    static func fill(_ context: ModelContext) {
        for number in 0..<6 {
            let thing = Thing("thing \(number)")
            context.insert(thing)
            change(thing, number)
        }
    }

    static func change(_ thing: Thing, _ number: Int) {
        let isFull = number % 2 == 1
        thing.word = isFull ? .beta : .alpha
        thing.wordMaybe = isFull ? .alpha : nil
        thing.level = isFull ? .high : .low
        thing.levelMaybe = isFull ? .low : nil
        thing.side = [.left, .right, .default][number % 3]
        thing.sideMaybe = isFull ? [.left, .right, .default][(number + 1) % 3] : nil
        thing.every = every(number)
        thing.everyMaybe = isFull ? every(number + 10) : nil
        thing.texts = (0..<number).map { "t\($0)" }
        thing.textsMaybe = isFull ? ["é", ""] : nil
        thing.numbers = [number, -number, .max]
        thing.blobs = isFull ? [Data([1]), Data()] : []
        thing.blobsMaybe = isFull ? [] : nil
        thing.table = isFull ? ["x": Inner(key: "in", count: number)] : nil
        thing.link = link(number)
        thing.linkMaybe = isFull ? link(number + 1) : nil
    }
}
