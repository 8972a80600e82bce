import MoultModel

/// The values of a model that no store here has: none.
final class AbsentBacking: BackingData {
    let persistentModelID: PersistentIdentifier

    init(_ persistentModelID: PersistentIdentifier) { self.persistentModelID = persistentModelID }

    func attribute(_ key: String) -> AttributeValue? { nil }
    func setAttribute(_ key: String, _ value: AttributeValue?) {}
    func toOne(_ key: String) -> (any PersistentModel)? { nil }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {}
    func toMany(_ key: String) -> [any PersistentModel]? { [] }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {}
    func refuse(_ key: String, _ error: MigrationError) {}
}
