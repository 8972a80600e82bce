import MoultModel
import Testing

@Suite struct ModelVersionsTests {
    private func version(_ name: String, _ attributes: [String], defaultValue: AttributeValue? = nil) throws
        -> ModelVersion
    {
        let entity = EntityDescription(
            name: "A",
            attributes: attributes.map { AttributeDescription(name: $0, type: .string, defaultValue: defaultValue) })
        return ModelVersion(names: [name], model: try ManagedObjectModel(entities: [entity]))
    }

    @Test func `versions with equal hashes are one node with the newest one's model`() throws {
        let versions = try ModelVersions(joining: [
            version("1", ["x"]), version("2", ["x"], defaultValue: .string("d")), version("3", ["x", "y"]),
        ])
        #expect(versions.versions.map(\.names) == [["2", "1"], ["3"]])
        #expect(versions.versions[0].model.entities[0].attributes[0].defaultValue == .string("d"))
        #expect(versions.position(named: "1") == 0)
    }

    @Test func `a version that comes back stands where it came back`() throws {
        let versions = try ModelVersions(joining: [version("1", ["x"]), version("2", ["x", "y"]), version("3", ["x"])])
        #expect(versions.versions.map(\.names) == [["2"], ["3", "1"]])
    }
}
