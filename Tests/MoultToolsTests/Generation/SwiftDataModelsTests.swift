import MoultData
import MoultModel
import MoultTools
import Testing

/// The classes in Generated/Fleet, as the compiler and MoultData read them.
@Suite("Generated SwiftData models") struct SwiftDataModelsTests {
    private func hashes(_ version: any VersionedSchema.Type) throws -> [String: [UInt8]] {
        let schema = Schema(versionedSchema: version)
        return VersionHashes(of: try schema.managedObjectModel()).entities
    }

    @Test func `every version has the model's hashes`() throws {
        let models = try Fleet.versions().versions
        let types: [any VersionedSchema.Type] = [FleetV1.self, FleetV2.self, FleetV3.self]
        for (model, type) in zip(models, types) {
            let made = try hashes(type)
            for (name, hash) in model.hashes.entities { #expect(made[name] == hash, "\(type).\(name)") }
            #expect(made.count == model.hashes.entities.count)
            #expect(try Coexistence(of: model).isEqual)
        }
    }

    @Test func `defaults and original names are the model's`() throws {
        let model = try Schema(versionedSchema: FleetV2.self).managedObjectModel()
        let ship = try #require(model.entity("Ship"))
        let wanted = try #require(try Fleet.model(hull: "body").entity("Ship"))
        #expect(ship.attribute("body")?.renamingIdentifier == "hull")
        for attribute in wanted.attributes where !attribute.isTransient {
            #expect(ship.attribute(attribute.name)?.defaultValue == attribute.defaultValue, "\(attribute.name)")
        }
        #expect(ship.attribute("cache") == nil)
        #expect(ship.relationship("crew")?.deleteRule == .cascade)
        #expect(ship.fetchIndexes.count == 2)
    }

    @Test func `the plan has a stage for every edge, and lacks only the code that its comment asks for`() throws {
        #expect(FleetMigrationPlan.stages.count == FleetMigrationPlan.schemas.count - 1)
        let error = #expect(throws: (any Error).self) { try FleetMigrationPlan.validate() }
        #expect("\(String(describing: error))".contains("Ship.flag is required and has no default value"))
        let file = try #require(SwiftDataModels(Fleet.versions(), named: "Fleet").files.last?.text)
        #expect(file.contains("// Ship.flag is required and has no default value for the existing objects."))
    }

    @Test func `versions that differ only in what SwiftData does not know are one version`() throws {
        let plain = EntityDescription(name: "A", attributes: [.init(name: "x", type: .string)])
        var ordered = plain
        ordered.isAbstract = true
        let versions = try ModelVersions(versions: [
            ModelVersion(names: ["1"], model: ManagedObjectModel(entities: [plain])),
            ModelVersion(names: ["2"], model: ManagedObjectModel(entities: [ordered])),
        ])
        #expect(try SwiftDataModels(versions, named: "two").versions.map(\.name) == ["TwoV1"])
    }

    @Test func `numbers of the model are the version identifiers, if they ascend`() throws {
        func text(_ numbers: [String]) throws -> String {
            let versions = try numbers.enumerated().map { position, number in
                let attribute = AttributeDescription(name: "x\(position)", type: .string)
                return ModelVersion(
                    names: [number],
                    model: try ManagedObjectModel(
                        entities: [EntityDescription(name: "A", attributes: [attribute])],
                        versionIdentifiers: [number]))
            }
            return try SwiftDataModels(ModelVersions(versions: versions), named: "a").files.map(\.text).joined()
        }
        #expect(try text(["1.2", "1.10"]).contains("Schema.Version(1, 10, 0)"))
        #expect(try text(["1.10", "1.2"]).contains("Schema.Version(2, 0, 0)"))
        #expect(try text(["", "1"]).contains("Schema.Version(2, 0, 0)"))
    }
}
