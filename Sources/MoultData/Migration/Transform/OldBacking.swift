import MoultModel
import MoultTransform

/// The values of an object of the old version, while a transform runs: to be read only.
final class OldBacking: BackingData {
    let source: SourceObject
    private let run: TransformRun

    init(_ source: SourceObject, _ run: TransformRun) {
        self.source = source
        self.run = run
    }

    var persistentModelID: PersistentIdentifier { PersistentIdentifier(source.objectID) }

    func attribute(_ key: String) -> AttributeValue? { source[key] }
    func toOne(_ key: String) -> (any PersistentModel)? { source.object(key).flatMap(run.model) }
    func toMany(_ key: String) -> [any PersistentModel]? { source.objects(key).compactMap(run.model) }

    func setAttribute(_ key: String, _ value: AttributeValue?) { refuseChange(key) }
    func setToOne(_ key: String, _ model: (any PersistentModel)?) { refuseChange(key) }
    func setToMany(_ key: String, _ models: [any PersistentModel]?) { refuseChange(key) }

    /// A value that has to be there and is not: what a transform would make of its stand-in is made up.
    func _noteUnreadable(_ key: String) {
        let place = "\(source.entityName).\(key)"
        run.note(
            MigrationError(
                .dataConflict, "The row of \(source.objectID) holds a value that \(place) cannot have.", place: place,
                remedy: "Make the property optional in the old version, or give the row a value before."))
    }

    func refuse(_ key: String, _ error: MigrationError) { run.note(error) }

    private func refuseChange(_ key: String) {
        run.note(
            MigrationError(
                .usage, "An object of the old version cannot be changed.",
                place: "\(source.entityName).\(key)", remedy: "Change the new object."))
    }
}
