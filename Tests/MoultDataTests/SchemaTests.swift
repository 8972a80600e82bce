import Foundation
import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

@Suite struct SchemaTests {
    @Test func `every kind of property has the type that SwiftData gives it`() throws {
        ValueTransformer.setValueTransformer(ReversingTransformer.self, forName: "Reversing")
        let schema = Schema(versionedSchema: EveryKind.self)
        let model = try schema.managedObjectModel()
        let entity = try #require(model.entity("Everything"))
        let types: [String: AttributeType] = [
            "int": .integer64, "int8": .integer16, "int16": .integer16, "int32": .integer32, "int64": .integer64,
            "uint": .integer64, "uint8": .integer16, "uint16": .integer16, "uint32": .integer32, "uint64": .integer64,
            "double": .double, "float": .float, "bool": .boolean, "string": .string, "date": .date, "data": .binary,
            "uuid": .uuid, "url": .uri, "decimal": .decimal, "status": .composite, "level": .composite,
            "outcome": .transformable, "place": .composite, "strings": .transformable, "numbers": .transformable,
            "places": .binary, "counts": .binary, "optionalInt": .integer64, "optionalString": .string,
            "optionalStatus": .composite, "optionalPlace": .composite, "inferred": .integer64, "default": .string,
            "reversed": .transformable, "named": .transformable,
        ]
        #expect(Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.type) }) == types)
        let optional = entity.attributes.filter(\.isOptional).map(\.name)
        #expect(optional == ["named", "optionalInt", "optionalPlace", "optionalStatus", "optionalString"])
        #expect(entity.attribute("inferred")?.defaultValue == .integer(7))
        #expect(entity.attribute("int")?.defaultValue == nil)
        #expect(entity.attribute("reversed")?.valueTransformerName == "ReversingTransformer")
        #expect(model.versionIdentifiers == ["2.1.0"])
        #expect(Set(schema.unknownMappings.keys) == ["Everything"])
    }

    @Test func `what leads to other models is a relationship, and both sides know each other`() throws {
        let model = try Schema(EveryKind.Everything.self).managedObjectModel()
        #expect(model.entities.map(\.name) == ["Everything", "Part"])
        let parts = try #require(model.entity("Everything")?.relationship("parts"))
        #expect(parts.maxCount == 0 && parts.minCount == 0 && !parts.isOptional && parts.deleteRule == .cascade)
        #expect(parts.inverseName == "whole")
        let whole = try #require(model.entity("Part")?.relationship("whole"))
        #expect(whole.maxCount == 1 && whole.isOptional && whole.inverseName == "parts")
        #expect(model.entity("Everything")?.relationship("spares")?.isOptional == true)
        #expect(model.entity("Everything")?.relationship("partner")?.inverseName == nil)
    }

    @Test func `entities without classes make the model that classes make`() throws {
        var books = Schema.Relationship(deleteRule: .cascade)
        (books.name, books.destination, books.inverseName, books.isOptional) = ("books", "Volume", "shelf", false)
        var shelf = Schema.Relationship(maximumModelCount: 1)
        (shelf.name, shelf.destination, shelf.inverseName) = ("shelf", "Rack", "books")
        let rack = Schema.Entity(
            "Rack", properties: Schema.Attribute(name: "code", options: [.unique], valueType: String.self), books)
        let volume = Schema.Entity("Volume")
        volume.attributes = [
            Schema.Attribute(name: "title", valueType: String.self, defaultValue: "untitled"),
            Schema.Attribute(name: "pages", valueType: Int?.self),
            Schema.Attribute(name: "cover", options: [.externalStorage], valueType: Data?.self),
        ]
        volume.relationships = [shelf]
        let made = Schema(rack, volume, version: Schema.Version(1, 0, 0))
        let (one, other) = try (made.managedObjectModel(), Schema(Rack.self).managedObjectModel())
        #expect(one == other)
        #expect(made.entitiesByName.keys.sorted() == ["Rack", "Volume"])
        #expect(made.entity(for: Rack.self) == nil)
    }

