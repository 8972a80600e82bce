import MoultData
import Testing

@Suite struct RelationshipsTests {
    let store: SampleStore
    init() throws { store = try SampleStore() }

    @Model final class Trip {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
        @Relationship(deleteRule: .nullify) var tags: [Tag] = []
        init(name: String) { self.name = name }
    }

    @Model final class Stop {
        var place: String
        var trip: Trip?
        init(place: String) { self.place = place }
    }

    @Model final class Tag {
        var word: String
        var trips: [Trip] = []
        init(word: String) { self.word = word }
    }

    private func context() throws -> ModelContext { ModelContext(try store.container(Trip.self)) }

    @Test func `appending to a to-many relationship sets the other side`() throws {
        let context = try context()
        let trip = Trip(name: "Alps")
        context.insert(trip)
        let stop = Stop(place: "Bern")
        trip.stops.append(stop)
        #expect(stop.trip === trip && stop.modelContext === context)
        try context.save()
        #expect(try store.sql("SELECT t.ZNAME FROM ZSTOP s JOIN ZTRIP t ON s.ZTRIP = t.Z_PK") == ["Alps"])
    }

    @Test func `setting the to-one side puts the object into the other's list`() throws {
        let context = try context()
        let (alps, sea) = (Trip(name: "Alps"), Trip(name: "Sea"))
        let stop = Stop(place: "Bern")
        [alps, sea].forEach(context.insert)
        context.insert(stop)
        stop.trip = alps
        #expect(alps.stops == [stop])
        stop.trip = sea
        #expect(alps.stops.isEmpty && sea.stops == [stop])
    }

    @Test func `cascade deletes the parts with the whole`() throws {
        let context = try context()
        let trip = Trip(name: "Alps")
        trip.stops = [Stop(place: "Bern"), Stop(place: "Chur")]
        context.insert(trip)
        context.insert(Stop(place: "alone"))
        try context.save()
        context.delete(trip)
        try context.save()
        #expect(try store.sql("SELECT ZPLACE FROM ZSTOP") == ["alone"])
    }

    @Test func `nullify leaves the other objects, without the link`() throws {
        let context = try context()
        let (trip, tag) = (Trip(name: "Alps"), Tag(word: "hills"))
        trip.tags = [tag]
        context.insert(trip)
        try context.save()
        #expect(tag.trips == [trip])
        context.delete(trip)
        try context.save()
        #expect(tag.trips.isEmpty && !tag.isDeleted)
        #expect(try store.sql("SELECT count(*) FROM ZTAG") == ["1"])
    }

    @Test func `a many-to-many relationship is found from both ends`() throws {
        do {
            let context = try context()
            let tags = ["hills", "snow"].map(Tag.init)
            for name in ["Alps", "Andes"] {
                let trip = Trip(name: name)
                context.insert(trip)
                trip.tags = tags
            }
            try context.save()
        }
        let tags = try context().fetch(FetchDescriptor<Tag>())
        #expect(tags.count == 2 && tags.allSatisfy { Set($0.trips.map(\.name)) == ["Alps", "Andes"] })
    }

    @Model final class Account {
        var owner: String
        @Relationship(deleteRule: .deny) var entries: [Entry] = []
        init(owner: String) { self.owner = owner }
    }

    @Model final class Entry {
        var amount: Decimal
        var account: Account?
        init(amount: Decimal) { self.amount = amount }
    }

    @Test func `deny keeps what others still need`() throws {
        let context = ModelContext(try store.container(Account.self))
        let account = Account(owner: "Ada")
        context.insert(account)
        account.entries.append(Entry(amount: 5))
        try context.save()
        context.delete(account)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try store.sql("SELECT count(*) FROM ZACCOUNT") == ["1"])
    }

    @Model final class Person {
        var name: String
        var mother: Person?
        @Relationship(inverse: \Person.mother) var children: [Person]
        init(name: String, mother: Person? = nil) {
            self.name = name
            self.mother = mother
            children = []
        }
    }

    @Test func `a model is related to itself`() throws {
        let context = ModelContext(try store.container(Person.self))
        let ada = Person(name: "Ada")
        context.insert(ada)
        context.insert(Person(name: "Bea", mother: ada))
        context.insert(Person(name: "Cleo", mother: ada))
        try context.save()
        #expect(Set(ada.children.map(\.name)) == ["Bea", "Cleo"])
        #expect(try store.sql("SELECT count(*) FROM ZPERSON WHERE ZMOTHER = 1") == ["2"])
    }

    @Test func `emptying a relationship unlinks, and removing one removes one`() throws {
        let context = try context()
        let trip = Trip(name: "Alps")
        context.insert(trip)
        trip.stops = ["a", "b", "c"].map(Stop.init)
        try context.save()
        trip.stops.removeAll { $0.place == "b" }
        #expect(Set(trip.stops.map(\.place)) == ["a", "c"])
        trip.stops = []
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZSTOP WHERE ZTRIP IS NULL") == ["3"])
    }

    @Model final class Team {
        var name: String
        @Relationship(minimumModelCount: 1, maximumModelCount: 2) var players: [Player]
        init(name: String, players: [Player]) {
            self.name = name
            self.players = players
        }
    }

    @Model final class Player {
        var name: String
        var team: Team?
        init(name: String) { self.name = name }
    }

    @Test func `a relationship with too few or too many objects is not saved`() throws {
        let context = ModelContext(try store.container(Team.self))
        let team = Team(name: "A", players: [])
        context.insert(team)
        #expect(throws: (any Error).self) { try context.save() }
        team.players = ["a", "b", "c"].map(Player.init)
        #expect(throws: (any Error).self) { try context.save() }
        team.players.removeLast()
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZTEAM") == ["1"])
    }
}
