import MoultModel

@testable import MoultPlan

/// Short words for small models, so that a test shows input beside expectation.
func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
    ModelVersion(names: [name], model: try ManagedObjectModel(entities: entities))
}

func entity(
    _ name: String, _ attributes: [AttributeDescription] = [], _ relationships: [RelationshipDescription] = [],
    parent: String? = nil, isAbstract: Bool = false, was identifier: String? = nil
) -> EntityDescription {
    EntityDescription(
        name: name, isAbstract: isAbstract, superentityName: parent, attributes: attributes,
        relationships: relationships, renamingIdentifier: identifier)
}

func attribute(
    _ name: String, _ type: AttributeType = .string, required: Bool = false, default value: AttributeValue? = nil,
    was identifier: String? = nil
) -> AttributeDescription {
    AttributeDescription(
        name: name, type: type, isOptional: !required, defaultValue: value, renamingIdentifier: identifier)
}

func toOne(
    _ name: String, _ destination: String, inverse: String? = nil, required: Bool = false, was identifier: String? = nil
) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationEntityName: destination, inverseName: inverse, isOptional: !required,
        renamingIdentifier: identifier)
}

func toMany(
    _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false, required: Bool = false,
    minCount: Int = 0, was identifier: String? = nil
) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationEntityName: destination, inverseName: inverse, isOptional: !required, maxCount: 0,
        minCount: minCount, isOrdered: ordered, renamingIdentifier: identifier)
}

/// What inference makes of two versions named V1 and V2.
func infer(
    _ before: [EntityDescription], _ after: [EntityDescription], _ answers: [Answer] = []
) throws -> InferredMapping {
    try InferredMapping(correspond(before, after, answers))
}

func correspond(
    _ before: [EntityDescription], _ after: [EntityDescription], _ answers: [Answer] = []
) throws -> EntityMatching {
    try EntityMatching(
        from: ModelVersion(names: ["V1"], model: ManagedObjectModel(entities: before)),
        to: ModelVersion(names: ["V2"], model: ManagedObjectModel(entities: after)), answers: Answers(answers))
}

func differences(
    _ before: [EntityDescription], _ after: [EntityDescription], _ answers: [Answer] = []
) throws -> ModelDiff {
    ModelDiff(try correspond(before, after, answers))
}

func answer(_ entity: String, _ property: String? = nil, _ verdict: Answer.Verdict, old: String? = nil) -> Answer {
    Answer(from: "V1", to: "V2", entity: entity, property: property, is: verdict, old: old)
}
