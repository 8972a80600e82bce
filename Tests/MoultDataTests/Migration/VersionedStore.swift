import MoultData
import TestSupport

/// A store in a folder of its own, made with one version's models and opened with those of another.
final class VersionedStore {
    private let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/default.store")
    }

    var path: String { url.path }

    /// Opens the store, or makes it, and saves what `body` does.
    @discardableResult
    func open<Result>(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        _ body: (ModelContext) throws -> Result
    ) throws -> Result {
        let container = try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        let result = try body(context)
        try context.save()
        return result
    }

    /// What the sqlite3 shell prints.
    func sql(_ text: String) throws -> String { try SQLiteShell.run(path, text) }
}
