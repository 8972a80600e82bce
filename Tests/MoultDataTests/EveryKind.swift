import MoultData

/// One model with a property of every kind.
enum EveryKind: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 1, 0)
    static var models: [any PersistentModel.Type] { [Everything.self] }

    enum Status: String, Codable { case draft, done }
    enum Level: Int, Codable { case low, high }
    enum Outcome: Codable, Equatable {
        case pending
        case failed(reason: String)
    }
    struct Place: Codable, Equatable {
        var name: String
        var latitude: Double
    }

    @Model final class Everything {
        var int: Int
        var int8: Int8
        var int16: Int16
        var int32: Int32
        var int64: Int64
        var uint: UInt
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var uint64: UInt64
        var double: Double
        var float: Float
        var bool: Bool
        var string: String
        var date: Date
        var data: Data
        var uuid: UUID
        var url: URL
        var decimal: Decimal
        var status: Status
        var level: Level
        var outcome: Outcome
        var place: Place
        var strings: [String]
        var numbers: [Int]
        var places: [Place]
        var counts: [String: Int]
        var optionalInt: Int?
        var optionalString: String?
        var optionalStatus: Status?
        var optionalPlace: Place?
        var inferred = 7
        var `default` = "reserved"
        @Attribute(.transformable(by: ReversingTransformer.self)) var reversed: Reversed
        @Attribute(.transformable(by: "Reversing")) var named: Reversed?
        @Transient var cache = 0
        var partner: Everything?
        @Relationship(deleteRule: .cascade, inverse: \Part.whole) var parts: [Part] = []
        var spares: Set<Part>? = nil

        init() {
            (int, int8, int16, int32, int64) = (1, 2, 3, 4, 5)
            (uint, uint8, uint16, uint32, uint64) = (6, 7, 8, 9, 10)
            (double, float, bool, string) = (1.5, 2.5, true, "text")
            date = Date(timeIntervalSinceReferenceDate: 12)
            data = Data([1, 2])
            uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
            url = URL(fileURLWithPath: "/tmp")
            decimal = Decimal(string: "12.34") ?? 0
            (status, level, outcome) = (.draft, .high, .failed(reason: "rain"))
            place = Place(name: "here", latitude: 1)
            (strings, numbers, places, counts) = (
                ["a", "é"], [1, -2], [Place(name: "there", latitude: .nan)], ["a": 1]
            )
            reversed = Reversed("abc")
        }
    }

    @Model final class Part {
        var name: String
        var whole: Everything?
        init(name: String) { self.name = name }
    }
}

/// A value that is no `Codable`.
struct Reversed: Equatable {
    var text: String
    init(_ text: String) { self.text = text }
}

final class ReversingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Reversed).map { Data($0.text.utf8.reversed()) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { Reversed(String(decoding: $0.reversed(), as: UTF8.self)) }
    }
}
