import Foundation
import MoultData
import Testing

/// A relationship that may not be empty, and one with a least count.
private enum Fleet {
    @Model final class Ship {
        var name: String
        @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Mast.ship) var masts: [Mast] = []

        init(_ name: String) { self.name = name }
    }

    @Model final class Mast {
        var height: Int
        var ship: Ship

        init(height: Int, ship: Ship) {
            self.height = height
            self.ship = ship
        }
    }
}

/// Optional properties with a default and without.
@Model private final class Flag {
    var colour: String? = "red"
    var motto: String?
    var ship: Fleet.Ship?

    init(colour: String?, motto: String? = nil) {
        self.colour = colour
        self.motto = motto
    }
}

@Suite struct RequiredValueTests {
    private typealias Ship = Fleet.Ship
    private typealias Mast = Fleet.Mast

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Fleet.Ship.self, configurations: .init(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    @Test func `a save that leaves a required relationship empty is refused, and nothing of it is saved`() throws {
        let ship = Ship("Beagle")
        let mast = Mast(height: 20, ship: ship)
        context.insert(mast)
        try context.save()
        mast.height = 30
        context.delete(ship)
        context.processPendingChanges()
        #expect(mast.ship === ship && mast.ship.name == "Beagle")
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(error?.underlyingError.place == "Mast.ship" && error?.message.contains("1570") == true)
        #expect(try ModelContext(container).all(Mast.self).map(\.height) == [20])
        context.rollback()
        #expect(mast.ship === ship && ship.masts == [mast] && mast.height == 20)
    }

    @Test func `before the first save too`() throws {
        let ship = Ship("Beagle")
        let mast = Mast(height: 20, ship: ship)
        context.insert(mast)
        context.delete(ship)
        #expect(mast.ship === ship)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.delete(mast)
        try context.save()
        #expect(mast.ship.name == "Beagle")
    }

    @Test func `the number of destinations is checked`() throws {
        let ship = Ship("Beagle")
        context.insert(ship)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        for height in [10, 20, 30] { ship.masts.append(Mast(height: height, ship: ship)) }
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(error?.message.contains("3 objects") == true)
        context.delete(ship.masts[0])
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Mast>()) == 2)
    }

    @Test func `nil over a default is nil, before and after a save`() throws {
        let container = try ModelContainer(for: Flag.self, configurations: .init(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let flags = [Flag(colour: nil), Flag(colour: "red", motto: "Fluctuat"), Flag(colour: "blue", motto: "x")]
        flags[1].motto = nil
        #expect(flags.map(\.colour) == [nil, "red", "blue"] && flags.map(\.motto) == [nil, nil, "x"])
        for flag in flags { context.insert(flag) }
        flags[2].motto = nil
        try context.save()
        let saved = try ModelContext(container).all(Flag.self)
        #expect(saved.count == 3 && Set(saved.map(\.colour)) == [nil, "red", "blue"])
        #expect(saved.allSatisfy { $0.motto == nil && $0.ship == nil })
    }
}
