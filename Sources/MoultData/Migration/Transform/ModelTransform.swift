/// A model in two versions, with the code that stands between their objects: ``MigrationStage/transform(from:to:_:)``.
public struct ModelTransform: @unchecked Sendable {
    let old: any PersistentModel.Type
    let new: any PersistentModel.Type
    /// Nil where the two classes say which versions are meant.
    let versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type)?
    /// Calls the code with an old and a new object; false where they are of other classes.
    let run: (any PersistentModel, any PersistentModel) throws -> Bool

    init<Old: PersistentModel, New: PersistentModel>(
        _ old: Old.Type, _ new: New.Type,
        between versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type)? = nil,
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
    }

    var oldName: String { Schema.entityName(for: old) }
    var newName: String { Schema.entityName(for: new) }
}
