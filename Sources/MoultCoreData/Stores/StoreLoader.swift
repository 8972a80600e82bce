import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

/// Opens one store for a coordinator: makes it, or recognises it and migrates it where it is behind.
///
/// The store is recognised before anything is opened for writing, so that one which is refused keeps every byte.
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
    /// Says, of a store that is of none of the versions, which versions to go through; the store's own model, where it
    /// carries one, and an inferred edge from it to the last version otherwise.
    package var adopting: ((StoreSnapshot, ModelVersions) throws -> ModelVersions)?
    /// Called before anything is done to a store that is behind, with the names of its version and of the one aimed at.
    package var willMigrate: ((_ from: String, _ to: String) throws -> Void)?
    /// Called with a store that is to be migrated, before anything is done to it.
    package var checkValues: ((Connection) throws -> Void)?
    /// The words of the remedies: how the app allows what is refused.
    package var words: any RemedyWords = DescriptionWords()
    package var system: any System = POSIXSystem()

    /// The settings of the migration of a store that is behind, besides its options.
    package struct Migration {
        /// The code that the migration may need.
        package var registry = MigrationRegistry()
        /// Answers to the questions that it may ask, as JSON.
        var answers: Data?
        /// The task that is due from the very commit that migrates the store.
        var afterMigration: (@Sendable (ManagedObjectContext) throws -> Void)?
        /// Told often, on the thread that migrates.
        package var onProgress: (@Sendable (MigrationProgress) -> Void)?
        /// Asked often; true ends the migration with the error `cancelled`, and the store as it was.
        package var isCancelled: (@Sendable () -> Bool)?
        /// Told what the migration has deleted.
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
        // Core Data's name for none.
        self.configuration = configuration == "PF_DEFAULT_CONFIGURATION_NAME" ? nil : configuration
        self.options = options
    }

    /// - Parameter versions: those that the store may be of, oldest first; nil if there is only the model.
    /// - Throws: `usage` for an option that Moult does not know.
    package init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, versions: ModelVersions?
    ) throws {
        let state = description.snapshot
        var options = try StoreOptions(state.options)
        options.run.stopsAtEachVersion = state.stopsAtEachVersion
        options.run.maximumAttempts = state.maximumMigrationAttempts
        options.run.keepsBackup = state.keepsMigrationBackup
        options.run.comparesStores = state.validatesAfterMigration
        self.init(
            model: model, versions: versions, url: state.url, type: state.type, configuration: state.configuration,
            options: options)
        migration = Migration(state)
    }

    /// - Throws: `storeAhead`, `noPath`, `storeUnknown`, `cannotInfer`, `question` if the store does not fit the model
    ///   and cannot be made to; `locked` where somebody else has it; what a damaged store throws.
    package func open() throws -> PersistentStore { try words.speaking(opened) }

    private func opened() throws -> PersistentStore {
        guard type == .sqlite, let url, url.path != "/dev/null" else {
            let store = try ObjectStore(inMemory: model, configuration: configuration, history: options.tracksHistory)
            return PersistentStore(store, url: nil, type: .inMemory, configuration: configuration, options: options)
        }
        guard url.isFileURL else {
            throw MigrationError(
                .usage, "\(url) is not the URL of a file.", place: "\(url)", remedy: "Use URL(fileURLWithPath:).")
        }
        if try system.exists(url.path) {
            try bringUpToDate(url.path)
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

    private func make(_ path: String) throws {
        guard !options.isReadOnly else {
            throw MigrationError(
                .fileNotFound, "There is no store at this path, and it was opened for reading only.", place: path,
                remedy: "Check the path, or open it for writing once, which creates it.")
        }
        try makeDefaultFolder(of: path)
        guard try system.exists(Path.folder(of: path)) else {
            throw MigrationError(
                .fileNotFound, "The folder of the store does not exist.", place: Path.folder(of: path),
                remedy: "Create the folder first.")
        }
        try checkHashes()
        let maker = try StoreMaker(
            modelVersion(), history: options.tracksHistory, experimental: options.run.isExperimental)
        let start = system.monotonicNanoseconds
        while true {
            do {
                // A program that ends meanwhile finds no store the next time, rather than a part of one.
                return try maker.makeWhole(at: path) { _ in }
            } catch let error as MigrationError where [.locked, .usage].contains(error.code) {
                // Another process makes the same store, such as an app's extension at the first launch. Whatever else
                // has the place keeps it.
                let patience = error.code == .locked ? Int64(options.busyTimeout) : 100
                if try system.exists(path) { return try bringUpToDate(path) }
                guard (system.monotonicNanoseconds - start) / 1_000_000 < patience else { throw error }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// The default folders of stores, the program's own and those of groups next to it, are made with
    /// the first store; any other must be there.
    private func makeDefaultFolder(of path: String) throws {
        let own = PersistentContainer.defaultDirectoryURL().standardizedFileURL
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL
        guard folder == own || folder.deletingLastPathComponent() == own.deletingLastPathComponent() else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// - Throws: `unsupported` if a hash would be a guess, and nobody has asked for that.
    private func checkHashes() throws {
        guard !options.run.isExperimental, let reason = try modelVersion().hashes.uncertain.values.min() else {
            return
        }
        throw MigrationError(
            .unsupported, "The version hash of this model is not certain: \(reason).", place: url?.path ?? "",
            remedy: "Remove the attribute, or set the option \(PersistentStoreOption.allowsUncertainVersionHashes): "
                + "then Moult writes its best guess, and Core Data may refuse to open the store.")
    }

    /// The part of the model that the store holds.
    private func modelVersion() throws -> ModelVersion { try version.restricted(to: part) }

    private var part: StorePart { configuration.map(StorePart.configuration) ?? .whole }

    /// The place of a store among versions, as one that is opened with the configuration.
    private func place(of hashes: VersionHashes, _ metadata: StoreMetadata, in versions: ModelVersions) -> StorePlace? {
        versions.place(
            of: hashes, identifiers: metadata.versionIdentifiers, as: part,
            toward: target(in: versions).flatMap(versions.position(named:)))
    }
}

// MARK: - A store that is there

extension StoreLoader {
    private func bringUpToDate(_ path: String) throws {
        if let session = try session(path) { _ = try run(session) }
    }

    private func run(_ session: StoreSession) throws -> MigrationReport {
        let observer = MigrationObserver(
            telling: migration.onProgress ?? { _ in }, isCancelled: migration.isCancelled ?? { false })
        let report = try session.run(observer)
        if !report.losses.isEmpty { migration.onLosses?(report.losses) }
        return report
    }

    /// As much of the migration as there is time for; nil if there is nothing to do.
    ///
    /// - Parameter budget: seconds.
    /// - Throws: `budgetTooSmall`, and what ``open()`` does.
    func migrate(within budget: Double) throws -> MigrationReport? {
        try words.speaking { try migrated(within: budget) }
    }

    private func migrated(within budget: Double) throws -> MigrationReport? {
        guard type == .sqlite, let url, url.path != "/dev/null", try system.exists(url.path) else { return nil }
        return try session(url.path, within: RunOptions.budget(seconds: budget)).map(run)
    }

    /// Looks at a store that is there; nil if it fits.
    private func session(_ path: String, within budget: Duration? = nil) throws -> StoreSession? {
        let path = try system.resolve(path)
        if OpenStoreRegistry.shared.contains(path) {
            guard try isBehind(openStore: path) else { return nil }
            guard OpenStoreRegistry.shared.retire(path) else { throw unsaved(path) }
        }
        return try inferringIfAllowed(path) { isRecognised in
            try StoreSession(at: path, run(within: budget), isReadOnly: options.isReadOnly, on: system) { connection in
                // What is wrong with metadata, the snapshot says better.
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
                return (StoreRequest(path, to: target, .migrate, run(within: budget)), context)
            }
        }
    }

    /// Everything that migrating the store needs; nil if it fits.
    ///
    /// - Throws: `storeAhead`, `migrationRequired` for a store that may not be migrated; `storeUnknown`, `stagesInvalid`.
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

    /// The options of the run, with the time that it may take.
    private func run(within budget: Duration? = nil) -> RunOptions {
        var run = options.run
        run.budget = budget
        run.patience = .milliseconds(max(options.busyTimeout, 0))
        return run
    }

    /// Whether the metadata alone say that the store is of the model's version.
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

    /// Whether the store is of an earlier one of several versions with the model's hashes, as its metadata say.
    private func isBehindByName(_ hashes: VersionHashes, _ metadata: StoreMetadata, _ versions: ModelVersions) -> Bool {
        guard let position = place(of: hashes, metadata, in: versions)?.position,
            let target = target(in: versions).flatMap(versions.position(named:))
        else { return false }
        return position < target
    }

    /// Looks at a store that this process has open already, through SQLite.
    ///
    /// - Throws: what is wrong with its version, before whoever has it open is disturbed.
    private func isBehind(openStore path: String) throws -> Bool {
        let connection = try Connection(path, mode: .readOnly, busyTimeout: options.busyTimeout)
        defer { connection.close() }
        if try isCurrent(StoreMetadata(from: connection)) { return false }
        guard let context = try context(of: StoreSnapshot(connection), path) else { return false }
        let session = try inferringIfAllowed(path) { isRecognised in
            isRecognised = true
            return try StoreSession(
                overOpen: connection, StoreRequest(path, to: target(in: context.versions), .migrate, run()), context,
                on: system)
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

    /// The versions to go through, and in what is registered what their stages name.
    ///
    /// - Throws: `stagesInvalid` with everything that is wrong with the stages.
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

    /// The versions next to the model, and the model.
    private var knownVersions: ModelVersions {
        var list = versions?.versions ?? []
        if !list.contains(where: { $0.hashes.isCompatible(with: version.hashes) }) { list.append(version) }
        return ModelVersions(versions: list)
    }

    /// Returns the versions next to the model; where the store's is not among them, the model that the store carries
    /// stands before the one to be opened with.
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

    /// The name of the version that is known only from the store.
    private static let ownModel = "the store's own model"

    /// Returns the policy for losses. Data that the app's own versions leave out goes, as in Core Data. Where the older
    /// version is known only from the store, no loss is declared: the store may be another app's, or
    /// the list of models a shorter one.
    private func lossPolicy(for snapshot: StoreSnapshot, _ versions: ModelVersions) -> LossPolicy {
        let start = place(of: snapshot.hashes, snapshot.metadata, in: versions)
        return start?.version.name == Self.ownModel ? .refuseUndeclared : .asTheVersionsSay(holdsOthers: true)
    }

    /// A store that has nothing of the model is another app's, or another path was meant: inferred from its own model,
    /// its migration would drop everything it holds.
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

    /// Of several versions with the model's hashes the one that it is called, otherwise the last.
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

    /// Plans, and takes registered mappings alone where none may be inferred.
    ///
    /// - Parameter plan: sets that the store is recognised, after which its errors are those of the plan.
    /// - Throws: `noPath` where inference is off and a version on the way has no registered mapping.
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

extension StoreMetadata {
    static let taskKey = "MoultAfterMigration"

    /// Whether a task that runs once after a migration is still to be done.
    var isTaskDue: Bool {
        get { entries[Self.taskKey]?.boolean ?? false }
        set { entries[Self.taskKey] = newValue ? .boolean(true) : nil }
    }
}

extension VersionHashes {
    /// Whether a store with these hashes opens with a model of the other's; a hash that is not certain is not compared.
    func fits(_ expected: VersionHashes) -> Bool {
        guard Set(entities.keys) == Set(expected.entities.keys) else { return false }
        return entities.allSatisfy { entry in
            expected.entities[entry.key] == entry.value || expected.uncertain[entry.key] != nil
        }
    }
}
