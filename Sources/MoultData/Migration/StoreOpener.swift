import MoultBasics
package import MoultCoreData
import MoultModel
import MoultObjects
import MoultPlan
import MoultSession
import MoultStore

/// Opens the stores of a container. Makes a store if there is none, and migrates an earlier version along the plan.
///
/// The store's hashes identify its version before anything is opened for writing. A migration makes a backup, verifies
/// its result and takes effect in one commit. It works on a copy only if code runs or a table is rebuilt.
package struct StoreOpener {
    /// The schema's model with its configurations. All stores of a container are opened with it.
    package let model: MoultModel.ManagedObjectModel
    /// Called often during a migration, on the thread that opens the store.
    package var onProgress: (@Sendable (MigrationProgress) -> Void)?
    /// Called often; returning true ends the migration with the error `cancelled` and leaves the store unchanged.
    package var isCancelled: (@Sendable () -> Bool)?
    /// Receives the start and the end of a migration.
    var logger: (any MigrationLogging)?
    /// The system below the files beside SQLite's.
    package var system: any System = POSIXSystem()
    /// Whether a migration runs on one thread, so that it makes the same calls in the same order each time.
    package var isSequential = false
    /// The resolved plan; nil if there is none.
    private var plan: ResolvedPlan?
    /// The models by their names.
    private let types: [String: any PersistentModel.Type]
    private var registry = MoultObjects.MigrationRegistry()
    /// Receives the losses of a migration.
    private var onLosses: (@Sendable ([MigrationLoss]) -> Void)?

    /// - Parameters:
    ///   - configurations: the entities of each of several stores, by name; empty if one store holds all entities.
    ///   - store: the URL of the store, if there is only one, for counting the rows that conflict with the plan.
    /// - Throws: `modelInvalid` for the first fault of the models; `stagesInvalid` with every fault of the plan, such
    ///   as models that match none of its versions.
    package init(
        schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil, configurations: [String: Set<String>] = [:],
        store: URL? = nil
    ) throws {
        model = try schema.managedObjectModel().holding(configurations)
        types = schema.types
        guard let plan else { return }
        var resolved = ResolvedPlan(plan, holding: configurations)
        resolved.checkDrift(of: schema)
        if let error = resolved.error, !resolved.faults.isEmpty {
            throw store.flatMap(resolved.error(countedIn:)) ?? error
        }
        registry.add(resolved)
        nonisolated(unsafe) let given = plan
        onLosses = { given.didLose($0) }
        self.plan = resolved
    }

    /// Opens a store, making it if there is none.
    ///
    /// - Parameters:
    ///   - url: the store; nil or `/dev/null` for a store in memory.
    ///   - configuration: the name of one of the configurations; nil if the store holds all entities.
    /// - Returns: the store, which stays open until you close it; pass its `store` to a coordinator.
    /// - Throws: `storeUnknown` for a store that matches no version; `incompatibleVersion` for a store of a later version;
    ///   `storeAhead` or `migrationRequired` for one of another version that is opened for reading only; `noPath`,
    ///   `cannotInfer`, `dataConflict` or `stageFailed` if the plan cannot migrate it; `locked` if another process is
    ///   using it.
    package func open(
        at url: URL?, configuration: String? = nil, isReadOnly: Bool = false, _ run: RunOptions = RunOptions()
    ) throws -> MoultCoreData.PersistentStore {
        var opening = try opening(at: url, configuration: configuration, isReadOnly: isReadOnly, run)
        do {
            guard let logged = logger.map(LoggedOpening.init) else { return try opening.open() }
            if plan?.error == nil { opening.willMigrate = logged.begin }
            return try logged.run(losses: { Self.lastLosses(of: url) }, { try opening.open() })
        } catch var error as MoultBasics.MigrationError where error.code == .storeAhead && !isReadOnly {
            // An earlier store would have been migrated, so this one is of a later version.
            error.code = .incompatibleVersion
            throw error
        }
    }

    private static func lastLosses(of url: URL?) -> [MigrationLoss] {
        url.flatMap { try? MigrationHistory(storeAt: $0).events().last }?.losses ?? []
    }

    /// Returns a loader for a store, which migrates an earlier version first.
    func opening(at url: URL?, configuration: String?, isReadOnly: Bool, _ run: RunOptions) throws -> StoreLoader {
        var options = try StoreOptions(nil, migratesByDefault: true)
        (options.isReadOnly, options.tracksHistory, options.run) = (isReadOnly, true, run)
        // Apps that share a store with SwiftData declare it, and `Schema.checkMappings()` refuses uncertain mappings.
        options.run.isExperimental = true
        let isInMemory = url.map { $0.path == URL.inMemory.path } ?? true
        var opening = StoreLoader(
            model: model, versions: plan.map { ModelVersions(versions: $0.versions) }, url: url,
            type: isInMemory ? .inMemory : .sqlite, configuration: configuration, options: options)
        (opening.system, opening.isSequential) = (system, isSequential)
        (opening.migration.registry, opening.migration.onLosses) = (registry, onLosses)
        (opening.migration.onProgress, opening.migration.isCancelled) = (onProgress, isCancelled)
        opening.words = ConfigurationWords()
        if let error = plan?.error { opening.willMigrate = { _, _ in throw error } }
        if let plan {
            opening.adopting = { [name = plan.name] in
                try UnknownStore($0, configuration: configuration).versions(adoptedBy: $1, of: name)
            }
        } else {
            opening.checkValues = { [types] in try StoredJSON.check($0, against: types) }
        }
        return opening
    }
}

/// The wording of remedies for a store with a ``ModelConfiguration``.
package struct ConfigurationWords: RemedyWords {
    package init() {}

    /// The advice for a store of another app.
    static let ofAnotherApp =
        "If the store is another app's, give the ModelConfiguration a name or a URL of its own."
    private static let writingPlan =
        "Otherwise open the store with a SchemaMigrationPlan that has its models as a VersionedSchema, and there answer in "
        + "`answers`, or keep the values by a .transform or a custom stage."

    private static let words = SwiftWords(
        functions: [
            .rollback: "BackupManager(storeAt:).restore(_:)", .restoreBackup: "BackupManager(storeAt:).restore(_:)",
            .makeBackup: "BackupManager(storeAt:).createBackup()", .listBackups: "BackupManager(storeAt:).backups()",
            .verifyBackups: "BackupManager(storeAt:).verify(_:)", .runs: "MigrationHistory(storeAt:).events()",
        ])

    package func text(_ action: Remedy.Action) -> String { Self.words.text(action) }

    package func text(_ setting: Remedy.Setting) -> String { SwiftWords().text(setting) }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "set allowsCloudKitMigration of the ModelConfiguration"
        case .losses(let places):
            "\(Self.ofAnotherApp) If a model is missing, add it to the container. Otherwise add the models of the store's "
                + "version to a SchemaMigrationPlan, or accept the loss: acceptedLosses = \(places.swiftLiteral) of the "
                + "ModelConfiguration."
        case .configuration, .loss, .clearing, .code: SwiftWords().text(permission)
        }
    }

    package func remedy(for code: MigrationError.Code) -> Remedy? {
        switch code {
        case .question: "If it was renamed, give it an originalName. \(Self.writingPlan)"
        case .cannotInfer: "Make these changes inferable. \(Self.writingPlan)"
        default: nil
        }
    }
}
