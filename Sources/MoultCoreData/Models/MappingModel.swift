import MoultModel
import MoultPlan

/// How the objects of one version of a model become the objects of another: `NSMappingModel`.
public struct MappingModel: Sendable {
    /// Ordered by the names of the destination's entities, then the removed ones.
    public let entityMappings: [EntityMapping]

    /// The mapping that Moult would migrate by, without migrating anything.
    ///
    /// - Throws: `cannotInfer` (134190) with every change that cannot be inferred, each with its place and remedy;
    ///   `question` where the models leave open what a thing is, with every question and its answers.
    public static func inferredMappingModel(
        forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
    ) throws -> MappingModel {
        let mapping = try ResolvedMapping(
            inferring: ModelVersion(names: ["the source model"], model: source),
            to: ModelVersion(names: ["the destination model"], model: destination))
        return MappingModel(entityMappings: mapping.entityMappings.map(EntityMapping.init))
    }
}

/// How the objects of one entity become objects of another: `NSEntityMapping`.
public struct EntityMapping: Sendable, Hashable {
    /// With Core Data's numbers (`NSEntityMappingType`).
    public enum MappingType: Int, Sendable {
        case add = 2
        case remove = 3
        case copy = 4
        case transform = 5
    }

    public let mappingType: MappingType
    /// Nil for an added entity.
    public let sourceEntityName: String?
    /// Nil for a removed entity.
    public let destinationEntityName: String?
    /// Where each attribute and relationship of the destination comes from, by its name; nil for one that starts anew.
    public let propertySources: [String: String?]

    init(_ mapping: ResolvedEntityMapping) {
        sourceEntityName = mapping.sourceEntityName
        destinationEntityName = mapping.destinationEntityName
        var sources: [String: String?] = [:]
        for (name, source) in mapping.attributes {
            if case .attribute(let old, _) = source { sources[name] = .some(old) } else { sources[name] = .some(nil) }
        }
        for (name, source) in mapping.relationships {
            if case .relationship(let old) = source { sources[name] = .some(old) } else { sources[name] = .some(nil) }
        }
        propertySources = sources
        mappingType =
            switch (mapping.sourceEntityName, mapping.destinationEntityName) {
            case (nil, _): .add
            case (_, nil): .remove
            case (let old, let new): old == new && sources.allSatisfy { $0.key == $0.value } ? .copy : .transform
            }
    }

    /// As Core Data names it: `Old_to_New`.
    public var name: String { "\(sourceEntityName ?? "")_to_\(destinationEntityName ?? "")" }
}
