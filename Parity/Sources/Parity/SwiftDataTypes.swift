import Foundation
import SwiftData

/// Types with every form in which SwiftData is known to keep a value, in two versions. The second has a renamed
/// attribute, new ones, one fewer, and a new model.
enum Voyages {
    enum First {
        @Model final class Voyage {
            @Attribute(.unique) var code: String
            var title: String
            var begun: Date?
            var distance: Double
            var remark: String?
            var harbour: Harbour
            var weather: Weather?
            var rating: Rating
            var mood: Mood
            var tags: [String]
            @Attribute(.externalStorage) var photo: Data?
            @Relationship(deleteRule: .cascade, inverse: \Leg.voyage) var legs: [Leg] = []

            init(_ number: Int) {
                code = "V\(number)"
                title = "Voyage \(number)"
                begun = number % 3 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.5)
                distance = Double(number) / 7
                remark = number % 2 == 0 ? nil : "remark \(number)"
                harbour = Harbour(name: "Kiel", latitude: 54.3, longitude: 10.1 + Double(number))
                weather = number % 4 == 0 ? nil : Weather(wind: number, text: number % 5 == 0 ? nil : "fair")
                rating = [Rating.poor, .fair, .good][number % 3]
                mood = number % 2 == 0 ? .calm : .wild
                tags = (0..<number % 4).map { "tag \($0)" }
                photo = number % 6 == 0 ? nil : Data(repeating: UInt8(number), count: number * 40_000)
            }
        }

        @Model final class Leg {
            var number: Int
            var voyage: Voyage?

            init(number: Int) { self.number = number }
        }

        static let types: [any PersistentModel.Type] = [Voyage.self, Leg.self]

        /// Twenty voyages, each with legs.
        static func fill(_ context: ModelContext) {
            for number in 1...20 {
                let voyage = Voyage(number)
                context.insert(voyage)
                for leg in 0..<number % 5 {
                    let leg = Leg(number: leg)
                    context.insert(leg)
                    leg.voyage = voyage
                }
            }
        }
    }

    enum Second {
        @Model final class Voyage {
            @Attribute(.unique) var code: String
            var title: String
            var distance: Double
            @Attribute(originalName: "remark") var note: String?
            var isOver: Bool = false
            var harbour: Harbour
            var weather: Weather?
            var rating: Rating
            var mood: Mood
            var tags: [String]
            @Attribute(.externalStorage) var photo: Data?
            @Relationship(deleteRule: .cascade, inverse: \Leg.voyage) var legs: [Leg] = []

            init(code: String, harbour: Harbour) {
                self.code = code
                title = ""
                distance = 0
                self.harbour = harbour
                rating = .fair
                mood = .calm
                tags = []
            }
        }

        @Model final class Leg {
            var number: Int
            var voyage: Voyage?
            var guests: [Guest] = []

            init(number: Int) { self.number = number }
        }

        @Model final class Guest {
            var name: String
            @Relationship(inverse: \Leg.guests) var legs: [Leg] = []

            init(name: String) { self.name = name }
        }

        static let types: [any PersistentModel.Type] = [Voyage.self, Leg.self, Guest.self]
    }

    struct Harbour: Codable {
        var name: String
        var latitude: Double
        var longitude: Double
    }

    struct Weather: Codable {
        var wind: Int
        var text: String?
    }

    enum Rating: String, Codable {
        case poor, fair, good
    }

    enum Mood: Codable {
        case calm, wild
    }
}

/// What no store of Apple's has shown yet: one type for each question, each tried in a process of its own, because
/// SwiftData ends the program where it cannot keep a type.
enum OpenQuestions {
    struct Numbers: Codable {
        var all: [Int]
    }

    struct Words: Codable {
        var all: [String: Int]
    }

    struct Level: Codable {
        var kind: Kind

        enum Kind: String, Codable {
            case low, high
        }
    }

    struct Point: Codable, Hashable {
        var x: Double
        var y: Double
    }

    enum Shape: Codable {
        case circle(radius: Double)
        case box(Double, Double)
    }

    @Model final class ArrayInStruct {
        var value: Numbers
        init(value: Numbers) { self.value = value }
    }

    @Model final class DictionaryInStruct {
        var value: Words
        init(value: Words) { self.value = value }
    }

    @Model final class EnumInStruct {
        var value: Level
        init(value: Level) { self.value = value }
    }

    @Model final class ArrayOfStructs {
        var value: [Point]
        init(value: [Point]) { self.value = value }
    }

    @Model final class EnumWithValues {
        var value: Shape
        init(value: Shape) { self.value = value }
    }

    @Model final class SetOfStrings {
        var value: Set<String>
        init(value: Set<String>) { self.value = value }
    }

    @Model final class RangeOfInts {
        var value: Range<Int>
        init(value: Range<Int>) { self.value = value }
    }

    /// The questions by name: the type, and one object of it.
    static let all: [(name: String, types: [any PersistentModel.Type], make: @Sendable (ModelContext) -> Void)] = [
        (
            "a required array in a required struct", [ArrayInStruct.self],
            { $0.insert(ArrayInStruct(value: Numbers(all: [1, 2]))) }
        ),
        (
            "a required dictionary in a required struct", [DictionaryInStruct.self],
            { $0.insert(DictionaryInStruct(value: Words(all: ["a": 1]))) }
        ),
        (
            "a required enum in a required struct", [EnumInStruct.self],
            { $0.insert(EnumInStruct(value: Level(kind: .high))) }
        ),
        (
            "a required array of structs", [ArrayOfStructs.self],
            { $0.insert(ArrayOfStructs(value: [Point(x: 1, y: 2)])) }
        ),
        (
            "an enum with associated values", [EnumWithValues.self],
            { $0.insert(EnumWithValues(value: .circle(radius: 2))) }
        ),
        ("a Set", [SetOfStrings.self], { $0.insert(SetOfStrings(value: ["a", "b"])) }),
        ("a Range", [RangeOfInts.self], { $0.insert(RangeOfInts(value: 1..<5)) }),
    ]
}