    @Test func `entities inherit, and faults of them are told`() throws {
        let dog = Schema.Entity("Dog", properties: Schema.Attribute(name: "tricks", valueType: [String].self))
        let animal = Schema.Entity(
            "Animal", subentities: dog, properties: Schema.Attribute(name: "name", valueType: String.self))
        let model = try Schema(animal).managedObjectModel()
        #expect(model.entity("Dog")?.superentityName == "Animal")
        #expect(dog.inheritedProperties.map(\.name) == ["name"])
        struct Odd {}
        let odd = Schema.Entity("Odd", properties: Schema.Attribute(name: "odd", valueType: Odd.self))
        #expect(throws: MigrationError.self) { try Schema(odd).managedObjectModel() }
        #expect(throws: MigrationError.self) { try Schema(.init("A"), .init("A")).managedObjectModel() }
        #expect(throws: MigrationError.self) {
            try Schema(.init("A", properties: Schema.Relationship())).managedObjectModel()
        }
    }

    @Test func `an inverse is found where only one pair is possible`() throws {
        let model = try Schema(Author.self).managedObjectModel()
        #expect(model.entity("Author")?.relationship("books")?.inverseName == "author")
        #expect(model.entity("Book")?.relationship("author")?.inverseName == "books")
        #expect(model.entity("Book")?.relationship("author")?.isOptional == false)
        #expect(model.entity("Book")?.relationship("author")?.minCount == 0)
        // Two lead from Book to Reader: neither is taken for the other side.
        #expect(model.entity("Reader")?.relationship("books")?.inverseName == nil)
    }

    @Test func `options of attributes and relationships reach the model`() throws {
        let entity = try #require(try Schema(Options.self).managedObjectModel().entity("Options"))
        let big = try #require(entity.attribute("big"))
        #expect(big.allowsExternalBinaryDataStorage && big.preservesValueInHistoryOnDeletion)
        #expect(big.allowsCloudEncryption && big.isIndexedBySpotlight)
        #expect(entity.attribute("fleeting")?.isTransient == true)
        #expect(entity.attribute("renamed")?.renamingIdentifier == "before")
        #expect(entity.attribute("renamed")?.versionHashModifier == "v2")
        #expect(entity.attribute("key")?.renamingIdentifier == nil)
        #expect(Set(entity.uniquenessConstraints) == [["key"], ["renamed", "key"]])
        #expect(
            entity.fetchIndexes.map(\.name).sorted()
                == ["SwiftDataIndexOnBinarykey", "SwiftDataIndexOnBinaryrenamedkey", "SwiftDataIndexOnRTreekey"])
        let friends = try #require(entity.relationship("friends"))
        #expect(friends.minCount == 1 && friends.maxCount == 3 && friends.deleteRule == .deny)
        #expect(friends.renamingIdentifier == "mates" && friends.versionHashModifier == "f")
    }

    @Test func `models that inherit are sub-entities with their own properties only`() throws {
        let model = try Schema([Puppy.self]).managedObjectModel()
        #expect(model.entities.map(\.name) == ["Animal", "Dog", "Puppy"])
        #expect(model.entity("Puppy")?.superentityName == "Dog" && model.entity("Dog")?.superentityName == "Animal")
        #expect(model.entity("Dog")?.attributes.map(\.name) == ["tricks"])
        #expect(model.entity("Puppy")?.attributes.isEmpty == true)
    }

    @Test func `an entity tells its lineage and all its properties`() throws {
        let schema = Schema([Puppy.self, Author.self])
        let (animal, dog) = (schema.entitiesByName["Animal"], schema.entitiesByName["Dog"])
        #expect(animal?.superentity == nil && animal?.subentities.map(\.name) == ["Dog"])
        #expect(dog?.superentity == animal && dog?.superentityName == "Animal")
        #expect(dog?.storedProperties.map(\.name) == ["tricks"])
        #expect(dog?.inheritedProperties.map(\.name) == ["name", "legs", "owner"])
        #expect(dog?.properties.map(\.name) == ["name", "legs", "owner", "tricks"])
        #expect(dog?.storedPropertiesByName["tricks"]?.isAttribute == true)
        #expect(dog?.inheritedPropertiesByName["owner"]?.isRelationship == true)
        #expect(String(reflecting: schema) == "Schema(1.0.0: Animal, Author, Book, Dog, Puppy, Reader)")
        #expect(schema == Schema([Author.self, Animal.self, Puppy.self]) && schema != Schema(Author.self))
        #expect(schema.entity(for: Dog.self) === dog && schema.entity(for: Options.self) == nil)
    }

    @Test func `a property tells its type, its default and what was declared of it`() throws {
        let entity = try #require(Schema(Options.self).entity(for: Options.self))
        let renamed = try #require(entity.attributesByName["renamed"])
        #expect(renamed.valueType == String.self && renamed.defaultValue as? String == "" && !renamed.isOptional)
        #expect(renamed.originalName == "before" && renamed.hashModifier == "v2")
        let big = try #require(entity.attributesByName["big"])
        #expect(big.valueType == Data?.self && big.isOptional && big.defaultValue == nil && !big.isUnique)
        #expect(big.options.contains(.externalStorage) && !big.options.contains(.unique))
        #expect(entity.attributesByName["key"]?.isUnique == true)
        #expect(entity.attributesByName["fleeting"]?.isTransient == true)
        #expect(entity.uniquenessConstraints == [["key"], ["renamed", "key"]])
        #expect(entity.indices == [["key"], ["renamed", "key"], ["key"]])
        let friends = try #require(entity.relationshipsByName["friends"])
        #expect(friends.valueType == [Options].self && friends.destination == "Options" && !friends.isToOneRelationship)
        #expect(friends.deleteRule == .deny && friends.keypath == \Options.friends && friends.isRelationship)
        #expect(Schema.Relationship.DeleteRule(rawValue: "cascade") == .cascade)
        let parts = Schema(EveryKind.Everything.self).entity(for: EveryKind.Everything.self)?.relationshipsByName[
            "parts"]
        #expect(parts?.inverseKeyPath == \EveryKind.Part.whole && parts?.inverseName == "whole")
    }

    @Test func `a class in a version is named without it, and two versions do not mix`() throws {
        #expect(Schema(versionedSchema: NotesV1.self).entities.map(\.name) == ["Note"])
        #expect(Schema(versionedSchema: NotesV2.self).entities.map(\.name) == ["Note"])
        #expect(Schema.entityName(for: NotesV2.Note.self) == "Note")
        let mixed = Schema([NotesV1.Note.self, NotesV2.Note.self])
        #expect(throws: MigrationError.self) { try mixed.managedObjectModel() }
        #expect(mixed.entity(for: NotesV2.Note.self) == nil)
        #expect(mixed.entity(for: NotesV1.Note.self)?.attributesByName.keys.sorted() == ["title"])
    }

    @Test func `an inverse that leads elsewhere is a fault of the schema`() throws {
        let error = #expect(throws: MigrationError.self) { try Schema(Astray.self).managedObjectModel() }
        #expect(error?.code == .modelInvalid && error?.place == "Astray.other")
    }

    @Test func `versions are compared number by number`() {
        #expect(Schema.Version(1, 9, 0) < Schema.Version(1, 10, 0))
        #expect(Schema.Version(2, 0, 0) > Schema.Version(1, 10, 9))
        #expect("\(Schema.Version(1, 2, 3))" == "1.2.3")
        #expect(Schema(Author.self).version == Schema.Version(1, 0, 0))
    }
}

