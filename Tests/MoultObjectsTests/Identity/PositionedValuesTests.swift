import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("The values of an object, in its row and beside it")
struct PositionedValuesTests {  // tier: long
    /// Values of every kind, empty and short ones, and some on both sides of the length up to which a row has them.
    private static let values: [AttributeValue?] =
        [
            nil, .integer(0), .integer(.min), .integer(.max), .boolean(true), .boolean(false), .double(-0.1),
            .double(0),
            .date(0), .date(-63_114_076_799.5), .decimal("0.1"), .decimal("-12"),
            .decimal("1" + String(repeating: "0", count: 30)), .uri("a:b"),
            .uuid((0..<16).map { $0 }),
        ]
        + [0, 1, 7, 8, 9, 127, 128, 129, 5000].flatMap { count -> [AttributeValue?] in
            let letters = ["a", "ö", "字", "\u{1F469}\u{200D}\u{1F467}", "\u{FEFF}", "\u{0}"].map {
                AttributeValue.string(String(repeating: $0, count: count))
            }
            return letters + [
                .binary([UInt8](repeating: 0xEF, count: count)), .transformable([UInt8](repeating: 1, count: count)),
            ]
        }

    private static let types: [AttributeType] = [
        .integer64, .boolean, .double, .date, .decimal, .uri, .uuid, .string, .binary, .transformable,
    ]

    private static func model(destinations: Int) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Thing", attributes: types.map { AttributeDescription(name: $0.propertyName, type: $0) },
                    relationships: (0..<destinations).map {
                        RelationshipDescription(name: "to\($0)", destinationEntityName: "Other\($0)")
                    })
            ] + (0..<destinations).map { EntityDescription(name: "Other\($0)") })
    }

    private static func name(of value: AttributeValue) -> String {
        let type: AttributeType =
            switch value {
            case .integer: .integer64
            case .boolean: .boolean
            case .double: .double
            case .decimal: .decimal
            case .string: .string
            case .date: .date
            case .binary: .binary
            case .uuid: .uuid
            case .uri: .uri
            case .transformable: .transformable
            }
        return type.propertyName
    }

    @Test func `what was stored is read, each value in its own place`() throws {
        let fixture = try StoreFixture(Self.model(destinations: 1))
        for value in Self.values {
            let given = value.map { [Self.name(of: $0): ObjectValue.attribute($0)] } ?? [:]
            let id = try #require(try fixture.insert(fixture.new("Thing", given)).first)
            for type in Self.types {
                let name = type.propertyName
                #expect(
                    try fixture.value(name, of: id) == given[name] ?? .attribute(nil), "\(String(describing: value))")
            }
            #expect(try fixture.value("to0", of: id) == .toOne(nil))
        }
    }

    @Test func `destinations of more entities than a letter can tell apart`() throws {
        let count = 230
        let fixture = try StoreFixture(Self.model(destinations: count))
        var given: [String: ObjectValue] = [:]
        for number in stride(from: 0, to: count, by: 3) {
            given["to\(number)"] = .toOne(try fixture.insert(fixture.new("Other\(number)")).first)
        }
        let id = try #require(try fixture.insert(fixture.new("Thing", given)).first)
        for number in 0..<count {
            #expect(try fixture.value("to\(number)", of: id) == given["to\(number)"] ?? .toOne(nil))
        }
    }

    @Test func `a value that cannot be what the model declares is none, and hides no other`() throws {
        let fixture = try StoreFixture(Self.model(destinations: 1))
        let id = try #require(
            try fixture.insert(
                fixture.new("Thing", ["string": .attribute(.string("ö")), "double": .attribute(.double(1))])
            )
            .first)
        _ = try fixture.shell(
            "UPDATE ZTHING SET ZBOOLEAN = 2, ZUUID = x'00', ZDATE = 'x', ZURI = CAST(x'FF' AS TEXT), ZTO0 = 'y'")
        let snapshot = try #require(try fixture.store.snapshots(of: [id]).first)
        let shape = try fixture.store.columns(of: "Thing").shape
        for (position, property) in shape.properties.enumerated() {
            let presence = snapshot.values.presence(at: position)
            switch property.name {
            case "string", "double": #expect(presence == .present)
            case "boolean", "uuid", "date", "uri", "to0":
                #expect(presence == .missing && snapshot.values[position] == nil)
            default: #expect(presence == .empty && snapshot.values[position] == .attribute(nil))
            }
        }
    }

    @Test(arguments: 0..<20)
    func `what is set of a row reads as it does of a list, and the row's other holders see nothing of it`(seed: UInt64)
        throws
    {
        var generator = TestSupport.SeededGenerator(seed: seed)
        let fixture = try StoreFixture(Self.model(destinations: 1))
        let given: [String: ObjectValue] = [
            "string": .attribute(.string("text")), "integer": .attribute(.integer(7)),
            "uuid": .attribute(.uuid(Array(0..<16))),
        ]
        let id = try #require(try fixture.insert(fixture.new("Thing", given)).first)
        let row = try #require(try fixture.store.snapshots(of: [id]).first).values
        let before = Array(row)
        var values = row
        var list = before
        for _ in 0..<40 {
            let position = Int.random(in: list.indices, using: &generator)
            let value =
                Bool.random(using: &generator)
                ? Self.values.randomElement(using: &generator).map { ObjectValue.attribute($0) } : nil
            values[position] = value
            list[position] = value
            #expect(values.list == list)
            #expect(values == PositionedValues(list))
            for position in list.indices {
                #expect(!values.shares(position, with: row) || values[position] == row[position])
                #expect((values.presence(at: position) == .missing) == (list[position] == nil))
            }
        }
        #expect(Array(row) == before)
    }
}

extension AttributeType {
    fileprivate var propertyName: String { name.lowercased().filter(\.isLetter) }
}
