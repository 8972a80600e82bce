import MoultBasics
import MoultData
import MoultModel
import Testing

/// A context's part in a model: it hands the values over, and the model is a face of them from then on.
@Suite struct BackingDataTests {
    /// Backing data that lies elsewhere, in plain dictionaries.
    private final class Elsewhere: BackingData {
        let persistentModelID = PersistentIdentifier(ObjectID(temporary: 7, entityName: "Dog"))
        var attributes: [String: AttributeValue] = [:]
        var models: [String: [any PersistentModel]] = [:]
        func attribute(_ key: String) -> AttributeValue? { attributes[key] }
        func setAttribute(_ key: String, _ value: AttributeValue?) { attributes[key] = value }
        func toOne(_ key: String) -> (any PersistentModel)? { models[key]?.first }
        func setToOne(_ key: String, _ model: (any PersistentModel)?) { models[key] = model.map { [$0] } }
        func toMany(_ key: String) -> [any PersistentModel]? { models[key] }
        func setToMany(_ key: String, _ models: [any PersistentModel]?) { self.models[key] = models }
        func refuse(_ key: String, _ error: MigrationError) {}
    }

    @Test func `an object that is read has the values of its backing data, not its defaults`() {
        let elsewhere = Elsewhere()
        elsewhere.attributes = ["name": .string("Rex"), "tricks": .integer(4)]
        let dog = Dog(backingData: elsewhere)
        #expect(dog.name == "Rex" && dog.tricks == 4 && dog.legs == 0)
        dog.name = "Max"
        dog.tricks = 5
        #expect(elsewhere.attributes["name"] == .string("Max") && elsewhere.attributes["tricks"] == .integer(5))
        #expect(dog._$ownValues.isEmpty)
        #expect(dog.persistentModelID.entityName == "Dog")
    }

    @Test func `an object that is taken in gives the values of all its classes`() {
        let dog = Puppy(name: "Rex", tricks: 1)
        let parts = dog._$ownValues
        let keys = parts.flatMap { $0.values.map(\.name) }.sorted()
        // Nil that nobody set is not among them: the owner.
        #expect(keys == ["legs", "name", "tricks"])
        let elsewhere = Elsewhere()
        for (key, value) in parts.flatMap(\.values) {
            if case .attribute(let value) = value { elsewhere.setAttribute(key, value) }
        }
        dog.persistentBackingData = elsewhere
        #expect(dog._$ownValues.isEmpty)
        #expect(dog.name == "Rex" && dog.tricks == 1 && dog.legs == 4)
        dog.tricks = 2
        dog.legs = 3
        #expect(elsewhere.attributes["tricks"] == .integer(2) && elsewhere.attributes["legs"] == .integer(3))
    }

    @Test func `NULL where the model wants a value reads as nothing of its kind`() {
        let everything = EveryKind.Everything(backingData: Elsewhere())
        #expect(everything.int == 0 && everything.string == "" && !everything.bool && everything.data.isEmpty)
        #expect(everything.optionalStatus == nil && everything.optionalPlace == nil && everything.parts.isEmpty)
    }

    @Test func `an unknown raw value or damaged bytes read as nil where nil can be`() {
        let elsewhere = Elsewhere()
        elsewhere.attributes = [
            "optionalStatus": .string("gone"), "optionalPlace": .transformable([1, 2, 3]),
            "named": .transformable([255]),
        ]
        let everything = EveryKind.Everything(backingData: elsewhere)
        #expect(everything.optionalStatus == nil && everything.optionalPlace == nil)
    }

    @Test func `key paths of a class and of its children lead to the same property`() {
        let names = Puppy.schemaMetadata.namesByKeyPath
        #expect(names[\Puppy.name] == "name" && names[\Puppy.tricks] == "tricks" && names[\Puppy.owner] == "owner")
        #expect(names[\Animal.name] == nil)
        #expect(Puppy.schemaMetadata.properties.map(\.name) == ["name", "legs", "owner", "tricks"])
    }

    @Test func `identifiers survive encoding in SwiftData's shape`() throws {
        let store = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF"))
        let identifier = PersistentIdentifier(ObjectID(store: store, entityName: "Dog", key: 12))
        let data = try JSONEncoder().encode(identifier)
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: data) == identifier)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
        let parts = try #require(object["implementation"])
        #expect(parts["uriRepresentation"] as? String == "x-coredata://\(store.uuidString)/Dog/p12")
        #expect(parts["primaryKey"] as? String == "p12" && parts["entityName"] as? String == "Dog")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                PersistentIdentifier.self,
                from: Data(
                    #"{"implementation":{"primaryKey":"","uriRepresentation":"x","isTemporary":false,"entityName":""}}"#
                        .utf8))
        }
    }
}

@Model class Animal {
    var name: String
    var legs = 4
    var owner: Animal?
    init(name: String) { self.name = name }
}

@Model class Dog: Animal {
    var tricks: Int
    init(name: String, tricks: Int) {
        self.tricks = tricks
        super.init(name: name)
    }
}

/// A child without properties or initialisers of its own.
@Model final class Puppy: Dog {}
