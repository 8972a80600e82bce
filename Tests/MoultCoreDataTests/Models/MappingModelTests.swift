import MoultCoreData
import TestSupport
import Testing

@Suite struct MappingModelTests {
    @Test func `an inferred mapping says where everything comes from`() throws {
        let mapping = try MappingModel.inferredMappingModel(
            forSourceModel: Library.first(), destinationModel: Library.third())
        let kinds = Dictionary(uniqueKeysWithValues: mapping.entityMappings.map { ($0.name, $0.mappingType) })
        #expect(
            kinds == [
                "IEM_Transform_Author": .transform, "IEM_Transform_Book": .transform, "IEM_Copy_Shelf": .copy,
                "IEM_Add_Loan": .add,
            ])
        let author = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Author" })
        #expect(author.attributeMapping("fullName")?.valueExpression?.format == "$source.name")
        let book = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Book" })
        let rating = try #require(book.attributeMapping("rating"))
        #expect(rating.valueExpression?.format == "3")
        #expect(book.attributeMapping("pages") == nil)
        #expect(
            book.relationshipMapping("author")?.valueExpression?.format
                == "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"author\", "
                + "$source.author)")
    }

    @Test func `an inferred mapping between abstract entities runs as a mapping model`() throws {
        func model(_ state: AttributeDescription) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(name: "Item", isAbstract: true, attributes: [.init(name: "name", type: .string)]),
                EntityDescription(name: "Book", superentityName: "Item", attributes: [state]),
            ])
        }
        let first = try model(AttributeDescription(name: "pages", type: .integer16, isOptional: false))
        let second = try model(AttributeDescription(name: "pages", type: .integer16))
        let mapping = try MappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Copy_Book"])
        let (from, to) = (ModelVersion(names: ["1"], model: first), ModelVersion(names: ["2"], model: second))
        let checked = mapping.completed(from: from, to: to).findings(from: first, to: second)
        #expect(checked.filter { $0.severity == .error }.isEmpty, "\(checked)")
    }

    @Test func `every reason why there is none is told`() throws {
        var destination = try Library.impossible()
        try destination.updateEntity("Author") {
            $0.properties.append(AttributeDescription(name: "born", type: .date, isOptional: false))
        }
        let error = try #require(throws: MigrationError.self) {
            try MappingModel.inferredMappingModel(forSourceModel: Library.first(), destinationModel: destination)
        }
        #expect(error.coreData?.number == 134190)
        #expect(error.message.contains("shelfMark") && error.message.contains("born"))
    }
}
