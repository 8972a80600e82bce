import Foundation
import Observation
import SwiftData
import Testing

/// One form of a model, a schema or a container for each test.
@Suite struct ModelIdioms {
    private func context<Model: PersistentModel>(_ types: Model.Type) throws -> ModelContext {
        ModelContext(
            try ModelContainer(for: types, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    private func kept<Model: PersistentModel>(_ model: Model) throws -> Model {
        let context = try context(Model.self)
        context.insert(model)
        try context.save()
        return try #require(try ModelContext(context.container).fetch(FetchDescriptor<Model>()).first)
    }

    @Model final class Everything {
        var int = 1
        var int64: Int64 = 2
        var double = 1.5
        var float: Float = 2.5
        var text = "text"
        var flag = true
        var date = Date(timeIntervalSince1970: 0)
        var data = Data([1, 2])
        var uuid = UUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA")!
        var url = URL(string: "https://example.com")!
        var decimal: Decimal = 1.25
        var optional: Int?
        init() {}
    }
    @Test func columnTypes() throws {
        let found = try kept(Everything())
        #expect(found.int == 1 && found.int64 == 2 && found.double == 1.5 && found.float == 2.5 && found.flag)
        #expect(found.data == Data([1, 2]) && found.url.host() == "example.com" && found.decimal == 1.25)
        #expect(found.optional == nil && found.date == Date(timeIntervalSince1970: 0))
    }

    @Model final class Values {
        var list = ["a"]
        var numbers: [Int] = [1, 2]
        var set: Set<String> = ["x"]
        var dictionary: [String: Int] = ["one": 1]
        var point = Point(x: 1, y: 2)
        var maybe: Point?
        var points = [Point(x: 3, y: 4)]
        var kind = Kind.small
        var raw = Raw.two
        var shape = Shape.circle(radius: 2)
        var range = 1...3
        init() {}

        struct Point: Codable, Equatable { var x: Double, y: Double }
        enum Kind: Codable { case small, large }
        enum Raw: Int, Codable {
            case one = 1
            case two
        }
        enum Shape: Codable, Equatable {
            case circle(radius: Double)
            case none
        }
    }
    @Test func codableStruct() throws { #expect(try kept(Values()).point == .init(x: 1, y: 2)) }
    @Test func codableStructs() throws { #expect(try kept(Values()).points.count == 1) }
    @Test func optionalStruct() throws {
        let values = Values()
        values.maybe = .init(x: 5, y: 6)
        #expect(try kept(values).maybe?.y == 6)
    }
    @Test func enumWithoutRawValues() throws { #expect(try kept(Values()).kind == .small) }
    @Test func enumWithRawValues() throws { #expect(try kept(Values()).raw == .two) }
    @Test func enumWithAssociatedValues() throws { #expect(try kept(Values()).shape == .circle(radius: 2)) }
    @Test func arrays() throws { #expect(try kept(Values()).numbers == [1, 2]) }
    @Test func sets() throws { #expect(try kept(Values()).set == ["x"]) }
    @Test func dictionaries() throws { #expect(try kept(Values()).dictionary == ["one": 1]) }
    @Test func ranges() throws { #expect(try kept(Values()).range == 1...3) }

    @Model final class Marked {
        @Attribute(.unique, originalName: "key") var code: String
        @Attribute(.externalStorage) var blob = Data()
        @Attribute(.allowsCloudEncryption) var secret = ""
        @Attribute(.spotlight) var shown = ""
        @Attribute(.ephemeral) var passing = ""
        @Attribute(.preserveValueOnDeletion) var remembered = ""
        @Attribute(hashModifier: "2") var modified = 0
        @Attribute(.transformable(by: Reversing.self)) var turned = "abc"
        @Transient var cached: Int? = nil
        @Transient var count = 0
        init(code: String) { self.code = code }
    }
    final class Reversing: ValueTransformer, @unchecked Sendable {
        override class func transformedValueClass() -> AnyClass { NSData.self }
        override class func allowsReverseTransformation() -> Bool { true }
        override func transformedValue(_ value: Any?) -> Any? {
            (value as? String).map { Data(String($0.reversed()).utf8) }
        }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
        }
    }
    @Test func attributeOptions() throws {
        let marked = Marked(code: "a")
        marked.count = 3
        let found = try kept(marked)
        #expect(found.code == "a" && found.count == 0 && found.cached == nil && found.turned == "abc")
    }
    @Test func attributesOfTheSchema() throws {
        let entity = try #require(Schema([Marked.self]).entitiesByName["Marked"])
        let code = try #require(entity.attributesByName["code"])
        #expect(code.isUnique && code.originalName == "key" && code.options.contains(.unique))
        #expect(entity.attributesByName["cached"] == nil)
    }

    @Model final class Pair {
        #Unique<Pair>([\.first, \.second])
        var first: Int
        var second: Int
        var note = ""
        init(_ first: Int, _ second: Int, note: String = "") {
            self.first = first
            self.second = second
            self.note = note
        }
    }
    @Test func uniqueTogether() throws {
        let context = try context(Pair.self)
        for note in ["one", "two"] { context.insert(Pair(1, 2, note: note)) }
        context.insert(Pair(1, 3))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Pair>()) == 2)
    }
    @Test func constraintsOfTheSchema() {
        #expect(Schema([Pair.self]).entitiesByName["Pair"]?.uniquenessConstraints == [["first", "second"]])
    }

    @Model final class Node {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
        var parent: Node?
        init(_ name: String) { self.name = name }
    }
    @Test func tree() throws {
        let context = try context(Node.self)
        let root = Node("root")
        root.children = [Node("a"), Node("b")]
        context.insert(root)
        try context.save()
        let top = try context.fetch(FetchDescriptor<Node>(predicate: #Predicate { $0.parent == nil }))
        #expect(top.map(\.name) == ["root"] && root.children.allSatisfy { $0.parent === root })
        context.delete(root)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Node>()) == 0)
    }

    @Model final class Student {
        var name: String
        @Relationship(inverse: \Course.students) var courses: Set<Course> = []
        init(name: String) { self.name = name }
    }
    @Model final class Course {
        var title: String
        var students: [Student]? = []
        init(title: String) { self.title = title }
    }
    @Test func manyToMany() throws {
        let context = try context(Student.self)
        let student = Student(name: "Ada")
        context.insert(student)
        student.courses = [Course(title: "A"), Course(title: "B")]
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Course>()).allSatisfy { $0.students?.first === student })
    }
    @Test func relationshipsOfTheSchema() throws {
        let schema = Schema([Student.self])
        #expect(schema.entities.count == 2)
        let courses = try #require(schema.entitiesByName["Student"]?.relationshipsByName["courses"])
        #expect(courses.destination == "Course" && courses.inverseName == "students" && !courses.isToOneRelationship)
    }

    @Test func inheritance() throws {
        guard #available(macOS 26, iOS 26, *) else { return }
        let container = try ModelContainer(
            for: Vehicle.self, Car.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Car(brand: "Saab"))
        context.insert(Vehicle(wheels: 2))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 2)
        #expect(try context.fetch(FetchDescriptor<Car>()).map(\.wheels) == [4])
        let cars = try context.fetch(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Car }))
        #expect(cars.count == 1)
    }

    @Test func observation() {
        let values = Values()
        nonisolated(unsafe) var changes = 0
        withObservationTracking {
            _ = values.kind
        } onChange: {
            changes += 1
        }
        values.kind = .large
        #expect(changes == 1)
    }
    @Test func computedProperties() throws {
        let root = Node("root")
        #expect(root.depth == 0)
    }
    @Test func codableModel() throws {
        let data = try JSONEncoder().encode(Note(text: "hello"))
        #expect(try JSONDecoder().decode(Note.self, from: data).text == "hello")
    }
    @Model final class Note: Codable {
        enum CodingKeys: CodingKey { case text }
        var text: String
        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(text, forKey: .text)
        }
    }
    @Model final class Ordered: Comparable {
        var place: Int
        init(place: Int) { self.place = place }
        static func < (left: Ordered, right: Ordered) -> Bool { left.place < right.place }
    }
    @Test func comparableModel() { #expect([Ordered(place: 2), Ordered(place: 1)].sorted().map(\.place) == [1, 2]) }
    @Model final class Own: Identifiable {
        @Attribute(.unique) var id = UUID()
        init() {}
    }
    @Test func ownIdentifier() throws {
        let own = Own()
        #expect(try kept(own).id == own.id)
    }
    @Model final class Guarded {
        private(set) var count = 0
        fileprivate var secret = "s"
        init() {}
        func raise() { count += 1 }
    }
    @Test func privateSetter() throws {
        let guarded = Guarded()
        guarded.raise()
        #expect(try kept(guarded).count == 1)
    }
    @Model final class Constant {
        let code: String
        init(code: String) { self.code = code }
    }
    @Test func constant() throws { #expect(try kept(Constant(code: "x")).code == "x") }
    @Model final class Converted {
        var celsius: Double
        var fahrenheit: Double {
            get { celsius * 9 / 5 + 32 }
            set { celsius = (newValue - 32) * 5 / 9 }
        }
        init(celsius: Double) { self.celsius = celsius }
        convenience init() { self.init(celsius: 20) }
    }
    @Test func computedSetter() throws {
        let converted = Converted()
        converted.fahrenheit = 212
        #expect(try kept(converted).celsius == 100)
    }
    @Model final class Backed {
        private var kindRaw: String = "a"
        enum Kind: String { case a, b }
        var kind: Kind {
            get { Kind(rawValue: kindRaw) ?? .a }
            set { kindRaw = newValue.rawValue }
        }
        init(kind: Kind) { self.kind = kind }
    }
    @Test func enumBehindARawValue() throws { #expect(try kept(Backed(kind: .b)).kind == .b) }
}

extension ModelIdioms.Node {
    var depth: Int { parent.map { $0.depth + 1 } ?? 0 }
}
