import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultSession
import MoultStore

/// A loader that opens one store for a coordinator. It creates the store if needed, and migrates an older one.
///
/// The store's version is determined before anything is opened for writing, so a rejected store keeps every byte.
package struct StoreLoader {
    var model: ManagedObjectModel { version.model }
    private let version: ModelVersion
    /// The versions found next to the model; nil if there is only the model.
    var versions: ModelVersions?
    let url: URL?
    let type: PersistentStore.StoreType
    let configuration: String?
    let options: StoreOptions
    /// The settings of a migration.
    package var migration = Migration()
    /// Returns the versions to use for a store whose version is unknown. By default, the store's own model, if it has
    /// one, and an inferred migration from it to the last version.
    package var adopting: (@Sendable (StoreSnapshot, ModelVersions) throws -> ModelVersions)?
    /// A closure called before any change to an older store, with the names of its version and of the target version.
    package var willMigrate: (@Sendable (_ from: String, _ to: String) throws -> Void)?
    /// A closure called with a store to be migrated, before any change to it.
    package var checkValues: (@Sendable (Connection) throws -> Void)?
    /// The wording of remedies, which tell the app how to allow a refused operation.
    package var words: any RemedyWords = DescriptionWords()
    package var system: any System = POSIXSystem()
    /// Whether a migration runs on one thread, so that it makes the same calls in the same order each time.
    package var isSequential = false
    /// Receives Core Data's messages about a migration; nil unless the program was asked for them.
    package var debug: (@Sendable (String) -> Void)? = MigrationDebug.isAsked ? MigrationDebug.say : nil

    /// The settings for migrating an older store, besides its options.
    package struct Migration {
        /// The code that the migration may need.
        package var registry = MigrationRegistry()
        /// Answers to questions of the migration, as JSON.
        var answers: Data?
        /// The task that becomes due in the commit of the migration.
        var afterMigration: (@Sendable (ManagedObjectContext) throws -> Void)?
        /// A closure called often, on the migrating thread.
        package var onProgress: (@Sendable (MigrationProgress) -> Void)?
        /// A closure called often. If it returns true, the migration fails with the error `cancelled` and leaves the
        /// store unchanged.
        package var isCancelled: (@Sendable () -> Bool)?
        /// A closure called with the losses of the migration.
        package var onLosses: (@Sendable ([MigrationLoss]) -> Void)?

        package init() {}

        init(_ state: PersistentStoreDescription.State) {
            (registry, answers) = (state.migrationRegistry, state.migrationAnswers)
            afterMigration = state.afterMigration
            (isCancelled, onLosses) = (state.isMigrationCancelled, state.migrationLosses)
            let (progress, updates) = (state.migrationProgress, state.updates)
            onProgress = { told in
                progress?(told)
                for update in updates { update.yield(told) }
            }
        }
    }

    package init(
        model: ManagedObjectModel, versions: ModelVersions?, url: URL?, type: PersistentStore.StoreType,
        configuration: String?, options: StoreOptions
    ) {
        version = ModelVersion(names: ["the container's model"], model: model)
        self.versions = versions
        self.url = url
        self.type = type
        // Core Data's name for no configuration.
        self.configuration = configuration == "PF_DEFAULT_CONFIGURATION_NAME" ? nil : configuration
        self.options = options
    }

    /// - Parameter versions: the versions that the store may have, oldest first; nil if there is only the model.
    /// - Throws: `usage` for an option that Moult does not know.
    package init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, versions: ModelVersions?
    ) throws {
        let state = description.snapshot
        var options = try StoreOptions(state.options)
        options.run.stopsAtEachVersion = state.stopsAtEachVersion
        options.run.maximumAttempts = state.maximumMigrationAttempts
        options.run.keepsBackup = state.keepsMigrationBackup
        options.run.backupFolder = state.backupFolder?.path ?? options.run.backupFolder
        options.run.retention = state.backupRetention
        options.run.comparesStores = state.validatesAfterMigration
        self.init(
            model: model, versions: versions, url: state.url, type: state.type, configuration: state.configuration,
            options: options)
        migration = Migration(state)
    }

    /// - Throws: `storeAhead`, `noPath`, `storeUnknown`, `cannotInfer`, `question` if the store does not fit the model
    ///   and cannot be migrated; `locked` if another process has it open; other errors for a damaged store.
    package func open() throws -> PersistentStore { try words.speaking(opened) }

    private func opened() throws -> PersistentStore {
        guard type == .sqlite, let url, !url.isInMemory else {
            let shared = type == .sqlite ? url.flatMap { $0.path == URL.inMemory.path ? nil : $0 } : nil
            let store = try ObjectStore(
                inMemory: model, sharedAs: shared?.path, configuration: configuration, history: options.tracksHistory)
            return PersistentStore(store, url: shared, type: .inMemory, configuration: configuration, options: options)
        }
        guard url.isFileURL else {
            throw MigrationError(
                .usage, "\(url) is not the URL of a file.", place: "\(url)", remedy: "Use URL(fileURLWithPath:).")
        }
        if try system.exists(url.path) {
            if try !fillIfEmpty(url.path) { try bringUpToDate(url.path) }
        } else {
            try options.stagedMigrationManager?.validate(model, in: versions)
            try make(url.path)
        }
        let store = try ObjectStore(
            url.path, model: model, configuration: configuration, isReadOnly: options.isReadOnly,
            busyTimeout: options.busyTimeout, on: system)
        try store.configure(options)
        return PersistentStore(store, url: url, type: .sqlite, configuration: configuration, options: options)
    }

    /// - Throws: `unsupported` if a hash would be a guess, and the options do not allow that.
    func checkHashes() throws {
        guard !options.run.isExperimental, let reason = try modelVersion().hashes.uncertain.values.min() else {
            return
        }
        throw MigrationError(
            .unsupported, "The version hash of this model is not certain: \(reason).", place: url?.path ?? "",
            remedy: "Remove the attribute, or set the option \(PersistentStoreOption.allowsUncertainVersionHashes): "
                + "then Moult writes its best guess, and Core Data may refuse to open the store.")
    }

    /// The part of the model that the store holds.
    func modelVersion() throws -> ModelVersion { try version.restricted(to: part) }

    private var part: StorePart { configuration.map(StorePart.configuration) ?? .whole }

    /// Returns the position of a store among versions, if opened with the configuration.
    private func place(of hashes: VersionHashes, _ metadata: StoreMetadata, in versions: ModelVersions) -> StorePlace? {
        versions.place(
            of: hashes, identifiers: metadata.versionIdentifiers, as: part,
            toward: target(in: versions).flatMap(versions.position(named:)))
    }
}

