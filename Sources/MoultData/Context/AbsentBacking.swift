import MoultModel

/// The values of a model that no store here has, none or those that were kept of it.
final class AbsentBacking: BackingData {
    let persistentModelID: PersistentIdentifier
    private let kept: [String: AttributeValue]

    init(_ persistentModelID: PersistentIdentifier, _ kept: [String: AttributeValue] = [:]) {
        self.persistentModelID = persistentModelID
        self.kept = kept
    }

    /// Values of which it does not matter whose they are.
    convenience init(_ kept: [String: AttributeValue]) {
        self.init(PersistentIdentifier(ObjectID(temporary: 0, entityName: "")), kept)
    }

    func attribute(_ key: String) -> AttributeValue? { kept[key] }
    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func toOne(_ key: String) -> (any PersistentModel)? { nil }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func toMany(_ key: String) -> [any PersistentModel]? { [] }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}
}
