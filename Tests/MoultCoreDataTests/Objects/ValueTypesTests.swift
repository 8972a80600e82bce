import Foundation
import MoultCoreData
import TestSupport
import Testing

/// Every type of attribute, there and back, as a class has it and as SQL sees it.
@Suite struct ValueTypesTests {
    enum Mood: String, AttributeValueConvertible {
        case calm, wild
        static var missing: Mood { .calm }
    }

    struct Place: Codable, Sendable, Equatable {
        var x: Int
        var y: Int
    }

    final class Everything: ManagedObject {
        @Managed("small") var small: Int16
        @Managed("middle") var middle: Int32
        @Managed("large") var large: Int64
        @Managed("double") var double: Double
        @Managed("float") var float: Float
        @Managed("flag") var flag: Bool
        @Managed("text") var text: String?
        @Managed("bytes") var bytes: Data?
        @Managed("date") var date: Date?
        @Managed("uuid") var uuid: UUID?
        @Managed("link") var link: URL?
        @Managed("decimal") var decimal: Decimal?
        @Managed("mood") var mood: Mood
        @ManagedTransformable("place") var place: Place?
    }

    private func model() throws -> ManagedObjectModel {
        let attributes: [(String, AttributeType)] = [
            ("small", .integer16), ("middle", .integer32), ("large", .integer64), ("double", .double),
            ("float", .float), ("flag", .boolean), ("text", .string), ("bytes", .binary), ("date", .date),
            ("uuid", .uuid), ("link", .uri), ("decimal", .decimal), ("mood", .string),
        ]
        var entity = EntityDescription(name: "Everything")
        entity.properties =
            attributes.map { AttributeDescription(name: $0.0, type: $0.1) as any PropertyDescription } + [
                AttributeDescription(name: "place", type: .transformable, valueTransformerName: "PlaceTransformer"),
                AttributeDescription(name: "raw", type: .transformable),
            ] as [any PropertyDescription]
        return try ManagedObjectModel(entities: [entity])
    }

    private func fill(_ object: Everything) {
        object.small = -32768
        object.middle = 2_147_483_647
        object.large = .min
        object.double = 0.1
        object.float = -1.5
        object.flag = true
        object.text = "é\u{301} \u{1F426}"
        object.bytes = Data([0, 255, 7])
        object.date = Date(timeIntervalSinceReferenceDate: -1.25)
        object.uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
        object.link = URL(string: "https://example.org/?a=1")
        object.decimal = Decimal(string: "123456.789")
        object.mood = .wild
        object.place = Place(x: 1, y: 2)
    }

    private func check(_ found: Everything) {
        #expect(found.small == -32768)
        #expect(found.middle == 2_147_483_647)
        #expect(found.large == .min)
        #expect(found.double == 0.1)
        #expect(found.float == -1.5)
        #expect(found.flag)
        #expect(found.text?.unicodeScalars.elementsEqual("é\u{301} \u{1F426}".unicodeScalars) == true)
        #expect(found.bytes == Data([0, 255, 7]))
        #expect(found.date == Date(timeIntervalSinceReferenceDate: -1.25))
        #expect(found.uuid?.uuidString == "00112233-4455-6677-8899-AABBCCDDEEFF")
        #expect(found.link?.absoluteString == "https://example.org/?a=1")
        #expect(found.decimal == Decimal(string: "123456.789"))
        #expect(found.mood == .wild)
        #expect(found.place == Place(x: 1, y: 2))
        #expect(found["raw"] as? Data == Data([1, 2, 3]))
    }

    @Test func `every type of value comes back as it went in`() throws {
        let store = try TestStore()
        let container = try store.container(model())
        try container.register(Everything.self)
        container.persistentStoreCoordinator.setTransformer(
            JSONAttributeTransformer(Place.self), forName: "PlaceTransformer")
        let context = container.viewContext
        let object = try Everything(context: context)
        fill(object)
        object["raw"] = Data([1, 2, 3])
        try context.save()
        context.reset()
        check(try #require(try context.fetch(FetchRequest<Everything>()).first))
        #expect(
            try store.sql(
                "SELECT ZSMALL, ZLARGE, ZDOUBLE, ZFLAG, hex(ZBYTES), ZDATE, hex(ZUUID), ZLINK, ZMOOD, ZPLACE "
                    + "FROM ZEVERYTHING")
                == "-32768|-9223372036854775808|0.1|1|00FF07|-1.25|00112233445566778899AABBCCDDEEFF|"
                + "https://example.org/?a=1|wild|{\"x\":1,\"y\":2}")
    }

    @Test func `what is missing is the type's empty value`() throws {
        let store = try TestStore()
        defer { withExtendedLifetime(store) {} }
        let container = try store.container(model())
        try container.register(Everything.self)
        let object = try Everything(context: container.viewContext)
        #expect(object.small == 0)
        #expect(!object.flag)
        #expect(object.text == nil)
        #expect(object.mood == .calm)
        #expect(object.place == nil)
        try container.viewContext.save()
    }

    @Test func `a transformable without its transformer takes bytes only`() throws {
        let container = try TestStore().container(model())
        let object = try container.viewContext.insertNewObject(forEntityName: "Everything")
        let error = try #require(throws: MigrationError.self) { try object.setValue([1, 2], forKey: "place") }
        #expect(error.code == .wrongType)
        try object.setValue(Data([1]), forKey: "place")
        #expect(try object.value(forKey: "place") as? Data == Data([1]))
    }

    @Test func `numbers of any kind fit where their value does`() throws {
        let container = try TestStore().container(model())
        let object = try container.viewContext.insertNewObject(forEntityName: "Everything")
        for value in [Int8(7), UInt64(7), 7.0, Float(7), NSNumber(value: 7), Decimal(7)] as [Any] {
            try object.setValue(value, forKey: "large")
            #expect(try object.value(forKey: "large") as? Int == 7)
            try object.setValue(value, forKey: "double")
            #expect(try object.value(forKey: "double") as? Double == 7)
        }
        for value in [7.5, UInt64.max, "7", Date()] as [Any] {
            #expect(throws: MigrationError.self, "\(value)") { try object.setValue(value, forKey: "large") }
        }
        try object.setValue(NSNumber(value: true), forKey: "flag")
        #expect(try object.value(forKey: "flag") as? Bool == true)
        #expect(throws: MigrationError.self) { try object.setValue(2, forKey: "flag") }
    }
}
