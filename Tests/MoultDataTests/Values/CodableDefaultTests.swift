import Foundation
import MoultData
import TestSupport
import Testing

/// Defaults of types that have no column of their own.
@Suite struct CodableDefaultTests {
    struct Rating: Codable, Equatable, Hashable {
        var stars = 3
        var note: String? = "fine"
    }

    struct Step: Codable, Equatable { var text: String }

    enum Mood: Codable { case calm, wild }
    enum Colour: String, Codable, CaseIterable { case red, green }
    enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case none
    }

    struct Options: OptionSet, Codable, Hashable {
        let rawValue: Int
        static let loud = Options(rawValue: 1)
        static let fast = Options(rawValue: 2)
    }

    @Model final class Dish {
        var name = ""
        var rating = Rating()
        var other: Rating? = Rating(stars: 5)
        var prices: [String: Double] = [:]
        var stock: [String: Int] = ["salt": 2]
        var ratings: [String: Rating] = ["me": Rating()]
        var byNumber: [Int: String] = [1: "one"]
        var tags: Set<String> = ["a", "b"]
        var noTags: Set<String> = []
        var numbers: Set<Int> = [3]
        var width: CGFloat = 2.5
        var size = CGSize(width: 1, height: 2)
        var origin: CGPoint = .zero
        var maybeWidth: CGFloat? = 1.5
        var steps: [Step] = [Step(text: "cut"), Step(text: "cook")]
        var noSteps: [Step] = []
        var mood = Mood.wild
        var maybeMood: Mood? = .calm
        var moods: [Mood] = [.calm, .wild]
        var colour: Colour = .green
        var colours: [Colour] = [.green, .red]
        var colourSet: Set<Colour> = [.red]
        var shape: Shape = .circle(radius: 2)
        var options: Options = [.loud, .fast]
        var names = ["x", "y"]
        var lists: [[Int]] = [[1], [2, 3]]
        var dates: [Date] = [Date(timeIntervalSinceReferenceDate: 0)]
        var uuids: [UUID] = [UUID(uuidString: "00000000-0000-0000-0000-000000000001")!]
        var range: ClosedRange<Int> = 1...3
        var components = DateComponents(year: 2024, month: 2)
        var locale = Locale(identifier: "en_US")
        var zone = TimeZone(secondsFromGMT: 3600)!
        var length = Measurement(value: 3, unit: UnitLength.meters)
        var optionalList: [Step]? = [Step(text: "eat")]
        var optionalSet: Set<String>? = ["s"]
        var optionalDictionary: [String: String]? = ["k": "v"]
        var address = Address()
        var duration: Duration = .seconds(3)
        var vector = SIMD3<Float>(1, 2, 3)
        var when: Range<Date> = Date(timeIntervalSinceReferenceDate: 0)..<Date(timeIntervalSinceReferenceDate: 9)
        var groups: [String: [String]] = ["g": ["a"]]
        var byColour: [Colour: Int] = [.red: 1]
        var byID: [UUID: Bool] = [:]
        var indexes: IndexSet = [1, 2]
        var calendar = Calendar(identifier: .gregorian)
        var box = Box(value: 7)
        var boxes: [Box<String>] = [Box(value: "b")]
        var shapes: [Shape] = [.none, .circle(radius: 1)]
        var scale: Scale = .double
        var point: Point? = nil
        var custom = Custom(text: "c")
        var result: [Int?] = [1, nil]
        var thing = Thing(shape: .none, scale: .double, colour: .green, colours: [.red])

        init(name: String) { self.name = name }
    }

    struct Box<Value: Codable & Equatable>: Codable, Equatable { var value: Value }
    enum Scale: Double, Codable {
        case single = 1
        case double = 2
    }
    struct Point: Codable, Equatable { var x = 0.0, y = 0.0 }

    struct Thing: Codable, Equatable {
        var shape: Shape
        var scale: Scale
        var colour: Colour
        var colours: [Colour]
    }

    struct Custom: Codable, Equatable {
        var text: String
        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    struct Address: Codable, Equatable {
        var street = "Main"
        var place = Place()
        var mood: Mood = .calm
        var lines: [String] = ["a"]
        var extra: [String: String] = ["k": "v"]
        struct Place: Codable, Equatable { var city = "Bern", zip: Int? = 3000 }
    }

    private static func check(_ dish: Dish) {
        #expect(dish.rating == Rating() && dish.other == Rating(stars: 5))
        #expect(dish.prices == [:] && dish.stock == ["salt": 2] && dish.ratings == ["me": Rating()])
        #expect(dish.byNumber == [1: "one"])
        #expect(dish.tags == ["a", "b"] && dish.noTags.isEmpty && dish.numbers == [3])
        #expect(dish.width == 2.5 && dish.size == CGSize(width: 1, height: 2) && dish.origin == .zero)
        #expect(dish.maybeWidth == 1.5)
        #expect(dish.steps.map(\.text) == ["cut", "cook"] && dish.noSteps.isEmpty)
        #expect(dish.mood == .wild && dish.maybeMood == .calm && dish.moods == [.calm, .wild])
        #expect(dish.colour == .green && dish.colours == [.green, .red] && dish.colourSet == [.red])
        #expect(dish.shape == .circle(radius: 2) && dish.options == [.loud, .fast])
        #expect(dish.names == ["x", "y"] && dish.lists == [[1], [2, 3]])
        #expect(dish.dates == [Date(timeIntervalSinceReferenceDate: 0)] && dish.uuids.count == 1)
        #expect(dish.range == 1...3 && dish.components.year == 2024 && dish.locale.identifier == "en_US")
        #expect(dish.zone.secondsFromGMT() == 3600 && dish.length.value == 3)
        #expect(dish.optionalList == [Step(text: "eat")] && dish.optionalSet == ["s"])
        #expect(dish.optionalDictionary == ["k": "v"] && dish.address == Address())
        #expect(dish.duration == .seconds(3) && dish.vector == [1, 2, 3])
        #expect(dish.when.upperBound == Date(timeIntervalSinceReferenceDate: 9) && dish.groups == ["g": ["a"]])
        #expect(dish.byColour == [.red: 1] && dish.byID.isEmpty && dish.indexes == [1, 2])
        #expect(dish.box == Box(value: 7) && dish.boxes == [Box(value: "b")] && dish.scale == .double)
        #expect(dish.shapes == [.none, .circle(radius: 1)] && dish.point == nil && dish.custom == Custom(text: "c"))
        #expect(
            dish.result == [1, nil]
                && dish.thing
                    == Thing(
                        shape: .none, scale: .double, colour: .green, colours: [.red])
        )
    }

    @Test func `a model with such defaults is saved and read in memory`() throws {
        let container = try ModelContainer(
            for: Dish.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let dish = Dish(name: "soup")
        Self.check(dish)
        context.insert(dish)
        try context.save()
        Self.check(dish)
        let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Dish>()).first)
        Self.check(read)
    }

    @Test func `a model with such defaults is saved and read in a file`() throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/dishes.store")
        do {
            let container = try ModelContainer(for: Dish.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            context.insert(Dish(name: "soup"))
            try context.save()
        }
        let container = try ModelContainer(for: Dish.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let read = try #require(try context.fetch(FetchDescriptor<Dish>()).first)
        Self.check(read)
        read.steps.append(Step(text: "serve"))
        read.prices["CHF"] = 9.5
        read.tags.insert("c")
        read.width = 9
        read.mood = .calm
        try context.save()
        let again = try #require(try ModelContext(container).fetch(FetchDescriptor<Dish>()).first)
        #expect(again.steps.count == 3 && again.prices == ["CHF": 9.5] && again.tags.count == 3)
        #expect(again.width == 9 && again.mood == .calm)
    }

    enum Before {
        @Model final class Dish {
            var name = ""
            init(name: String) { self.name = name }
        }
    }

    @Test func `a property with such a default is added to the rows of a store`() throws {
        let folder = try ScratchFolder()
        let configuration = ModelConfiguration(url: URL(fileURLWithPath: folder.path + "/dishes.store"))
        do {
            let context = ModelContext(try ModelContainer(for: Before.Dish.self, configurations: configuration))
            context.insert(Before.Dish(name: "soup"))
            try context.save()
        }
        let context = ModelContext(try ModelContainer(for: Dish.self, configurations: configuration))
        let read = try #require(try context.fetch(FetchDescriptor<Dish>()).first)
        #expect(read.name == "soup")
        Self.check(read)
    }
}
