import MoultBasics
import MoultModel
import Testing

@testable import MoultPlan

/// A mapping that was inferred, said in the words of a mapping model and read again.
struct MappingWordsTests {
    @Test func `values that became required are filled as inference fills them`() throws {
        func version(_ name: String, isOptional: Bool) throws -> ModelVersion {
            let kinds: [(AttributeType, AttributeValue)] = [
                (.binary, .binary([1, 0, 2])), (.uuid, .uuid(Array(repeating: 7, count: 16))),
                (.string, .string("x")), (.decimal, .decimal("42.5")), (.date, .date(1_000)),
            ]
            let attributes = kinds.map { type, value in
                AttributeDescription(
                    name: "a\(type.rawValue)", type: type, isOptional: isOptional,
                    defaultValue: isOptional ? nil : value)
            }
            return ModelVersion(
                names: [name],
                model: try ManagedObjectModel(entities: [EntityDescription(name: "Item", attributes: attributes)]))
        }
        let (old, new) = (try version("1", isOptional: true), try version("2", isOptional: false))
        let inferred = try ResolvedMapping(inferring: old, to: new)
        let words = MappingModel(inferred, from: old.model, to: new.model)
        let read = try ResolvedMapping(words, from: old.model, to: new.model)
        let (expected, found) = (inferred.entityMappings.first?.attributes, read.entityMappings.first?.attributes)
        #expect(expected?.count == 5 && found == expected)
    }

    @Test func `the elements of a composite attribute keep their values`() throws {
        func composite(_ name: String, _ elements: [AttributeDescription], was: String? = nil) -> AttributeDescription {
            AttributeDescription(
                name: name, type: .composite, isOptional: elements.allSatisfy(\.isOptional), elements: elements,
                renamingIdentifier: was)
        }
        let old = try version(
            "1",
            entity(
                "Cat",
                [
                    composite("owner", [attribute("name"), attribute("age", .integer16)]),
                    composite("mood", [attribute("mood")]),
                ]))
        let new = try version(
            "2",
            entity(
                "Cat",
                [
                    composite(
                        "keeper",
                        [
                            attribute("title", required: true, default: .string("x"), was: "name"),
                            attribute("age", .integer16),
                        ],
                        was: "owner"), attribute("mood"),
                ]))
        let inferred = try ResolvedMapping(inferring: old, to: new)
        let words = MappingModel(inferred, from: old.model, to: new.model)
        let read = try ResolvedMapping(words, from: old.model, to: new.model)
        let (expected, found) = (inferred.entityMappings.first?.attributes, read.entityMappings.first?.attributes)
        #expect(expected?["keeper.age"] == .attribute("owner.age", ifNil: nil))
        #expect(expected?["keeper.title"] == .attribute("owner.name", ifNil: .string("x")))
        #expect(expected?["mood"] == .attribute("mood.mood", ifNil: nil))
        #expect(expected?.count == 3 && found == expected)
        let errors = words.findings(from: old.model, to: new.model).filter { $0.severity == .error }
        #expect(errors.isEmpty, "\(errors)")
    }
}
