import MoultModel

extension Schema {
    /// The schema as the engine knows it, by its number, such as `1.0.0`.
    ///
    /// - Parameter configurations: which entities each of several stores holds, by name.
    /// - Throws: `modelInvalid` for the first fault of its models.
    func modelVersion(holding configurations: [String: Set<String>] = [:]) throws -> ModelVersion {
        ModelVersion(names: [version.description], model: try managedObjectModel().holding(configurations))
    }
}

extension ManagedObjectModel {
    /// The model with configurations of those of its entities that each of them names.
    func holding(_ configurations: [String: Set<String>]) throws -> ManagedObjectModel {
        guard !configurations.isEmpty else { return self }
        return try ManagedObjectModel(
            entities: entities,
            configurations: configurations.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, held in
                Configuration(name: name, entityNames: entities.map(\.name).filter(held.contains))
            }, versionIdentifiers: versionIdentifiers, documentAttributes: documentAttributes)
    }
}
