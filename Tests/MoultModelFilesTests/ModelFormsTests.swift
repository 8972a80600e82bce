import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// The forms that Moult itself writes, over a model that says everything.
@Suite struct ModelFormsTests {
    @Test func `the rich model leaves no field at its usual value`() {
        expectUnusual(RichModel.attribute, against: AttributeDescription(name: "", type: .undefined))
        expectUnusual(RichModel.relationship, against: RelationshipDescription(name: "", destinationEntityName: ""))
        expectUnusual(RichModel.fetchedProperty, against: FetchedPropertyDescription(name: ""))
        expectUnusual(RichModel.index, against: FetchIndexDescription(name: "", elements: []))
        expectUnusual(RichModel.entity, against: EntityDescription(name: ""))
    }

    private func expectUnusual(_ rich: Any, against usual: Any) {
        for (field, other) in zip(Mirror(reflecting: rich).children, Mirror(reflecting: usual).children) {
            #expect("\(field.value)" != "\(other.value)", "\(type(of: rich)).\(field.label ?? "")")
        }
    }

    @Test func `XML reads back equal`() throws {
        let model = try RichModel.model()
        var findings: [Finding] = []
        let xml = try model.xmlContents()
        #expect(try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "", findings: &findings) == model)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `JSON reads back equal, and is the same text for an equal model`() throws {
        var entity = RichModel.entity
        entity.attributes[0].validation.rules = [.init(predicate: "length > 1", warning: "short")]
        let model = try RichModel.model(entity: entity)
        var findings: [Finding] = []
        let text = model.json.indented
        let again = try ManagedObjectModel(json: Array(text.utf8), file: "", findings: &findings)
        #expect(again == model)
        #expect(findings.isEmpty, "\(findings)")
        #expect(again.json.indented == text)
    }

    @Test func `a composite attribute with another inside of it survives every form`() throws {
        let color = AttributeDescription(name: "color", type: .composite, compositeName: "ColorScheme")
        let accent = AttributeDescription(name: "accent", type: .composite, compositeName: "Accent")
        let level = AttributeDescription(name: "level", type: .integer16, defaultValue: .integer(3))
        let model = try ManagedObjectModel(
            entities: [EntityDescription(name: "Aircraft", attributes: [color])],
            composites: [
                CompositeDescription(name: "Accent", elements: [level]),
                CompositeDescription(name: "ColorScheme", elements: [accent, .init(name: "primary", type: .string)]),
            ], documentAttributes: ["type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0"])
        var findings: [Finding] = []
        let xml = try model.xmlContents()
        #expect(xml.contains("<composite name=\"Accent\">") && xml.contains("composite=\"ColorScheme\""))
        let source = try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "", findings: &findings)
        #expect(source.composites.map(\.name) == ["Accent", "ColorScheme"])
        #expect(VersionHashes(of: source).entities == VersionHashes(of: model).entities)
        let json = Array(model.json.indented.utf8)
        #expect(try ManagedObjectModel(json: json, file: "", findings: &findings) == model)
        // An archive has the elements, in their order, and not the name of their type.
        let archived = try [
            ManagedObjectModel(compiled: model.compiled(), findings: &findings),
            ManagedObjectModel(modelCache: model.modelCache(), findings: &findings),
        ]
        for again in archived {
            let read = try #require(again.entity("Aircraft")?.attributes.first)
            #expect(read.compositeName == nil && read.elements.map(\.name) == ["accent", "primary"])
            #expect(read.elements[0].elements == [level])
            #expect(VersionHashes(of: again) == VersionHashes(of: model))
            // Without names, XML gives them some.
            let named = try again.xmlContents()
            #expect(
                named.contains("<composite name=\"AircraftColor\">")
                    && named.contains("composite=\"AircraftColorAccent\""))
        }
        #expect(findings.isEmpty)
        // Stores prove the rule of the hash; no model source with a composite attribute has been seen.
        #expect(VersionHashes(of: model).uncertain.isEmpty)
        #expect(VersionHashes(of: source).uncertain.keys.sorted() == ["Aircraft"])
        let other = xml.replacing("composite name=", with: "compositeAttribute name=").replacing(
            "</composite>", with: "</compositeAttribute>")
        #expect(try ManagedObjectModel(xmlContents: Array(other.utf8), file: "", findings: &findings) == source)
    }

    @Test func `elements that no store could have are refused by their attribute`() throws {
        func model(_ elements: [AttributeDescription], _ composites: [CompositeDescription] = []) throws
            -> ManagedObjectModel
        {
            let attribute = AttributeDescription(name: "color", type: .composite, elements: elements)
            return try ManagedObjectModel(
                entities: [EntityDescription(name: "Aircraft", attributes: [attribute])], composites: composites)
        }
        let text = AttributeDescription(name: "größe", type: .string)
        #expect(try model([text]).entity("Aircraft")?.attributes[0].leaves.map(\.name) == ["color.größe"])
        for name in ["größe", "", "a.b"] {
            let error = #expect(throws: MigrationError.self) {
                try model([text, AttributeDescription(name: name, type: .string)])
            }
            #expect(error?.code == .modelInvalid && error?.place == "Aircraft.color")
        }
        // A type that contains itself; one that doubles at each of thirty levels.
        let own = AttributeDescription(name: "own", type: .composite, compositeName: "Own")
        #expect(throws: MigrationError.self) { try model([own], [CompositeDescription(name: "Own", elements: [own])]) }
        let doubling = (0..<30).map { level in
            CompositeDescription(
                name: "\(level)",
                elements: ["a", "b"].map { .init(name: $0, type: .composite, compositeName: "\(level + 1)") })
        }
        let first = AttributeDescription(name: "first", type: .composite, compositeName: "0")
        #expect(throws: MigrationError.self) { try model([first], doubling) }
    }

    @Test func `what XML has no form for is refused rather than lost`() throws {
        var entity = RichModel.entity
        entity.userInfo = ["k": "\u{0}"]
        #expect(throws: MigrationError.self) { try RichModel.model(entity: entity).xmlContents() }
        entity = RichModel.entity
        entity.attributes[0].validation.rules = [.init(predicate: "length > 1", warning: "short")]
        #expect(throws: MigrationError.self) { try RichModel.model(entity: entity).xmlContents() }
    }

    @Test func `an unknown member of JSON is a finding and a higher format an error`() throws {
        var findings: [Finding] = []
        let known = try ManagedObjectModel(
            json: Array(#"{"format":1,"model":{"entities":[{"name":"A","colour":"red"}]}}"#.utf8), file: "m.json",
            findings: &findings)
        #expect(known.entities.map(\.name) == ["A"])
        #expect(findings.map(\.place) == ["m.json.model.entities[0]"])
        #expect(throws: MigrationError.self) {
            try ManagedObjectModel(json: Array(#"{"format":2,"model":{}}"#.utf8), file: "", findings: &findings)
        }
    }
}

@Suite(.enabled(if: Corpus.isAskedWhole)) struct ModelJSONCorpusTests {
    @Test func `every model reads back equal from JSON`() throws {
        for source in try CorpusSources.distinct.get() {
            var findings: [Finding] = []
            let bytes = Array(source.model.json.compact.utf8)
            #expect(try ManagedObjectModel(json: bytes, file: source.path, findings: &findings) == source.model)
        }
    }
}
