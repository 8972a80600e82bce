import MoultModel
import MoultTransform

/// The values of an object of the new version, while a transform runs.
final class NewBacking: BackingData {
    let object: DestinationObject
    private let run: TransformRun
    /// The relationships that were set, with what they were led to.
    private(set) var relationships: [String: [DestinationObject]] = [:]

    init(_ object: DestinationObject, _ run: TransformRun) {
        self.object = object
        self.run = run
    }

    var persistentModelID: PersistentIdentifier { PersistentIdentifier(object.objectID) }

    func attribute(_ key: String) -> AttributeValue? { object[key] }
    func setAttribute(_ key: String, _ value: AttributeValue?) { object[key] = value }

    func toOne(_ key: String) -> (any PersistentModel)? { object.object(key).flatMap(run.model) }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) {
        run.noting {
            let destination = try model.map(run.object)
            object.setObject(destination, for: key)
            relationships[key] = [destination].compactMap(\.self)
        }
    }

    func toMany(_ key: String) -> [any PersistentModel]? { object.objects(key).compactMap(run.model) }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) {
        run.noting {
            let destinations = try (models ?? []).map(run.object)
            object.setObjects(destinations, for: key)
            relationships[key] = destinations
        }
    }

    func refuse(_ key: String, _ error: MigrationError) { run.note(error) }
}
