import MoultModel
import MoultPages
import MoultSQLite
import MoultStore
import MoultSystem

/// The identity of a damaged store: its metadata and the model inside it, which tell its version. Both are read from
/// its pages: SQLite may be unable to open the store.
struct DamagedIdentity {
    private let metadata: StoreMetadata?
    private let cache: StoreModelCache?
    private let place: String

    /// - Parameters:
    ///   - path: a file without a writer.
    ///   - place: the store's own path, for names and errors.
    ///   - check: throws where the work is to end.
    /// - Throws: `notAStore` where no page is one of SQLite.
    init(
        of path: String, place: String, _ system: any System, check: @escaping () throws -> Void = {}
    ) throws {
        self.place = place
        let statements = try StoreLayout(model: ManagedObjectModel(), history: false).createStatements
        let recovery = try PageRecovery(
            path, into: ":memory:", only: Set(StoreSnapshot.coreTables), system,
            optionalTables: StoreSnapshot.historyTables, highestKey: PrimaryKeyRow.highestSQL, check: check,
            hints: { _ in PageRecovery.Hints(statements: statements, numbers: [:]) })
        try recovery.run(place: place)
        let tables = recovery.database.connection
        metadata = try? StoreMetadata(from: tables)
        cache = try? StoreModelCache(tables, columns: tables.columns(of: "Z_MODELCACHE"))
        try recovery.database.close()
    }

    /// The version, and what says so; nil where neither the metadata nor the model inside the store can be read, or where
    /// they name a version that is nowhere.
    func version(in versions: ModelVersions) -> (ModelVersion, SalvageReport.Evidence)? {
        let own = try? cache?.version(of: metadata, in: place)
        guard let hashes = metadata?.hashes ?? own?.hashes else { return nil }
        if let place = versions.place(of: hashes, identifiers: metadata?.versionIdentifiers ?? []) {
            // A store of a configuration has no tables of the other entities.
            let version = (try? place.version.held(by: hashes)) ?? place.version
            return (version, metadata?.hashes == nil ? .model : .metadata)
        }
        return own.map { (versions.position(named: $0.name) == nil ? $0 : $0.calledTheStoresOwn, .model) }
    }
}
