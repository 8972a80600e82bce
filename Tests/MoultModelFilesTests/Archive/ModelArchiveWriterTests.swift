import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isWhole)) struct ModelArchiveWriterTests {  // tier: long
    @Test func `every real cache comes back from the written one, of the same classes and keys`() throws {
        var (caches, sameShape) = (0, 0)
        for store in try CorpusStore.all() {
            guard let cache = store.modelCache else { continue }
            var findings: [Finding] = []
            let model = try ManagedObjectModel(modelCache: cache, findings: &findings)
            let written = try model.modelCache()
            let reread = try ManagedObjectModel(modelCache: written, findings: &findings)
            #expect(reread == model, "\(store.path)")
            #expect(findings.isEmpty)
            caches += 1
            // Frameworks before 1251 wrote empty lists of indexes here and there, and mutable strings.
            guard (store.metadata["NSPersistenceFrameworkVersion"]?.integer ?? 0) >= 1251 else { continue }
            let (real, own) = (try shape(of: cache), try shape(of: written))
            #expect(own == real, "\(store.path): \(own.symmetricDifference(real))")
            sameShape += 1
        }
        print(
            "\(caches) model caches written and read back, \(sameShape) of recent frameworks with equal classes and keys"
        )
        #expect(caches >= 36)
        #expect(sameShape >= 14)
    }

    @Test func `every compiled model comes back`() throws {
        for path in Corpus.paths(where: { $0.hasSuffix(".mom") }) {
            var findings: [Finding] = []
            let model = try ManagedObjectModel(
                compiled: Array(Data(contentsOf: URL(fileURLWithPath: path))), findings: &findings)
            #expect(try ManagedObjectModel(compiled: model.compiled(), findings: &findings) == model, "\(path)")
            #expect(findings.isEmpty)
        }
    }

    @Test func `a source model keeps its hashes through a written cache`() throws {
        let paths = Corpus.paths(where: { $0.hasSuffix(".xcdatamodel/contents") })
        for (position, path) in paths.enumerated() where position % 30 == 0 || !path.contains("woocommerce") {
            var findings: [Finding] = []
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            let model = try ManagedObjectModel(xmlContents: bytes, file: path, findings: &findings)
            findings = []
            let reread = try ManagedObjectModel(modelCache: model.modelCache(), findings: &findings)
            #expect(VersionHashes(of: reread) == VersionHashes(of: model), "\(path)")
            #expect(findings.isEmpty, "\(path): \(findings)")
            for (entity, other) in zip(model.entities, reread.entities) {
                #expect(entity.attributes.map(\.defaultValue) == other.attributes.map(\.defaultValue), "\(path)")
                #expect(entity.attributes.map(\.validation) == other.attributes.map(\.validation), "\(path)")
                let indexes = (model.effectiveFetchIndexes(of: entity), reread.effectiveFetchIndexes(of: other))
                #expect(indexes.0 == indexes.1, "\(path)")
            }
        }
    }

    /// Each class with each set of keys that its objects have, and the class's ancestors. An empty list counts as none:
    /// SwiftData writes one for some entities and none for others.
    private func shape(of cache: [UInt8]) throws -> Set<[String]> {
        let list = try PropertyList(parsing: RawDeflate.inflate(cache, limit: 1 << 26))
        let objects = list["$objects"]?.array ?? []
        var shape: Set<[String]> = []
        for object in objects {
            guard let fields = object.dictionary, let index = fields["$class"]?.uid else { continue }
            let ancestors = objects[index]["$classes"]?.array?.compactMap(\.string) ?? []
            if fields["NS.keys"] == nil, fields["NS.objects"]?.array?.isEmpty == true { continue }
            let keys = fields.filter { _, value in
                let object = value.uid.map { objects[$0] }
                return object?["NS.keys"] != nil || object?["NS.objects"]?.array?.isEmpty != true
            }.keys
            shape.insert(ancestors + keys.sorted())
        }
        return shape
    }
}

