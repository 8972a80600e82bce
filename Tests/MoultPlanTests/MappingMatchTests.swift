import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import TestSupport
import Testing

/// Which versions a mapping model fits, and what it leaves out.
struct MappingMatchTests {
    private func version(_ name: String, _ entities: [String: [String]]) throws -> ModelVersion {
        let descriptions = entities.map { name, attributes in
            EntityDescription(name: name, attributes: attributes.map { AttributeDescription(name: $0, type: .string) })
        }
        return ModelVersion(names: [name], model: try ManagedObjectModel(entities: descriptions))
    }

    @Test(
        .enabled(if: Corpus.isWhole),
        arguments: [
            ("/Moody 2-Moody 3.xcmappingmodel", "/Migrations/Moody.xcdatamodeld", "Moody 2 Moody 3"),
            ("/Moody 3-Moody 4.xcmappingmodel", "/Migrations/Moody.xcdatamodeld", "Moody 3 Moody 4"),
            ("/Moody 4-Moody 5.xcmappingmodel", "/Migrations/Moody.xcdatamodeld", "Moody 4 Moody 5"),
            ("/Moody 5-Moody 6.xcmappingmodel", "/Migrations/Moody.xcdatamodeld", "Moody 5 Moody 6"),
            (
                "/Migration2to3ModelMapping.xcmappingmodel", "/CoreDataMigration_Example.xcdatamodeld",
                "CoreDataMigration_Example 2 CoreDataMigration_Example 3"
            ),
            ("/Fixtures/V2toV3.cdm", "/SampleModel.xcdatamodeld", "SampleModel2 SampleModel3"),
            ("/V2toV3.xcmappingmodel", "/SampleModel.xcdatamodeld", "SampleModel2 SampleModel3"),
        ])
    func `a real mapping model fits just the versions it was made for`(
        mapping: String, model: String, expected: String
    ) throws {
        let paths = Corpus.paths { $0.hasSuffix(mapping) || $0.hasSuffix(model) && !$0.contains("/@") }
        let file = try MappingModelFile(contentsOf: try #require(paths.first { $0.hasSuffix(mapping) }))
        let versions = try Corpus.versions(try #require(paths.first { $0.hasSuffix(model) }))
        for held in [file.versions, nil] {
            let match = try MappingMatch(of: file.mapping, named: file.name, held: held, in: versions)
            let found = versions.versions[match.source].name + " " + versions.versions[match.destination].name
            #expect(found == expected)
        }
        let match = try MappingMatch(of: file.mapping, named: file.name, in: versions)
        let findings = file.mapping.findings(
            from: versions.versions[match.source].model, to: versions.versions[match.destination].model)
        // What Core Data ran cannot have errors.
        #expect(findings.filter { $0.severity == .error }.isEmpty, "\(findings)")
    }

    @Test func `where none fits, the entity whose hash differs is named, and what changed since`() throws {
        let made = try version("2", ["Boat": ["name"], "Port": []])
        let old = try version("1", ["Boat": [], "Port": []])
        let edited = try version("2", ["Boat": ["colour", "name"], "Port": []])
        let mapping = MappingModel([
            EntityMapping(from: "Boat", to: "Boat"), EntityMapping(from: "Port", to: "Port"),
        ]).completed(from: old, to: made)
        let error = #expect(throws: MigrationError.self) {
            try MappingMatch(
                of: mapping, named: "1to2", held: (old, made), in: ModelVersions(versions: [old, edited]))
        }
        #expect(error?.code == .noPath)
        let message = try #require(error?.message)
        let hashes = [edited, made].map { $0.hashes.entities["Boat"]?.base64 ?? "" }
        #expect(
            message.contains(
                "Nearest to its destination is 2: the hash of Boat is \(hashes[0]), and the mapping was made for "
                    + "\(hashes[1]), which no version has. Since then: "))
        #expect(message.contains("colour"))
        #expect(!message.contains("hash of Port"))
        #expect(!message.contains("Nearest to its source"))
    }

    @Test func `a version whose every entity is mapped is preferred, and several are a question`() throws {
        let first = try version("1", ["Boat": []])
        let second = try version("2", ["Boat": [], "Port": []])
        let third = try version("3", ["Boat": [], "Port": [], "Raft": []])
        let mapping = MappingModel([
            EntityMapping(from: "Boat", to: "Boat"), EntityMapping(adding: "Port"),
        ]).completed(from: first, to: second)
        let match = try MappingMatch(
            of: mapping, named: "1to2", in: ModelVersions(versions: [first, second, third]))
        #expect(match.source == 0 && match.destination == 1)

        let boats = MappingModel([EntityMapping(from: "Boat", to: "Boat")]).completed(from: first, to: first)
        let error = #expect(throws: MigrationError.self) {
            try MappingMatch(of: boats, named: "boats", in: ModelVersions(versions: [second, third]))
        }
        #expect(error?.code == .question)
        #expect(error?.message.contains("2 to 3, 3 to 2") == true)
    }

    @Test func `what a mapping leaves out or says wrongly is found`() throws {
        let old = try ManagedObjectModel(
            """
            Boat = name String, length Integer16
            Raft
            """)
        let new = try ManagedObjectModel(
            """
            Boat = name String required, colour String required, length String, note String, kind Integer16 required =3
            Port
            Vessel abstract
            """)
        var boat = EntityMapping(from: "Boat", to: "Boat")
        boat.attributeMappings = [
            try PropertyMapping("name", "$source.name"), try PropertyMapping("length", "$source.length"),
            try PropertyMapping("mast", "$source.name"), try PropertyMapping("note", "$source.flag"),
        ]
        let mapping = MappingModel([boat, EntityMapping(from: "Canoe", to: "Vessel")])
        let found = mapping.findings(from: old, to: new).map { "\($0.severity) \($0.code) \($0.place)" }
        #expect(
            Set(found) == [
                "error mapping-unknown-property BoatToBoat.mast", "error mapping-without-value BoatToBoat.colour",
                "note mapping-default BoatToBoat.kind", "note mapping-converts BoatToBoat.length",
                "warning mapping-may-be-nil BoatToBoat.name", "error mapping-unknown-source BoatToBoat.note",
                "error mapping-unknown-entity CanoeToVessel", "error mapping-abstract-entity CanoeToVessel",
                "warning mapping-drops-entity Raft", "note mapping-empty-entity Port",
            ])
    }
}