// MARK: - Existing stores

extension StoreLoader {
    func bringUpToDate(_ path: String) throws {
        if let session = try session(path) { _ = try run(session, .none) }
    }

    /// Examines an existing store and prepares its migration; nil if it has the model's version.
    ///
    /// - Parameter adjust: sets the options that the caller decides.
    private func session(_ path: String, _ adjust: (inout RunOptions) -> Void = { _ in }) throws -> StoreSession? {
        var run = ownOptions
        adjust(&run)
        let path = try system.resolve(path)
        if OpenStoreRegistry.shared.contains(path) {
            guard try isBehind(openStore: path) else { return nil }
            guard OpenStoreRegistry.shared.retire(path) else { throw unsaved(path) }
        }
        return try inferringIfAllowed(path) { isRecognised in
            try StoreSession(
                at: path, run, isReadOnly: options.isReadOnly, isSequential: isSequential, on: system,
                isCurrent: isCurrent
            ) { connection in
                // The snapshot gives a better error for invalid metadata.
                if let metadata = try? StoreMetadata(from: connection), try isCurrent(metadata) { return nil }
                let snapshot = try StoreSnapshot(connection)
                guard let context = try context(of: snapshot, path) else { return nil }
                try checkValues?(connection)
                let target = target(in: context.versions)
                if let willMigrate {
                    let start = place(of: snapshot.hashes, snapshot.metadata, in: context.versions)
                    try willMigrate(start?.version.name ?? "", target ?? "")
                }
                try checkHashes()
                isRecognised = true
                return (StoreRequest(path, to: target, .migrate, run), context)
            }
        }
    }

