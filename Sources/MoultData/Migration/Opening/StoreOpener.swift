package import MoultCoreData
import MoultEngine
import MoultModel
import MoultReport
import MoultSystem
import MoultTransform

/// Opens the stores of a container: makes one where there is none, and brings one of an earlier version along the plan.
///
/// The store is recognised by its hashes before anything is opened for writing; a migration is backed up, works on a
/// copy, is verified, and is one commit.
package struct StoreOpener {
    /// The model of the schema, with the configurations; all stores of a container are opened with it.
    package let model: MoultModel.ManagedObjectModel
    /// Told often while a store is migrated, on the thread that opens it.
    package var onProgress: (@Sendable (MigrationProgress) -> Void)?
    /// Asked often; true ends a migration with the error `cancelled`, and the store as it was.
    package var isCancelled: (@Sendable () -> Bool)?
    /// Told of a migration's start and end.
    var logger: (any MigrationLogging)?
    var system: any System = POSIXSystem()
    /// Nil without a plan.
    private var plan: ResolvedPlan?
    /// The models by their names.
    private let types: [String: any PersistentModel.Type]
    private var registry = MoultTransform.MigrationRegistry()
    /// Told what a migration has deleted.
    private var onLosses: (@Sendable ([MigrationLoss]) -> Void)?

    /// - Parameters:
    ///   - configurations: which entities each of several stores holds, by name; empty where one store holds all.
    ///   - store: where the only store may lie, to count what stands in the way of the plan.
    /// - Throws: `modelInvalid` for the first fault of the models; `stagesInvalid` with every fault of the plan, such
    ///   as models that are none of its versions.
    package init(
        schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil, configurations: [String: Set<String>] = [:],
        store: URL? = nil
    ) throws {
        model = try schema.managedObjectModel().holding(configurations)
        types = schema.types
        guard let plan else { return }
        var resolved = ResolvedPlan(plan, holding: configurations)
        resolved.checkDrift(of: schema)
        if let error = resolved.error { throw store.flatMap(resolved.error(countedIn:)) ?? error }
        registry.add(resolved)
        nonisolated(unsafe) let given = plan
        onLosses = { given.didLose($0) }
        self.plan = resolved
    }

    /// Opens a store, or makes it.
    ///
    /// - Parameters:
    ///   - url: nil or `/dev/null` for a store in memory.
    ///   - configuration: one of the configurations given; nil if the store holds all entities.
    /// - Returns: the open store; it stays open until it is closed, and `store` of it is what a coordinator takes.
    /// - Throws: `storeUnknown` for a store of no version; `storeAhead` for one of a later version, or one that is to
    ///   be migrated and only opened for reading; `noPath`, `cannotInfer`, `dataConflict`, `stageFailed` if the plan
    ///   does not bring it here; `locked` where somebody else has it.
    package func open(
        at url: URL?, configuration: String? = nil, isReadOnly: Bool = false,
        _ run: RunOptions = RunOptions()
    ) throws -> MoultCoreData.PersistentStore {
        var opening = try opening(
            at: url, configuration: configuration, isReadOnly: isReadOnly, run)
        do {
            guard let logged = logger.map(LoggedOpening.init) else { return try opening.open() }
            if plan?.missingStages == nil { opening.willMigrate = logged.begin }
            return try logged.run(losses: { Self.lastLosses(of: url) }, { try opening.open() })
        } catch var error as MoultModel.MigrationError where error.code == .storeAhead && !isReadOnly {
            // What is behind is migrated: it is of a later version.
            error.code = .incompatibleVersion
            throw error
        }
    }

    private static func lastLosses(of url: URL?) -> [MigrationLoss] {
        url.flatMap { try? MigrationHistory(storeAt: $0).events().last }?.losses ?? []
    }

    /// Returns the opening of a store, which migrates it first where it is behind.
    func opening(
        at url: URL?, configuration: String?, isReadOnly: Bool, _ run: RunOptions
    ) throws -> StoreOpening {
        var options = try StoreOptions(nil, migratesByDefault: true)
        (options.isReadOnly, options.tracksHistory, options.run) = (isReadOnly, true, run)
        // Who shares a store with SwiftData says so, and is refused what is uncertain (`Schema.checkMappings()`).
        options.run.isExperimental = true
        let isInMemory = url.map { $0.path == "/dev/null" } ?? true
        var opening = StoreOpening(
            model: model, versions: plan.map { ModelVersions(versions: $0.versions) }, url: url,
            type: isInMemory ? .inMemory : .sqlite, configuration: configuration, options: options)
        opening.system = system
        (opening.migration.registry, opening.migration.onLosses) = (registry, onLosses)
        (opening.migration.onProgress, opening.migration.isCancelled) = (onProgress, isCancelled)
        opening.words = ConfigurationWords()
        if let error = plan?.missingStages { opening.willMigrate = { _, _ in throw error } }
        if let plan {
            opening.adopting = {
                try UnknownStore($0, configuration: configuration).versions(adoptedBy: $1, of: plan.name)
            }
        } else {
            opening.checkValues = { [types] in try StoredJSON.check($0, against: types) }
        }
        return opening
    }
}
