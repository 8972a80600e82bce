import SwiftData
import Testing

#if canImport(SwiftData)
    @Model
    final class Trip {
        @Attribute(.unique) var name: String
        var start: Date
        @Relationship(deleteRule: .cascade, inverse: \Stay.trip) var stays: [Stay] = []

        init(name: String, start: Date = .now) {
            self.name = name
            self.start = start
        }
    }

    @Model
    final class Stay {
        var nights: Int
        var trip: Trip?

        init(nights: Int) { self.nights = nights }
    }
#endif

@Suite struct TripTests {
    @Test func `the macros, a container and a predicate, with nothing but SwiftData's import`() throws {
        let schema = SwiftData.Schema([Trip.self, Stay.self])
        let container = try ModelContainer(
            for: schema, configurations: [ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)])
        let context = ModelContext(container)
        let rome = Trip(name: "Rome")
        context.insert(rome)
        rome.stays = [Stay(nights: 2), Stay(nights: 3)]
        context.insert(Trip(name: "Oslo"))
        try context.save()

        let wanted = "Rome"
        let descriptor = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.name == wanted }, sortBy: [SortDescriptor(\.name)])
        #expect(try context.fetch(descriptor).map(\.name) == ["Rome"])
        #expect(try context.fetch(FetchDescriptor<Stay>()).map(\.nights).sorted() == [2, 3])
        context.delete(rome)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Stay>()) == 0)
    }
}
