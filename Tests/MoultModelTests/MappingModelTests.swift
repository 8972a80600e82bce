import MoultBasics
import MoultModel
import Testing

/// Mapping models made in code.
struct MappingModelTests {
    private func version(_ name: String, _ entities: [EntityDescription]) throws -> ModelVersion {
        ModelVersion(names: [name], model: try ManagedObjectModel(entities: entities))
    }

    private func text(_ name: String) -> AttributeDescription { AttributeDescription(name: name, type: .string) }

    private func links(_ name: String, to entity: String, _ inverse: String? = nil) -> RelationshipDescription {
        RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 0)
    }

    @Test func `what an author leaves out is filled in, and what he says stays`() throws {
        let old = try version(
            "1",
            [
                EntityDescription(
                    name: "Boat", attributes: [text("name"), text("port")],
                    relationships: [links("crew", to: "Sailor"), links("things", to: "Thing")]),
                EntityDescription(name: "Sailor", attributes: [text("name")]),
                EntityDescription(name: "Thing", isAbstract: true),
                EntityDescription(name: "Rope", superentityName: "Thing"),
                EntityDescription(name: "Sail", superentityName: "Thing"),
                EntityDescription(name: "Raft"),
            ])
        let new = try version(
            "2",
            [
                EntityDescription(
                    name: "Ship", attributes: [text("harbour"), text("name"), text("port")],
                    relationships: [
                        links("crew", to: "Sailor"), links("guests", to: "Sailor"), links("things", to: "Thing"),
                    ]),
                EntityDescription(name: "Sailor", attributes: [text("age"), text("name")]),
                EntityDescription(name: "Thing", isAbstract: true),
                EntityDescription(name: "Rope", superentityName: "Thing"),
                EntityDescription(name: "Sail", superentityName: "Thing"),
                EntityDescription(name: "Harbour"),
            ])
        var ship = EntityMapping(from: "Boat", to: "Ship")
        ship.attributeMappings = [
            try PropertyMapping("harbour", "$source.port"), PropertyMapping("port"),
        ]
        let mapping = MappingModel([
            ship, EntityMapping(from: "Sailor", to: "Sailor"), EntityMapping(from: "Rope", to: "Rope"),
            EntityMapping(from: "Sail", to: "Sail"), EntityMapping(adding: "Harbour"),
            EntityMapping(removing: "Raft"),
        ]).completed(from: old, to: new)

        #expect(mapping.entityMappings.map(\.type) == [.transform, .copy, .copy, .copy, .add, .remove])
        let made = try #require(mapping["BoatToShip"])
        #expect(made.sourceEntityVersionHash == old.hashes.entities["Boat"])
        #expect(made.destinationEntityVersionHash == new.hashes.entities["Ship"])
        #expect(
            made.attributeMappings.map { "\($0.name) = \($0.valueExpression?.format ?? "-")" }
                == ["harbour = $source.port", "name = $source.name", "port = -"])
        let named = "destinationInstancesForEntityMappingNamed:sourceInstances:"
        let any = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
        #expect(
            made.relationshipMappings.map { "\($0.name) = \($0.valueExpression?.format ?? "-")" } == [
                "crew = FUNCTION($manager, \"\(named)\", \"SailorToSailor\", $source.crew)", "guests = -",
                "things = FUNCTION($manager, \"\(any)\", \"things\", $source.things)",
            ])
        #expect(mapping["RaftTo"]?.destinationEntityVersionHash == nil)
        #expect(mapping["Harbour"]?.sourceExpressionFormat == nil)
    }

    @Test func `an expression that is none names the property`() throws {
        let error = #expect(throws: MigrationError.self) { try PropertyMapping("title", "$source.") }
        #expect(error?.place.hasPrefix("title: ") == true)
    }
}
