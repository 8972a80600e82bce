//
//  FleetV1.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

#if canImport(Darwin)
import SwiftData
#else
import MoultData
#endif

/// The version Fleet of the model.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum FleetV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Captain.self, Cook.self, Date.self, Decimal.self, Port.self, Sailor.self, Ship.self]
    }

    @Model
    final class Captain: Sailor {
        var rank: Int16

        init(name: String, ship: Ship, rank: Int16) {
            self.rank = rank
            super.init(name: name, ship: ship)
        }
    }

    @Model
    final class Cook: Sailor {

        override init(name: String, ship: Ship) {
            super.init(name: name, ship: ship)
        }
    }

    @Model
    final class Date {
        var `class`: String?
        var day: Foundation.Date?

        init() {
        }
    }

    @Model
    final class Decimal {
        var digits: Foundation.Decimal?

        init() {
        }
    }

    @Model
    final class Port {
        var since: Foundation.Date?
        @Relationship(inverse: \Ship.home) var residents: [Ship]? = []
        @Relationship(inverse: \Ship.ports) var ships: [Ship]? = []

        init() {
        }
    }

    @Model
    class Sailor {
        var name: String
        @Relationship(minimumModelCount: 1) var ship: Ship

        init(name: String, ship: Ship) {
            self.name = name
            self.ship = ship
        }
    }

    @Model
    final class Ship {
        #Unique<Ship>([\.name, \.integer32])
        #Index<Ship>([\.name], [\.name, \.integer16])
        var berth: ShipBerth?
        @Attribute(.externalStorage) var binary: Data? = Data([0, 255])
        var boolean: Bool = true
        @Attribute(.transformable(by: "ColourTransformer")) var colour: NSObject?
        var date: Foundation.Date = Foundation.Date(timeIntervalSinceReferenceDate: 1.5)
        var decimal: Foundation.Decimal = Foundation.Decimal(sign: .minus, exponent: -1, significand: 125)
        var `default`: String?
        var double: Double = 0.1
        @Attribute(hashModifier: "2") var float: Float?
        var hull: String
        var `in`: Bool
        var integer16: Int16 = -7
        var integer32: Int32? = 7
        var integer64: Int
        var name: String?
        var origin: ShipOrigin
        @Attribute(.preserveValueOnDeletion, .allowsCloudEncryption) var secret: String?
        var string: String = "a \"b\" \\\n\u{7}é"
        var uri: URL? = URL(string: "https://example.org/?a=1")
        @Attribute(.unique) var uuid: UUID = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
        var words: [String]?
        @Relationship(deleteRule: .cascade, inverse: \Sailor.ship) var crew: [Sailor]? = []
        var home: Port
        @Relationship(minimumModelCount: 1, maximumModelCount: 9) var ports: [Port] = []
        var sisters: [Ship]? = []
        @Relationship(deleteRule: .deny, inverse: \Ship.tug) var towed: Ship?
        var tug: Ship?
        @Transient var cache: Foundation.Date? = nil

        init(hull: String, `in`: Bool, integer64: Int, origin: ShipOrigin, home: Port) {
            self.hull = hull
            self.`in` = `in`
            self.integer64 = integer64
            self.origin = origin
            self.home = home
        }
    }

    struct ShipBerth: Codable {
        var quay: String?
        var number: Int32?
    }

    struct ShipOrigin: Codable {
        var latitude: Double
        var name: String?
        var depth: ShipOriginDepth
    }

    struct ShipOriginDepth: Codable {
        var metres: Int16
    }
}
