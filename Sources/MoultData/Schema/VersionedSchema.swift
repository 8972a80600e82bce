/// One version of an app's models. The models lie in it, or in types that it names:
///
///     enum NotesV1: VersionedSchema {
///         static let versionIdentifier = Schema.Version(1, 0, 0)
///         static var models: [any PersistentModel.Type] { [Note.self] }
///         @Model final class Note { … }
///     }
public protocol VersionedSchema {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}
