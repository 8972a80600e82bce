import MoultBasics
import MoultModel
import MoultObjects

/// A model in two versions, and the code that converts its objects: ``MigrationStage/transform(from:to:_:)``.
public struct ModelTransform: @unchecked Sendable {
    let old: any PersistentModel.Type
    let new: any PersistentModel.Type
    /// The versions of the two classes; nil if the classes alone identify them.
    let versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type)?
    /// Calls the code with an old and a new object; returns false if they are of other classes.
    let run: (any PersistentModel, any PersistentModel) throws -> Bool
    /// Decides the outcome of an old object; returns nil for an object of another class, and if every object becomes a
    /// new one.
    let decide: (any PersistentModel, TransformRun) throws -> Decision?

    /// A ``TransformOutcome`` without its generic type.
    enum Decision {
        case made(key: AnyHashable)
        case merged(into: any PersistentModel)
        case dropped(reason: String)
        case quarantined(reason: String)
    }

    init<Old: PersistentModel, New: PersistentModel>(
        _ old: Old.Type, _ new: New.Type,
        between versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type)? = nil,
        deciding: ((Old, TransformedModels<New>) throws -> TransformOutcome<New>)? = nil,
        _ body: @escaping (Old, New) throws -> Void
    ) {
        (self.old, self.new, self.versions) = (old, new, versions)
        run = { old, new in
            guard let old = old as? Old, let new = new as? New else { return false }
            try body(old, new)
            return true
        }
        decide = { old, run in
            guard let deciding, let old = old as? Old else { return nil }
            let known = TransformedModels<New> { run.made($0) }
            return switch try deciding(old, known).kind {
            case .made(nil): nil
            case .made(let key?): .made(key: key)
            case .merged(let model): .merged(into: model)
            case .dropped(let reason): .dropped(reason: reason)
            case .quarantined(let reason): .quarantined(reason: reason)
            }
        }
    }

    var oldName: String { Schema.entityName(for: old) }
    var newName: String { Schema.entityName(for: new) }
}

/// The outcome for an old object, decided before a new object is made from it.
public struct TransformOutcome<New: PersistentModel> {
    enum Kind {
        case made(key: AnyHashable?)
        case merged(into: New)
        case dropped(reason: String)
        case quarantined(reason: String)
    }
    let kind: Kind

    /// The old object becomes a new object.
    public static var made: TransformOutcome { TransformOutcome(kind: .made(key: nil)) }

    /// The old object becomes a new object, which ``TransformedModels`` finds by this key from then on.
    public static func made(as key: some Hashable) -> TransformOutcome {
        TransformOutcome(kind: .made(key: AnyHashable(key)))
    }

    /// The old object is merged into an object made earlier, and links to it lead there.
    public static func merged(into model: New) -> TransformOutcome { TransformOutcome(kind: .merged(into: model)) }

    /// The old object is dropped. The report counts the objects for each reason.
    public static func dropped(reason: String) -> TransformOutcome { TransformOutcome(kind: .dropped(reason: reason)) }

    /// The old object is moved to the quarantine, where it can be inspected and restored.
    public static func quarantined(reason: String) -> TransformOutcome {
        TransformOutcome(kind: .quarantined(reason: reason))
    }
}

/// The new objects of this run that were made under a key: ``TransformOutcome/made(as:)``.
public struct TransformedModels<New: PersistentModel> {
    let find: (AnyHashable) -> (any PersistentModel)?

    /// The new object made under a key in this run; nil if there is none of this class.
    public subscript(key: some Hashable) -> New? { find(AnyHashable(key)) as? New }
}

/// The values of an object of the old version while a transform runs, for reading only.
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

    /// Reports a missing or invalid value, so that a transform does not use its stand-in as real data.
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

/// The values of an object of the new version while a transform runs.
final class NewBacking: BackingData {
    let object: DestinationObject
    private let run: TransformRun
    /// The relationships that the code has set, with their destinations.
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
