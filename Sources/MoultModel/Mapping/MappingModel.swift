/// A mapping of the objects of one version of a model to those of another, in the words of whoever wrote it
/// (`NSMappingModel`): read from a mapping model file, or made in code.
///
/// ```swift
/// var ship = EntityMapping(from: "Boat", to: "Ship")
/// ship.attributeMappings = [try PropertyMapping("title", "$source.name")]
/// let mapping = MappingModel([ship, EntityMapping(removing: "Raft")]).completed(from: version2, to: version3)
/// ```
public struct MappingModel: Sendable, Hashable {
    /// In the order in which they run.
    public var entityMappings: [EntityMapping]

    /// A mapping model of these entity mappings, in the order in which they run.
    public init(_ entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

    /// The entity mapping of that name, by which the expressions of others refer to it.
    public subscript(name: String) -> EntityMapping? { entityMappings.first { $0.name == name } }
}

extension MappingModel {
    /// The completed mapping model, as Core Data completes one: types instead of `undefined`, version hashes, and a
    /// default expression for each property that an entity mapping does not name.
    ///
    /// To leave a property at its default value, name it with a `PropertyMapping` that has no expression.
    public func completed(from source: ModelVersion, to destination: ModelVersion) -> MappingModel {
        let defaults = MappingDefaults(from: source.model, to: destination.model, entityMappings)
        return MappingModel(
            entityMappings.map { mapping in
                var mapping = mapping
                if mapping.type == .undefined { mapping.type = defaults.type(of: mapping) }
                mapping.setVersionHashes(from: source, to: destination)
                defaults.addMissingProperties(to: &mapping)
                return mapping
            })
    }
}