    /// Returns everything needed to migrate the store; nil if it has the model's version.
    ///
    /// - Throws: `storeAhead`, `migrationRequired` if the store must not be migrated; `storeUnknown`, `stagesInvalid`.
    private func context(of snapshot: StoreSnapshot, _ path: String) throws -> StoreSession.Context? {
        var registry = migration.registry
        let versions = try versions(for: snapshot, addingStagesTo: &registry)
        if try fits(snapshot, versions) { return nil }
        try checkMayMigrate(path, snapshot, versions)
        var context = StoreSession.Context(
            versions, answers: try migration.answers.map { try Answers(json: [UInt8]($0)) } ?? .none,
            registry: registry)
        context.losses = lossPolicy(for: snapshot, versions)
        context.part = part
        if migration.afterMigration != nil { context.metadataEntries[StoreMetadata.taskKey] = .boolean(true) }
        return context
    }

    /// Returns whether the metadata alone shows that the store has the model's version.
    private func isCurrent(_ metadata: StoreMetadata) throws -> Bool {
        guard options.stagedMigrationManager == nil, let hashes = metadata.hashes,
            hashes.fits(try modelVersion().hashes)
        else { return false }
        let known = knownVersions
        return place(of: hashes, metadata, in: known) != nil && !isBehindByName(hashes, metadata, known)
    }

    private func fits(_ snapshot: StoreSnapshot, _ versions: ModelVersions) throws -> Bool {
        try snapshot.hashes.fits(modelVersion().hashes)
            && !isBehindByName(snapshot.hashes, snapshot.metadata, versions)
    }

    /// Returns whether the metadata shows an earlier one of several versions with the same hashes as the model.
    private func isBehindByName(_ hashes: VersionHashes, _ metadata: StoreMetadata, _ versions: ModelVersions) -> Bool {
        guard let position = place(of: hashes, metadata, in: versions)?.position,
            let target = target(in: versions).flatMap(versions.position(named:))
        else { return false }
        return position < target
    }

    /// Examines a store that this process already has open, through SQLite.
    ///
    /// - Throws: any error about the store's version, before its other users in this process are affected.
    private func isBehind(openStore path: String) throws -> Bool {
        let connection = try Connection(path, mode: .readOnly, busyTimeout: options.busyTimeout)
        defer { connection.close() }
        if try isCurrent(StoreMetadata(from: connection)) { return false }
        guard let context = try context(of: StoreSnapshot(connection), path) else { return false }
        let session = try inferringIfAllowed(path) { isRecognised in
            isRecognised = true
            return try StoreSession(
                overOpen: connection, StoreRequest(path, to: target(in: context.versions), .migrate, ownOptions),
                context, on: system)
        }
        try session?.checkFirstLosses()
        return true
    }

    private func unsaved(_ path: String) -> MigrationError {
        MigrationError(
            .locked,
            "The store is of another version of the model, and a context of this process has unsaved changes in it.",
            place: path, remedy: "Save them or roll them back; then the store can be migrated.")
    }

    /// Returns the versions to migrate through, and adds their stages to the registry.
    ///
    /// - Throws: `stagesInvalid`, listing every problem with the stages.
    private func versions(
        for snapshot: StoreSnapshot, addingStagesTo registry: inout MigrationRegistry
    ) throws -> ModelVersions {
        guard let manager = options.stagedMigrationManager else { return try versions(for: snapshot) }
        let chain = try StageChain(
            manager.stages, model: model, versions: versions?.versions ?? [], carried: snapshot.cachedModel)
        let staged = chain.registry(of: manager)
        registry.stages += staged.stages
        registry.steps.merge(staged.steps) { $1 }
        return ModelVersions(versions: chain.versions)
    }

    /// The versions next to the model, including the model itself.
    private var knownVersions: ModelVersions {
        var list = versions?.versions ?? []
        if !list.contains(where: { $0.hashes.isCompatible(with: version.hashes) }) { list.append(version) }
        return ModelVersions(versions: list)
    }

