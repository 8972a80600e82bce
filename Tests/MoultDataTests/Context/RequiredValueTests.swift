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
}
