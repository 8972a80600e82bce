import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// Which form a type has, and which forms are not known.
@Suite struct ValueFormTests {
    private func attributes(_ type: any PersistentModel.Type) throws -> [String: AttributeDescription] {
        let entity = try #require(try Schema([type]).managedObjectModel().entities.first)
        return Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })
    }

    @Test func `what no store of SwiftData's shows is uncertain, with the reason`() throws {
        let found = try attributes(Unseen.self)
        for (name, attribute) in found where name != "id" {
            #expect(attribute.uncertainty?.isEmpty == false, "\(name)")
        }
        #expect(found["id"]?.uncertainty == nil)
        #expect(Schema(Unseen.self).unknownMappings.keys.map { $0 } == ["Unseen"])
        #expect(throws: MigrationError.self) { try Schema(Unseen.self).checkMappings() }
        #expect(found["encoded"]?.type == .binary && found["encoded"]?.uncertainty?.contains("codable") == true)
        #expect(found["structs"]?.type == .binary && found["associated"]?.type == .transformable)
        #expect(found["renamed"]?.type == .transformable && found["options"]?.type == .integer64)
        #expect(found["enumInStruct"]?.elements.map(\.type) == [.string])
        #expect(VersionHashes(of: try Schema(Unseen.self).managedObjectModel()).uncertain["Unseen"] != nil)
    }

    @Test func `values of an uncertain form are saved and read all the same`() throws {
        let schema = Schema(Unseen.self)
        let store = try ScratchFolder()
        let url = URL(fileURLWithPath: store.path + "/unseen.store")
        let context = ModelContext(try ModelContainer(for: schema, configurations: ModelConfiguration(url: url)))
        context.insert(Unseen())
        try context.save()
        let found = try #require(
            try ModelContext(try ModelContainer(for: schema, configurations: ModelConfiguration(url: url)))
                .fetch(FetchDescriptor<Unseen>()).first)
        #expect(found.structs == [.init(x: 1)] && found.counts == ["a": 1] && found.associated == .far(2))
        #expect(found.enumInStruct.kind == .b && found.listInStruct.points == [.init(x: 3)])
        #expect(found.caseInStruct.side == .down && found.encoded == .init(x: 4) && found.renamed.value == 5)
        #expect(found.options == [.one] && found.set == [1, 2] && found.range == 1..<3 && found.maybe == [nil, "a"])
    }

    @Test func `the cases of an enum are those of its declaration, whatever it prints`() throws {
        let found = try attributes(Enums.self)
        #expect(found["only"]?.elements.map(\.name) == ["one"])
        #expect(found["printed"]?.elements.map(\.name) == ["second", "first", "default"])
        #expect(found["many"]?.elements.map(\.name) == (0..<300).map { "c\($0)" })
        #expect(found["printed"]?.userInfo == ["EnumType": "1", "enum": "second,first,default"])
        let context = ModelContext(
            try ModelContainer(for: Enums.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let values = Enums()
        (values.many, values.printed) = (.c299, .default)
        context.insert(values)
        try context.save()
        let read = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Enums>()).first)
        #expect(read.many == .c299 && read.printed == .default && read.only == .one)
    }

    @Test func `columns of one name are numbered in the order of their properties`() throws {
        let store = try VersionedStore()
        try store.open(Clashes.self) { context in context.insert(Clashes.Clash()) }
        #expect(try store.sql("SELECT ZID, ZID1, ZID2, ZZ_PK, ZNAME, ZNAME1 FROM ZCLASH") == "1|2|3|4|é|b\n")
        try store.open(Clashes.self) { context in
            let clash = try #require(try context.fetch(FetchDescriptor<Clashes.Clash>()).first)
            #expect(clash.author.id == 1 && clash.editor.id == 2 && clash.id == 3 && clash.author.z_pk == 4)
        }
    }

    @Test func `a struct that refuses values of nothing still has its fields`() throws {
        let found = try attributes(Picky.self)
        #expect(found["range"]?.elements.map(\.name) == ["low", "high"])
        #expect(found["range"]?.uncertainty == nil)
    }
}

@Model final class Unseen {
    struct Point: Codable, Equatable { var x: Int }
    enum Kind: String, Codable { case a, b }
    enum Side: Codable { case up, down }
    enum Distance: Codable, Equatable {
        case near
        case far(Int)
    }
    struct WithEnum: Codable { var kind: Kind }
    struct WithList: Codable { var points: [Point] }
    struct WithCase: Codable { var side: Side? }
    struct Renamed: Codable {
        var value: Int
        enum CodingKeys: String, CodingKey { case value = "other" }
    }
    struct Choices: OptionSet, Codable {
        let rawValue: Int
        static let one = Choices(rawValue: 1)
    }