    /// Returns the versions next to the model. If the store's version is not among them, the model stored in it is
    /// inserted before the current one.
    private func versions(for snapshot: StoreSnapshot) throws -> ModelVersions {
        let known = knownVersions
        guard place(of: snapshot.hashes, snapshot.metadata, in: known) == nil else { return known }
        if let adopting { return try adopting(snapshot, known) }
        var list = known.versions
        if let cached = snapshot.cachedModel {
            let own = ModelVersion(names: [Self.ownModel], model: cached)
            if ModelVersions(versions: [own]).place(of: snapshot.hashes, as: part) != nil {
                try checkIsRelated(own.held(by: snapshot.hashes).model)
                list.insert(own, at: max(list.count - 1, 0))
            }
        }
        return ModelVersions(versions: list)
    }

    /// The name for the version known only from the store.
    private static let ownModel = "the store's own model"

    /// Returns the policy for losses. Data that the app's own versions omit is deleted, as in Core Data. If the older
    /// version is known only from the store, no loss is accepted implicitly: the store may belong to another app, or
    /// the list of models may be incomplete.
    private func lossPolicy(for snapshot: StoreSnapshot, _ versions: ModelVersions) -> LossPolicy {
        let start = place(of: snapshot.hashes, snapshot.metadata, in: versions)
        return start?.version.name == Self.ownModel ? .refuseUndeclared : .asTheVersionsSay(holdsOthers: true)
    }

    /// Checks that the store has an entity in common with the model. Otherwise it belongs to another app, or the path
    /// is wrong, and a migration inferred from its own model would drop everything.
    private func checkIsRelated(_ cached: ManagedObjectModel) throws {
        let theirs = Set(cached.entities.map(\.name))
        let ours = try modelVersion().model.entities
        if theirs.isEmpty
            || ours.contains(where: { theirs.contains($0.name) || theirs.contains($0.renamingIdentifier ?? $0.name) })
        {
            return
        }
        throw MigrationError(
            .storeUnknown,
            "The store contains \(theirs.sorted().joined(separator: ", ")), and nothing of "
                + "\(ours.map(\.name).sorted().joined(separator: ", ")): its migration would drop everything.",
            place: url?.path ?? "",
            remedy: "Check the path; or open the store with a plan, or with the versions of its model.")
    }

    /// Returns the version with the model's hashes. If there are several, it is the one with the model's identifiers,
    /// or else the last.
    private func target(in versions: ModelVersions) -> String? {
        let same = versions.versions.filter { $0.hashes.isCompatible(with: version.hashes) }
        return (same.last { $0.model.versionIdentifiers == model.versionIdentifiers } ?? same.last)?.name
    }

    private func checkMayMigrate(_ path: String, _ snapshot: StoreSnapshot, _ versions: ModelVersions) throws {
        let status = try VersionStatus(
            of: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers, in: versions,
            target: target(in: versions), as: part)
        let code: MigrationError.Code = if case .behind = status { .migrationRequired } else { .storeAhead }
        if options.isReadOnly {
            throw MigrationError(
                code, "\(status.sentence) It is opened for reading only, so it cannot be migrated.",
                place: path, remedy: "Open it for writing, or with the model of its version.")
        }
        if !options.migrates {
            throw MigrationError(
                code, status.sentence, place: path,
                remedy: "Set \(PersistentStoreOption.migratePersistentStoresAutomatically) to true to migrate it, "
                    + "or open it with the model of its version.")
        }
    }

    /// Plans the migration, using only registered mappings if inference is off.
    ///
    /// - Parameter plan: sets the flag once the store is recognised; later errors concern the plan.
    /// - Throws: `noPath` if inference is off and a version on the path has no registered mapping.
    private func inferringIfAllowed(
        _ path: String, _ plan: (_ isRecognised: inout Bool) throws -> StoreSession?
    ) throws -> StoreSession? {
        var isRecognised = false
        do {
            guard let session = try plan(&isRecognised) else { return nil }
            let inferred = session.prepared.plan.edges.first(where: \.isInferable)
            if !options.infers, let inferred { throw notInferred(path, from: inferred.from, to: inferred.to) }
            return session
        } catch var error as MigrationError where isRecognised {
            if !options.infers, [.question, .cannotInfer].contains(error.code) {
                throw notInferred(path, cause: error.message)
            }
            if let remedy = words.remedy(for: error.code) { error.advice = remedy }
            throw error
        }
    }

