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

    @Test func `a composite attribute with another inside of it survives both forms, and the archive refuses it`()
        throws
    {
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
        #expect(try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "", findings: &findings) == model)
        let json = Array(model.json.indented.utf8)
        #expect(try ManagedObjectModel(json: json, file: "", findings: &findings) == model)
        #expect(findings.isEmpty)
        let error = #expect(throws: MigrationError.self) { try model.compiled() }
        #expect(error?.code == .unsupported && error?.message.contains("composite attribute") == true)
        // Its hash is a guess, and said to be one.
        let hashes = VersionHashes(of: model)
        #expect(hashes.uncertain.keys.sorted() == ["Aircraft"])
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
