import MoultModel
import MoultObjects
import Testing

@Suite("Shapes of entities") struct EntityShapeTests {
    @Test func `every name is found at its position, whatever others have its length`() throws {
        let names = ["a", "b", "ab", "ba", "count", "title", "price", "aVeryLongNameOfAProperty", "caf\u{e9}"]
        let shape = try shape(names)
        for name in names {
            let position = try #require(shape.position(of: name))
            #expect(shape.properties[position].name == name)
            #expect(shape[name]?.name == name)
        }
        // As Swift compares texts: the accent may be a character of its own, which takes a byte more.
        #expect(shape.position(of: "cafe\u{301}") == shape.position(of: "caf\u{e9}"))
        for name in ["", "c", "aa", "Count", "aVeryLongNameOfAPropertx", "aVeryLongNameOfAPropertyAndMore"] {
            #expect(shape.position(of: name) == nil, "\(name)")
        }
    }

    @Test func `an entity without properties has no position`() throws {
        #expect(try shape([]).position(of: "") == nil)
        #expect(try shape([]).position(of: "name") == nil)
    }

    private func shape(_ names: [String]) throws -> EntityShape {
        let attributes = names.map { AttributeDescription(name: $0, type: .string) }
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Thing", attributes: attributes)])
        return EntityShape(try #require(model.entity("Thing")), in: model)
    }
}
