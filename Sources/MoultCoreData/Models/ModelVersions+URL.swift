import MoultModel

extension ModelVersions {
    /// The versions of a model that is built in code, oldest first; the last is the current one.
    public init(_ models: [(name: String, model: ManagedObjectModel)]) {
        let versions = models.map { ModelVersion(names: [$0.name], model: $0.model) }
        self.init(joining: versions, currentName: models.last?.name)
    }

    /// The version that the bundle calls current, otherwise the last; nil if it cannot be read which one is current.
    public var current: ModelVersion? {
        currentFault == nil ? currentName.flatMap { self[$0] } ?? versions.last : nil
    }

    /// The version that goes by `name`.
    public subscript(name: String) -> ModelVersion? {
        position(named: name).map { versions[$0].named(name) }
    }
}