@Suite struct ModelArchiveTests {  // tier: long
    /// A model that says everything an archive has a place for.
    static func model() throws -> ManagedObjectModel {
        let attributes: [AttributeDescription] = [
            .init(name: "amount", type: .decimal, defaultValue: .decimal("-12.5")),
            .init(name: "blob", type: .binary, defaultValue: .binary([1, 2]), allowsExternalBinaryDataStorage: true),
            .init(name: "born", type: .date, defaultValue: .date(12.5), validation: .init(minimum: "0")),
            .init(name: "count", type: .integer64, derivation: .init(expression: "count:(parts)")),
            .init(name: "flag", type: .boolean, isOptional: false, defaultValue: .boolean(true), isIndexed: true),
            .init(name: "link", type: .uri, defaultValue: .uri("https://a.example/b")),
            .init(
                name: "name", type: .string, defaultValue: .string("ü"), preservesValueInHistoryOnDeletion: true,
                validation: .init(
                    minimum: "1", maximum: "20", regularExpression: "[a-z]*",
                    rules: [.init(predicate: "SELF CONTAINS[cd] \"x\"", warning: "No x.")]),
                renamingIdentifier: "title", versionHashModifier: "2", userInfo: ["a": "b"]),
            .init(name: "number", type: .double, defaultValue: .double(0.1), validation: .init(maximum: "1.5")),
            .init(name: "short", type: .integer16, isTransient: true, defaultValue: .integer(-3)),
            .init(name: "uuid", type: .uuid, defaultValue: .uuid(Array(0..<16)), isIndexedBySpotlight: true),
            .init(name: "value", type: .transformable, valueTransformerName: "T", attributeValueClassName: "C"),
        ]
        let whole = EntityDescription(
            name: "Whole", managedObjectClassName: "Whole", isAbstract: true, attributes: attributes,
            relationships: [
                .init(
                    name: "parts", destinationEntityName: "Part", inverseName: "whole", maxCount: 0, isOrdered: true,
                    deleteRule: .cascade)
            ],
            fetchedProperties: [
                .init(
                    name: "fans", destinationEntityName: "Part", predicate: "whole == $FETCH_SOURCE AND weight > 1 + 2",
                    options: ["fetchLimit": "3", "sortDescriptors": "descending weight compare:"])
            ],
            fetchIndexes: [
                .init(
                    name: "byName",
                    elements: [
                        .init(subject: .property("name")), .init(subject: .property("born"), isAscending: false),
                    ],
                    partialIndexPredicate: "flag == 1")
            ],
            uniquenessConstraints: [["name", "born"]], versionHashModifier: "m", userInfo: ["k": "v"])
        let part = EntityDescription(
            name: "Part", attributes: [.init(name: "weight", type: .integer32)],
            relationships: [
                .init(name: "whole", destinationEntityName: "Whole", inverseName: "parts", minCount: 1)
            ], renamingIdentifier: "Piece")
        let special = EntityDescription(
            name: "Special", superentityName: "Whole", attributes: [.init(name: "extra", type: .float)])
        return try ManagedObjectModel(
            entities: [whole, part, special], configurations: [.init(name: "Some", entityNames: ["Part", "Whole"])],
            fetchRequestTemplates: [
                .init(name: "all", entityName: "Part", predicate: "weight BETWEEN {1, 2}", options: ["resultType": "2"])
            ], versionIdentifiers: ["1", "two"])
    }

    @Test func `all that a model says comes back`() throws {
        let model = try Self.model()
        var findings: [Finding] = []
        #expect(try ManagedObjectModel(modelCache: model.modelCache(), findings: &findings) == model)
        #expect(try ManagedObjectModel(compiled: model.compiled(), findings: &findings) == model)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `a lineage without end is refused`() throws {
        let entities = (0..<5000).map {
            EntityDescription(name: "E\($0)", superentityName: $0 == 0 ? nil : "E\($0 - 1)")
        }
        #expect(throws: MigrationError.self) { try ManagedObjectModel(entities: entities) }
    }

    @Test func `mutated archives never crash`() throws {
        let model = try Self.model()
        let archive = try RawDeflate.inflate(model.modelCache(), limit: 1 << 20)
        let cache = try model.modelCache()
        for seed in UInt64(0)..<400 {
            var findings: [Finding] = []
            if let read = try? ManagedObjectModel(compiled: archive.mutated(seed: seed), findings: &findings) {
                _ = VersionHashes(of: read)
                if seed % 10 == 0 { _ = try? read.modelCache() }
            }
            _ = try? ManagedObjectModel(modelCache: cache.mutated(seed: seed), findings: &findings)
        }
    }
}

@Suite struct CompiledDefaultTests {
    static let defaults: [(AttributeType, AttributeValue, AttributeValue?)] = [
        (.boolean, .double(0), .boolean(false)),
        (.boolean, .double(1), .boolean(true)), (.boolean, .integer(1), .boolean(true)),
        (.boolean, .decimal("0"), .boolean(false)), (.boolean, .double(0.5), nil),
        (.boolean, .string("NO"), .boolean(false)),
        (.integer16, .double(3), .integer(3)), (.integer16, .integer(70_000), nil),
        (.integer32, .boolean(true), .integer(1)),
        (.integer64, .double(0.1), nil), (.double, .integer(3), .double(3)), (.double, .double(0.1), .double(0.1)),
        (.decimal, .double(0.1), .decimal("0.1")), (.decimal, .decimal("12.5"), .decimal("12.5")),
        (.string, .integer(1), nil),
    ]

    /// A compiled model keeps the kind of number that an attribute's default had before its type was changed.
    @Test(arguments: defaults)
    func `a default of another kind is read where the type holds it, and is a finding otherwise`(
        type: AttributeType, archived: AttributeValue, expected: AttributeValue?
    ) throws {
        let attribute = AttributeDescription(name: "x", type: type, defaultValue: archived)
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "A", attributes: [attribute])])
        var findings: [Finding] = []
        let reread = try ManagedObjectModel(compiled: model.compiled(), findings: &findings)
        #expect(reread.entity("A")?.attribute("x")?.defaultValue == expected)
        #expect(findings.map(\.code) == (expected == nil ? ["default-not-read"] : []))
        #expect(findings.allSatisfy { $0.place == "A.x" })
    }
}
