import MoultData
import Testing

@Suite struct DefiningModelsTests {
    let store: SampleStore
    init() throws { store = try SampleStore() }

    @Model class Trip {
        var name: String
        var destination: String
        var startDate: Date
        var endDate: Date
        var accommodation: Accommodation?

        init(name: String, destination: String, startDate: Date, endDate: Date, accommodation: Accommodation? = nil) {
            self.name = name
            self.destination = destination
            self.startDate = startDate
            self.endDate = endDate
            self.accommodation = accommodation
        }
    }

    @Model class Accommodation {
        var name: String
        init(name: String) { self.name = name }
    }

    @Test func `an ordinary class with the macro has a table`() throws {
        let context = ModelContext(try store.container(Trip.self))
        let start = Date(timeIntervalSinceReferenceDate: 1000)
        context.insert(Trip(name: "Alps", destination: "Bern", startDate: start, endDate: start + 86_400))
        try context.save()
        #expect(
            try store.sql("SELECT ZNAME, ZDESTINATION, ZSTARTDATE, ZENDDATE FROM ZTRIP") == ["Alps|Bern|1000|87400"]
        )
    }

    @Test func `a related model comes along with the schema and with the insertion`() throws {
        let container = try store.container(Trip.self)
        let context = ModelContext(container)
        context.insert(
            Trip(
                name: "Alps", destination: "Bern", startDate: .now, endDate: .now,
                accommodation: Accommodation(name: "Hut")))
        try context.save()
        #expect(container.schema.entities.map(\.name).sorted() == ["Accommodation", "Trip"])
        #expect(
            try store.sql("SELECT a.ZNAME FROM ZTRIP t JOIN ZACCOMMODATION a ON t.ZACCOMMODATION = a.Z_PK") == ["Hut"])
    }

    @Model final class Defaults {
        var id = UUID()
        var created: Date = Date.now
        var isPinned = false
        var count: Int = 3
        var note: String?
        init() {}
    }

    @Test func `properties with defaults need no argument`() throws {
        let context = ModelContext(try store.container(Defaults.self))
        let (one, two) = (Defaults(), Defaults())
        context.insert(one)
        context.insert(two)
        try context.save()
        #expect(one.id != two.id && one.count == 3)
        #expect(try store.sql("SELECT count(DISTINCT ZID), min(ZISPINNED), min(ZNOTE) FROM ZDEFAULTS") == ["2|0|"])
    }

    @Model final class Recipe {
        enum Difficulty: String, Codable, CaseIterable { case easy, hard }
        enum Rating: Int, Codable {
            case poor = 1
            case good = 5
        }
        struct Nutrition: Codable, Hashable {
            var calories: Int
            var fat: Double
        }
        enum Source: Codable, Equatable {
            case grandmother
            case book(title: String, page: Int)
        }
        var difficulty: Difficulty
        var rating: Rating?
        var nutrition: Nutrition
        var source: Source
        var steps: [String]
        var extras: [Nutrition]
        var amounts: [String: Double]
        var labels: Set<String>

        init(difficulty: Difficulty, nutrition: Nutrition, source: Source) {
            self.difficulty = difficulty
            self.nutrition = nutrition
            self.source = source
            (steps, extras, amounts, labels) = (["mix", "bake"], [nutrition], ["flour": 0.5], ["sweet"])
        }
    }

    @Test func `enums, structs and collections of values are kept whole`() throws {
        let nutrition = Recipe.Nutrition(calories: 400, fat: 12.5)
        do {
            let context = ModelContext(try store.container(Recipe.self))
            context.insert(
                Recipe(difficulty: .hard, nutrition: nutrition, source: .book(title: "Bread", page: 7)))
            try context.save()
        }
        let context = ModelContext(try store.container(Recipe.self))
        let recipe = try #require(try context.fetch(FetchDescriptor<Recipe>()).first)
        #expect(recipe.difficulty == .hard && recipe.rating == nil && recipe.nutrition == nutrition)
        #expect(recipe.source == .book(title: "Bread", page: 7) && recipe.steps == ["mix", "bake"])
        #expect(recipe.extras == [nutrition] && recipe.amounts == ["flour": 0.5] && recipe.labels == ["sweet"])
        recipe.nutrition.calories += 1
        recipe.steps.append("eat")
        recipe.rating = .good
        #expect(recipe.modelContext === context)
        try context.save()
        #expect(try store.sql("SELECT ZDIFFICULTY, ZRATING FROM ZRECIPE") == ["hard|5"])
        let again = try ModelContext(try store.container(Recipe.self)).fetch(FetchDescriptor<Recipe>()).first
        #expect(again?.nutrition.calories == 401 && again?.steps.last == "eat")
    }

    @Model final class Country {
        @Attribute(.unique) var code: String
        var name: String
        init(code: String, name: String) {
            self.code = code
            self.name = name
        }
    }

    @Test func `inserting a second object with the same unique value updates the first`() throws {
        let context = ModelContext(try store.container(Country.self))
        context.insert(Country(code: "CH", name: "Suisse"))
        try context.save()
        context.insert(Country(code: "CH", name: "Switzerland"))
        try context.save()
        #expect(try store.sql("SELECT Z_PK, ZCODE, ZNAME FROM ZCOUNTRY") == ["1|CH|Switzerland"])
        #expect(try context.fetchCount(FetchDescriptor<Country>()) == 1)
    }

    @Model final class Seat {
        #Unique<Seat>([\.row, \.number])
        #Index<Seat>([\.holder], [\.row, \.holder])
        var row: Int
        var number: Int
        var holder: String
        init(row: Int, number: Int, holder: String) {
            self.row = row
            self.number = number
            self.holder = holder
        }
    }

    @Test func `values are unique together, and indexes are made`() throws {
        let context = ModelContext(try store.container(Seat.self))
        context.insert(Seat(row: 1, number: 1, holder: "Ada"))
        context.insert(Seat(row: 1, number: 2, holder: "Bob"))
        try context.save()
        context.insert(Seat(row: 1, number: 2, holder: "Cleo"))
        try context.save()
        #expect(try store.sql("SELECT ZHOLDER FROM ZSEAT ORDER BY ZNUMBER") == ["Ada", "Cleo"])
        let indexes = try store.sql("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZSEAT'")
        #expect(indexes.first.flatMap { Int($0) } ?? 0 >= 3)
    }

    @Model final class Photo {
        var caption: String
        @Attribute(.externalStorage) var image: Data?
        @Transient var isSelected = false
        var words: Int { caption.split(separator: " ").count }
        init(caption: String) { self.caption = caption }
    }

    @Test func `large data lies beside the store`() throws {
        let context = ModelContext(try store.container(Photo.self))
        let photo = Photo(caption: "at the sea")
        photo.image = Data(repeating: 7, count: 300_000)
        context.insert(photo)
        try context.save()
        #expect(try store.sql("SELECT length(ZIMAGE) < 100 FROM ZPHOTO") == ["1"])
        let again = try ModelContext(try store.container(Photo.self)).fetch(FetchDescriptor<Photo>()).first
        #expect(again?.image == photo.image)
    }

    @Test func `transient and computed properties are not kept`() throws {
        let context = ModelContext(try store.container(Photo.self))
        let photo = Photo(caption: "at the sea")
        photo.isSelected = true
        context.insert(photo)
        try context.save()
        #expect(photo.isSelected && photo.words == 3)
        let columns = try store.sql("SELECT name FROM pragma_table_info('ZPHOTO')")
        #expect(!columns.contains("ZISSELECTED") && !columns.contains("ZWORDS") && columns.contains("ZCAPTION"))
        let again = try ModelContext(try store.container(Photo.self)).fetch(FetchDescriptor<Photo>()).first
        #expect(again?.isSelected == false)
    }

    @Model final class Measurements {
        var small: Int16
        var unsigned: UInt32
        var ratio: Float
        var amount: Decimal
        var link: URL?
        var key: UUID
        var raw: Data
        init(key: UUID) {
            (small, unsigned, ratio, amount) = (-5, 4_000_000_000, 0.25, Decimal(string: "0.1")!)
            (link, self.key, raw) = (URL(string: "https://example.com/a"), key, Data([1, 2, 255]))
        }
    }

    @Test func `every kind of value comes back as it was`() throws {
        let key = UUID()
        let context = ModelContext(try store.container(Measurements.self))
        context.insert(Measurements(key: key))
        try context.save()
        let found = try #require(
            try ModelContext(try store.container(Measurements.self)).fetch(FetchDescriptor<Measurements>()).first)
        #expect(found.small == -5 && found.unsigned == 4_000_000_000 && found.ratio == 0.25)
        #expect(found.amount == Decimal(string: "0.1") && found.link?.host == "example.com")
        #expect(found.key == key && found.raw == Data([1, 2, 255]))
        #expect(
            try store.sql("SELECT hex(ZKEY) FROM ZMEASUREMENTS")
                == [key.uuidString.replacingOccurrences(of: "-", with: "")])
    }

    /// A value that only its transformer can turn into data.
    struct Colour: Equatable { var red: UInt8, green: UInt8, blue: UInt8 }

    final class ColourTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? {
            (value as? Colour).map { Data([$0.red, $0.green, $0.blue]) }
        }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let data = value as? Data, data.count == 3 else { return nil }
            return Colour(red: data[0], green: data[1], blue: data[2])
        }
    }

    @Model final class Brush {
        @Attribute(.transformable(by: ColourTransformer.self)) var colour: Colour
        init(colour: Colour) { self.colour = colour }
    }

    @Test func `a transformer keeps a value of any type`() throws {
        let context = ModelContext(try store.container(Brush.self))
        context.insert(Brush(colour: Colour(red: 255, green: 1, blue: 16)))
        try context.save()
        #expect(try store.sql("SELECT hex(ZCOLOUR) FROM ZBRUSH") == ["FF0110"])
        let found = try ModelContext(try store.container(Brush.self)).fetch(FetchDescriptor<Brush>()).first
        #expect(found?.colour == Colour(red: 255, green: 1, blue: 16))
    }

    @Model class Vehicle {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model final class Bus: Vehicle {
        var seats: Int
        init(name: String, seats: Int) {
            self.seats = seats
            super.init(name: name)
        }
    }

    @Test func `a model that inherits is found with its parent's kind too`() throws {
        let context = ModelContext(try store.container(Vehicle.self, Bus.self))
        context.insert(Vehicle(name: "cart"))
        context.insert(Bus(name: "red", seats: 50))
        try context.save()
        let all = try context.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
        #expect(all.map(\.name) == ["cart", "red"] && (all.last as? Bus)?.seats == 50)
        #expect(try context.fetch(FetchDescriptor<Bus>()).map(\.seats) == [50])
        #expect(try store.sql("SELECT count(*) FROM ZVEHICLE") == ["2"])
    }

    @Test func `a change of a property is observed`() throws {
        let photo = Photo(caption: "at the sea")
        nonisolated(unsafe) var heard = 0
        withObservationTracking {
            _ = photo.words
        } onChange: {
            heard += 1
        }
        photo.caption = "in the hills"
        #expect(heard == 1)
    }

    @Test func `a model is Identifiable and Hashable by identity`() throws {
        let (one, two) = (Photo(caption: "a"), Photo(caption: "a"))
        #expect(Set([one, two, one]).count == 2 && one != two && one.id == one.persistentModelID)
    }
}
