/// A model in two versions, with the code that stands between their objects: ``MigrationStage/transform(from:to:_:)``.
public struct ModelTransform: @unchecked Sendable {
    let old: any PersistentModel.Type
    let new: any PersistentModel.Type
    /// Nil if the two classes say which versions are meant.
    let versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type)?
    /// Calls the code with an old and a new object; false where they are of other classes.
    let run: (any PersistentModel, any PersistentModel) throws -> Bool
    /// Decides what is to become of an old object; nil for one of another class, and where every object is rebuilt.
    let decide: (any PersistentModel, TransformRun) throws -> Decision?

    /// ``TransformOutcome`` without its type.
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
        self.old = old
        self.new = new
        self.versions = versions
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