    var id = 0
    var structs = [Point(x: 1)]
    var counts = ["a": 1]
    var associated = Distance.far(2)
    var enumInStruct = WithEnum(kind: .b)
    var listInStruct = WithList(points: [Point(x: 3)])
    var caseInStruct = WithCase(side: .down)
    @Attribute(.codable) var encoded = Point(x: 4)
    var renamed = Renamed(value: 5)
    var options: Choices = [.one]
    var set: Set<Int> = [1, 2]
    var range = 1..<3
    var maybe: [String?] = [nil, "a"]
    init() {}
}

@Model final class Enums {
    enum Only: Codable { case one }
    enum Printed: Codable, CustomStringConvertible {
        case second
        case first
        case `default`
        var description: String { "the same for all" }
    }

    var only = Only.one
    var printed = Printed.first
    var many = Many.c0
    init() {}
}

@Model final class Picky {
    struct Range: Codable {
        var low: Int
        var high: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            low = try container.decode(Int.self, forKey: .low)
            guard low > 0 else {
                throw DecodingError.dataCorruptedError(forKey: .low, in: container, debugDescription: "low")
            }
            high = try container.decode(Int.self, forKey: .high)
        }
    }

    var range: Range?
    init() {}
}

private enum Clashes: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Clash.self] }

    struct Author: Codable {
        var id: Int
        var name: String
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var z_pk: Int
    }
    struct Editor: Codable {
        var id: Int
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var NAME: String
    }

    @Model final class Clash {
        var id = 3
        var author = Author(id: 1, name: "é", z_pk: 4)
        var editor = Editor(id: 2, NAME: "b")
        init() {}
    }
}

/// More cases than one byte can number.
enum Many: Codable {
    case c0, c1, c2, c3, c4, c5, c6, c7, c8, c9
    case c10, c11, c12, c13, c14, c15, c16, c17, c18, c19
    case c20, c21, c22, c23, c24, c25, c26, c27, c28, c29
    case c30, c31, c32, c33, c34, c35, c36, c37, c38, c39
    case c40, c41, c42, c43, c44, c45, c46, c47, c48, c49
    case c50, c51, c52, c53, c54, c55, c56, c57, c58, c59
    case c60, c61, c62, c63, c64, c65, c66, c67, c68, c69
    case c70, c71, c72, c73, c74, c75, c76, c77, c78, c79
    case c80, c81, c82, c83, c84, c85, c86, c87, c88, c89
    case c90, c91, c92, c93, c94, c95, c96, c97, c98, c99
    case c100, c101, c102, c103, c104, c105, c106, c107, c108, c109
    case c110, c111, c112, c113, c114, c115, c116, c117, c118, c119
    case c120, c121, c122, c123, c124, c125, c126, c127, c128, c129
    case c130, c131, c132, c133, c134, c135, c136, c137, c138, c139
    case c140, c141, c142, c143, c144, c145, c146, c147, c148, c149
    case c150, c151, c152, c153, c154, c155, c156, c157, c158, c159
    case c160, c161, c162, c163, c164, c165, c166, c167, c168, c169
    case c170, c171, c172, c173, c174, c175, c176, c177, c178, c179
    case c180, c181, c182, c183, c184, c185, c186, c187, c188, c189
    case c190, c191, c192, c193, c194, c195, c196, c197, c198, c199
    case c200, c201, c202, c203, c204, c205, c206, c207, c208, c209
    case c210, c211, c212, c213, c214, c215, c216, c217, c218, c219
    case c220, c221, c222, c223, c224, c225, c226, c227, c228, c229
    case c230, c231, c232, c233, c234, c235, c236, c237, c238, c239
    case c240, c241, c242, c243, c244, c245, c246, c247, c248, c249
    case c250, c251, c252, c253, c254, c255, c256, c257, c258, c259
    case c260, c261, c262, c263, c264, c265, c266, c267, c268, c269
    case c270, c271, c272, c273, c274, c275, c276, c277, c278, c279
    case c280, c281, c282, c283, c284, c285, c286, c287, c288, c289
    case c290, c291, c292, c293, c294, c295, c296, c297, c298, c299
}
