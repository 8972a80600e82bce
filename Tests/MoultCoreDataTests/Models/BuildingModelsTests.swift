import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct BuildingModelsTests {
    private func library() throws -> ManagedObjectModel {
        var book = EntityDescription(name: "Book")
        book.properties = [
            AttributeDescription(name: "title", type: .string, isOptional: false, defaultValue: "untitled"),
            AttributeDescription(name: "pages", type: .integer32, defaultValue: 0),
            RelationshipDescription(name: "author", destinationEntityName: "Author", inverseName: "books"),
        ]
        let author = EntityDescription("Author = name String, books >> Book.author cascade")
        var model = ManagedObjectModel()
        try model.setEntities([book, author])
        return model
    }

    @Test func `a model is built of entities and their properties`() throws {
        let model = try library()
        #expect(model.entities.map(\.name) == ["Author", "Book"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(book.properties.map(\.name) == ["author", "pages", "title"])
        #expect(model.attributesByName(of: book)["title"]?.defaultValue == .string("untitled"))
        #expect(model.relationshipsByName(of: book)["author"]?.inverseName == "books")
    }

    @Test func `a model that would be broken stays as it was`() throws {
        var model = try library()
        let before = model
        let error = try #require(throws: MigrationError.self) {
            try model.updateEntity("Book") { $0.relationships[0].destinationEntityName = "Writer" }
        }
        #expect(error.code == .modelInvalid)
        #expect(error.place == "Book.author")
        #expect(throws: MigrationError.self) { try model.setEntities([before.entities[0]]) }
        #expect(model == before)
    }

    @Test func `inherited properties are asked of the model`() throws {
        var model = try library()
        let novel = EntityDescription("Novel (Book) = genre String")
        try model.setEntities(model.entities + [novel])
        #expect(novel.properties.map(\.name) == ["genre"])
        #expect(Set(model.propertiesByName(of: novel).keys) == ["author", "genre", "pages", "title"])
    }

    @Test func `a configuration names a part of the model`() throws {
        var model = try library()
        let log = EntityDescription(name: "Log", properties: [AttributeDescription(name: "line", type: .string)])
        try model.setEntities([log], forConfigurationName: "Local")
        #expect(model.configurationNames == ["Local"])
        #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Log"])
        #expect(model.entities(forConfigurationName: nil)?.count == 3)
        #expect(model.entities(forConfigurationName: "Cloud") == nil)
    }

    @Test func `merging joins models and refuses two accounts of one entity`() throws {
        let library = try library()
        let log = try ManagedObjectModel("Log")
        #expect(try ManagedObjectModel(byMerging: [library, log]).entities.count == 3)
        #expect(try ManagedObjectModel(byMerging: [library, library]) == library)
        let other = try ManagedObjectModel("Log abstract")
        let error = try #require(throws: MigrationError.self) { try ManagedObjectModel(byMerging: [log, other]) }
        #expect(error.code == .modelInvalid)
        #expect(error.place == "Log")
    }

    @Test func `versions built in code have a current one`() throws {
        let first = try library()
        var second = first
        try second.updateEntity("Book") { $0.properties.append(AttributeDescription(name: "isbn", type: .string)) }
        let versions = ModelVersions([("1", first), ("2", second)])
        #expect(versions.current?.name == "2")
        #expect(versions["1"]?.model == first)
        #expect(versions["3"] == nil)
        #expect(first.entityVersionHashesByName["Book"] != second.entityVersionHashesByName["Book"])
        #expect(first.entityVersionHashesByName["Author"] == second.entityVersionHashesByName["Author"])
    }

    @Test func `compatible with metadata means equal hashes of the configuration's entities`() throws {
        var model = try library()
        let log = EntityDescription(name: "Log", properties: [AttributeDescription(name: "line", type: .string)])
        let all = [StoreMetadataKey.modelVersionHashes: model.entityVersionHashesByName]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
        try model.setEntities([log], forConfigurationName: "Local")
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
        let local = model.entityVersionHashesByName.filter { $0.key == "Log" }
        let metadata = [StoreMetadataKey.modelVersionHashes: local]
        #expect(model.isConfiguration(withName: "Local", compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: "Other", compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }
}
