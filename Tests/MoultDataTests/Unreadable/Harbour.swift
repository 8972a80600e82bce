import Foundation
import MoultData
import TestSupport

/// Models with a required property of every kind that not every stored value can be.
enum Harbour: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Ship.self, Mast.self, Sail.self, Flag.self] }

    enum Rank: String, Codable { case high, low }
    enum Level: Int, Codable {
        case one = 1
        case two
    }
    enum Tide: Codable { case ebb, flood }
    enum Outcome: Codable, Equatable {
        case sunk(depth: Double)
        case afloat
    }
    struct Place: Codable, Equatable {
        var title: String
        var grade: Rank
        var fate: Outcome
        var at: Date
        var counts: [String: Int]
    }

    @Model final class Ship {
        var name: String
        var code: UUID
        var rank: Rank
        var level: Level
        var outcome: Outcome
        var place: Place
        var url: URL
        var price: Decimal
        var small: Int8
        var big: UInt64
        var weight: Double
        var isOld: Bool
        var built: Date
        var data: Data
        var tags: [String]
        var note: String?
        var optionalRank: Rank?
        var optionalPlace: Place?
        var optionalSmall: Int8?
        var tide: Tide
        var given = Rank.low
        @Relationship(deleteRule: .cascade, inverse: \Mast.ship) var masts: [Mast] = []

        init(_ name: String) {
            self.name = name
            (code, rank, level, outcome) = (UUID(), .low, .two, .afloat)
            place = Place(title: "here", grade: .low, fate: .afloat, at: .now, counts: ["a": 1])
            (url, price, small, big, weight) = (URL(fileURLWithPath: "/ship"), 12.5, 1, .max, 1.5)
            (isOld, built, data, tags, tide) = (true, .now, Data([1, 2]), ["a", "b"], .flood)
            (note, optionalRank, optionalPlace, optionalSmall) = ("note", .high, place, 3)
        }
    }

    @Model final class Mast {
        var height: Int
        var ship: Ship
        var sails: [Sail] = []

        init(height: Int, ship: Ship) {
            self.height = height
            self.ship = ship
        }
    }

    /// Its colour can be made of nothing but what was written.
    @Model final class Sail {
        @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour
        @Relationship(inverse: \Mast.sails) var mast: Mast?

        init(_ colour: String) { self.colour = Colour(colour) }
    }

    @Model final class Flag {
        var name: String
        @Relationship(inverse: nil) var sail: Sail

        init(_ name: String, _ sail: Sail) {
            self.name = name
            self.sail = sail
        }
    }

    struct Colour: Equatable {
        var name: String
        init(_ name: String) { self.name = name }
    }

    final class ColourTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).map { Data("c:\($0.name)".utf8) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let text = (value as? Data).map({ String(decoding: $0, as: UTF8.self) }), text.hasPrefix("c:") else {
                return nil
            }
            return Colour(String(text.dropFirst(2)))
        }
    }

    static func fill(_ context: ModelContext) {
        for name in ["Beagle", "Argo", "Vasa"] {
            let ship = Ship(name)
            context.insert(ship)
            for height in [10, 20] {
                let mast = Mast(height: height, ship: ship)
                context.insert(mast)
                let sail = Sail("red \(height)")
                sail.mast = mast
                context.insert(sail)
                context.insert(Flag(name, sail))
            }
        }
    }
}