    private func notInferred(_ path: String, from: String, to: String) -> MigrationError {
        MigrationError(
            .noPath, "No mapping from \(from) to \(to) is registered, and inference is off.", place: path,
            remedy: "Register a mapping from \(from) to \(to), or set "
                + "\(PersistentStoreOption.inferMappingModelAutomatically) to true.")
    }

    private func notInferred(_ path: String, cause: String) -> MigrationError {
        MigrationError(
            .noPath, "Some changes on the way have no registered mapping, and inference is off.", place: path,
            remedy: "Register a mapping for each change that has none, or set "
                + "\(PersistentStoreOption.inferMappingModelAutomatically) to true.", cause: cause)
    }
}

extension StoreLoader: LaunchedStore {
    package var path: String { url?.path ?? "" }
    /// The options of a run, with the time to wait for other processes.
    package var ownOptions: RunOptions {
        var run = options.run
        run.patience = options.patience
        return run
    }

    package func session(on system: any System, _ adjust: (inout RunOptions) -> Void) throws -> StoreSession? {
        guard type == .sqlite, url?.isInMemory != true, try !isToBeFilled(path) else { return nil }
        var loader = self
        loader.system = system
        return try loader.session(path, adjust)
    }

    package func run(_ session: StoreSession, _ observer: MigrationObserver) throws -> MigrationReport {
        let own = MigrationObserver(
            telling: migration.onProgress ?? { _ in }, isCancelled: migration.isCancelled ?? { false })
        var both = observer
        both.onProgress = { [tell = observer.onProgress] in
            own.onProgress($0)
            tell($0)
        }
        both.isCancelled = { [isCancelled = observer.isCancelled] in own.isCancelled() || isCancelled() }
        let report = try printingMessages(of: session, both)
        if !report.losses.isEmpty { migration.onLosses?(report.losses) }
        return report
    }
}

extension StoreLoader {
    /// Runs a migration, and prints Core Data's messages about it if the program was asked for them.
    private func printingMessages(
        of session: StoreSession, _ observer: MigrationObserver
    ) throws -> MigrationReport {
        guard let say = debug else { return try session.run(observer) }
        say("Migrating from version \(session.from) to version \(session.to)")
        var observer = observer
        observer.onProgress = { [tell = observer.onProgress] progress in
            if let message = progress.message { say(message) }
            tell(progress)
        }
        do {
            let report = try session.run(observer)
            say("Completed successfully")
            return report
        } catch {
            say("Failed: \(error)")
            throw error
        }
    }
}

extension URL {
    /// The URL of a store in memory.
    package static let inMemory = URL(fileURLWithPath: "/dev/null")

    /// Whether a store at the URL is in memory: at `/dev/null`, or at a name below it, which the process shares.
    package var isInMemory: Bool { path == Self.inMemory.path || path.hasPrefix(Self.inMemory.path + "/") }
}

extension StoreMetadata {
    static let taskKey = "MoultAfterMigration"

    /// Whether the task that runs once after a migration is still due.
    var isTaskDue: Bool {
        get { entries[Self.taskKey]?.boolean ?? false }
        set { entries[Self.taskKey] = newValue ? .boolean(true) : nil }
    }
}

extension VersionHashes {
    /// Returns whether a store with these hashes can be opened with a model with the other hashes. Uncertain hashes are
    /// not compared.
    func fits(_ expected: VersionHashes) -> Bool {
        guard Set(entities.keys) == Set(expected.entities.keys) else { return false }
        return entities.allSatisfy { entry in
            expected.entities[entry.key] == entry.value || expected.uncertain[entry.key] != nil
        }
    }
}
