import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import Testing

@Suite("Mapping models that an app registers")
struct RegisteredMappingTests {
    private func versions() throws -> ModelVersions {
        func model(_ names: String...) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person", properties: names.map { AttributeDescription(name: $0, type: .string) })
            ])
        }
        return ModelVersions(
            joining: [
                ModelVersion(names: ["One"], model: try model("name", "town")),
                ModelVersion(names: ["Two"], model: try model("called", "town")),
            ], currentName: "Two")
    }

    @Test func `what a mapping leaves out is completed, and it is found by its versions' names`() throws {
        var registry = MigrationRegistry()
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [try PropertyMapping("called", "$source.name")]
        registry.register(mapping: MappingModel([person]), from: "One", to: "Two", named: "Renamed")
        let stage = try #require(try registry.stages(in: try versions()).first)
        #expect([stage.from, stage.to, stage.name] == ["One", "Two", "Renamed"])
        let mapping = try #require(stage.mapping).get()
        let sources = try #require(mapping.entityMappings.first?.attributes)
        #expect(Set(sources.keys) == ["called", "town"])
        // The plan follows it and asks nothing, where inference would have to ask for the renamed attribute.
        let plan = try MigrationPlan(try versions(), from: "One", registered: [stage])
        #expect(plan.edges.map(\.sentences) == [["The mapping model Renamed is used."]])
        #expect { try MigrationPlan(try versions(), from: "One") } throws: {
            ($0 as? MigrationError)?.code == .question
        }
    }

    @Test func `a version that there is not is named with those that there are`() throws {
        var registry = MigrationRegistry()
        registry.register(mapping: MappingModel(), from: "One", to: "Tow")
        let versions = try versions()
        #expect { try registry.stages(in: versions) } throws: { error in
            let error = error as? MigrationError
            return error?.code == .noPath && error?.place == "One to Tow"
                && error?.remedy == "The versions are: One, Two."
        }
    }
}