@Model final class Author {
    var books: [Book] = []
    init() {}
}

@Model final class Book {
    var author: Author
    var owner: Reader?
    var borrower: Reader?
    init(author: Author) { self.author = author }
}

@Model final class Reader {
    var books: [Book] = []
    init() {}
}

@Model final class Options {
    #Unique<Options>([\.renamed, \.key])
    #Index<Options>([\.key], [\.renamed, \.key])
    #Index<Options>(.rtree([\.key]))
    @Attribute(.unique) var key: String
    @Attribute(.externalStorage, .preserveValueOnDeletion, .allowsCloudEncryption, .spotlight) var big: Data?
    @Attribute(.ephemeral) var fleeting: Int = 0
    @Attribute(originalName: "before", hashModifier: "v2") var renamed: String = ""
    @Relationship(
        deleteRule: .deny, minimumModelCount: 1, maximumModelCount: 3, originalName: "mates", hashModifier: "f")
    var friends: [Options] = []
    init(key: String) { self.key = key }
}

enum NotesV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }
    @Model final class Note {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum NotesV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }
    @Model final class Note {
        @Attribute(originalName: "title") var heading: String
        var isPinned = false
        init(heading: String) { self.heading = heading }
    }
}

@Model final class Astray {
    @Relationship(inverse: \Author.books) var other: Reader?
    init() {}
}

@Suite struct SchemaCodingTests {
    @Test func `a schema is read again by the program that wrote it`() throws {
        let schema = Schema([EveryKind.Everything.self], version: Schema.Version(2, 1, 0))
        let data = try JSONEncoder().encode(schema)
        let read = try JSONDecoder().decode(Schema.self, from: data)
        #expect(read == schema && read.version == Schema.Version(2, 1, 0))
        #expect(try read.managedObjectModel().versionChecksum == schema.managedObjectModel().versionChecksum)
        let folder = try ScratchFolder()
        let file = URL(fileURLWithPath: folder.path + "/schema.json")
        try schema.save(to: file)
        #expect(try Schema.load(from: file) == schema)
        #expect(throws: (any Error).self) { try Schema.load(from: URL(fileURLWithPath: folder.path + "/none.json")) }
        let text = String(decoding: data, as: UTF8.self)
        let foreign = Data(text.replacing("Everything", with: "Nothing000").utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Schema.self, from: foreign) }
        let option = Schema.Attribute.Option.transformable(by: "Reversing")
        #expect(try JSONDecoder().decode(Schema.Attribute.Option.self, from: JSONEncoder().encode(option)) == option)
    }
}

@Model private final class Rack {
    @Attribute(.unique) var code: String
    @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var books: [Volume] = []
    init(code: String) { self.code = code }
}

@Model private final class Volume {
    var title: String = "untitled"
    var pages: Int?
    @Attribute(.externalStorage) var cover: Data?
    var shelf: Rack?
    init() {}
}
