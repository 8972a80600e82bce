import Foundation
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform

/// Opens one store for a coordinator: makes it, or recognises it and migrates it where it is behind.
///
/// The store is recognised before anything is opened for writing, so that one which is refused keeps every byte.
package struct StoreOpening {
    var model: ManagedObjectModel { version.model }
    private let version: ModelVersion
    /// The versions found next to the model; nil if there is only the model.
    var versions: ModelVersions?
    let url: URL?
    let type: PersistentStore.StoreType
    let configuration: String?
    let options: StoreOptions
    var description: PersistentStoreDescription.State?
    /// Says, of a store that is of none of the versions, which versions to go through; the store's own model, where it
    /// carries one, and an inferred edge from it to the last version otherwise.
    package var adopting: ((StoreSnapshot, ModelVersions) throws -> ModelVersions)?
    /// Called before anything is done to a store that is behind, with the names of its version and of the one aimed at.
    package var willMigrate: ((_ from: String, _ to: String) throws -> Void)?
    /// Called with a store that is to be migrated, before anything is done to it.
    package var checkValues: ((Connection) throws -> Void)?
    /// The remedies that errors name: how the app allows what is refused.
    package var remedies = MigrationRemedies.description
    package var system: any System = POSIXSystem()

    init(
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
        self.init(
            model: model, versions: versions, url: state.url, type: state.type, configuration: state.configuration,
            options: try StoreOptions(state.options))
        self.description = state
    }

    /// - Throws: `storeAhead`, `noPath`, `storeUnknown`, `cannotInfer`, `question` if the store does not fit the model
    ///   and cannot be made to; `locked` where somebody else has it; what a damaged store throws.
    package func open() throws -> PersistentStore {
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
            modelVersion(), history: options.tracksHistory, experimental: options.allowsUncertainHashes)
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
        guard !options.allowsUncertainHashes, let reason = try modelVersion().hashes.uncertain.values.min() else {
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
    private func place(
        of hashes: VersionHashes, _ metadata: StoreMetadata, in versions: ModelVersions
    ) -> StorePlace? {
        versions.place(
            of: hashes, identifiers: metadata.versionIdentifiers, as: part,
            toward: target(in: versions).flatMap(versions.position(named:)))
    }
}

// MARK: - A store that is there

extension StoreOpening {
    private func bringUpToDate(_ path: String) throws {
        guard let (migrator, prepared) = try preparedMigration(path) else { return }
        tellLosses(of: try migrator.run(prepared, observer))
    }

    private func tellLosses(of outcomes: [MigrationOutcome]) {
        let losses = outcomes.flatMap(\.losses)
        if !losses.isEmpty { description?.migrationLosses?(losses) }
    }

    /// As much of the migration as there is time for.
    ///
    /// - Parameter budget: seconds.
    /// - Throws: `budgetTooSmall`, and what ``open()`` does.
    func migrate(within budget: Double) throws -> BudgetOutcome {
        let started = system.monotonicNanoseconds
        guard type == .sqlite, let url, url.path != "/dev/null", try system.exists(url.path),
            let (migrator, prepared) = try preparedMigration(url.path, continuesEarlierCall: true)
        else { return .nothingToDo }
        let outcome = try migrator.run(prepared, within: .seconds(budget), since: started, observer)
        if case .finished(let end, _) = outcome { tellLosses(of: [end]) }
        return outcome
    }

    /// Nil if the store fits.
    ///
    /// - Parameter continuesEarlierCall: whether an earlier call may have looked at the rows.
    private func preparedMigration(
        _ path: String, continuesEarlierCall: Bool = false
    ) throws -> (Migrator, PreparedMigration)? {
        let path = try system.resolve(path)
        if OpenStores.shared.contains(path) {
            guard try isBehind(openStore: path) else { return nil }
            guard OpenStores.shared.retire(path) else { throw unsaved(path) }
        }
        var engine = MigrationOptions(patience: max(options.busyTimeout, 0))
        if let limit = description?.maximumMigrationAttempts { engine.maximumAttempts = limit }
        engine.isFrugal = description?.keepsMigrationBackup == false
        let migrator = Migrator(options: engine, system: system)
        // A call with a budget recovers what it does not continue from.
        if !continuesEarlierCall && !options.isReadOnly {
            if try migrator.isUnfinished(path) { _ = try migrator.recover(path) } else { try migrator.healed(path) }
        }
        guard let snapshot = try snapshotUnlessCurrent(path) else { return nil }
        var registry = description?.migrationRegistry ?? MigrationRegistry()
        let versions = try versions(for: snapshot, addingStagesTo: &registry)
        if try fits(snapshot, versions) { return nil }
        try checkMayMigrate(path, snapshot, versions)
        if let checkValues { try StoreProbe.read(path, system: system) { try checkValues($0.connection) } }
        if let willMigrate {
            let start = place(of: snapshot.hashes, snapshot.metadata, in: versions)
            try willMigrate(start?.version.name ?? "", target(in: versions) ?? "")
        }
        var preparation = try preparation(for: snapshot, versions, registry)
        preparation.continuesEarlierCall = continuesEarlierCall
        try checkHashes()
        return (migrator, try prepared(path, versions, preparation))
    }

    private func preparation(
        for snapshot: StoreSnapshot, _ versions: ModelVersions, _ registry: MigrationRegistry
    ) throws -> PreparedMigration.Options {
        let answers = try description?.migrationAnswers.map { try Answers(json: [UInt8]($0)) } ?? .none
        var preparation = PreparedMigration.Options(
            answers: answers, registry: registry, losses: lossPolicy(for: snapshot, versions),
            stopsAtEachVersion: description?.stopsAtEachVersion ?? false)
        preparation.part = part
        preparation.defersWork = options.defersMigration
        preparation.isExperimental = options.allowsUncertainHashes
        preparation.allowsCloudKit = options.allowsCloudKitMigration
        preparation.registry.acceptedLosses.formUnion(options.acceptedLosses)
        preparation.remedies = remedies
        preparation.comparesStores = description?.validatesAfterMigration ?? true
        // The task is due from the very commit that migrates the store.
        if description?.afterMigration != nil { preparation.metadataEntries[StoreMetadata.taskKey] = .boolean(true) }
        return preparation
    }

    /// Nil if the metadata alone say that the store fits: what it holds besides is read when it is opened.
    private func snapshotUnlessCurrent(_ path: String) throws -> StoreSnapshot? {
        // One look, because a log beside the store may have to be copied for it.
        try StoreProbe.read(path, system: system) { probe in
            // What is wrong with metadata, the snapshot says better.
            if let metadata = try? StoreMetadata(from: probe.connection), try isCurrent(metadata) { return nil }
            return try StoreSnapshot(probe.connection)
        }
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
    private func isBehindByName(
        _ hashes: VersionHashes, _ metadata: StoreMetadata, _ versions: ModelVersions
    ) -> Bool {
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
        let snapshot = try StoreSnapshot(connection)
        var registry = description?.migrationRegistry ?? MigrationRegistry()
        let versions = try versions(for: snapshot, addingStagesTo: &registry)
        if try fits(snapshot, versions) { return false }
        try checkMayMigrate(path, snapshot, versions)
        let prepared = try inferringIfAllowed(path) {
            try PreparedMigration(
                overOpen: connection, versions: versions, to: target(in: versions),
                options: preparation(for: snapshot, versions, registry), system: system)
        }
        if let refusal = try prepared.undeclaredFirstLosses() { throw refusal }
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

    private func prepared(
        _ path: String, _ versions: ModelVersions, _ preparation: PreparedMigration.Options
    ) throws -> PreparedMigration {
        try inferringIfAllowed(path) {
            try PreparedMigration(
                path, versions: versions, to: target(in: versions), options: preparation, system: system)
        }
    }

    /// Plans, and takes registered mappings alone where none may be inferred.
    ///
    /// - Throws: `noPath` where inference is off and a version on the way has no registered mapping.
    private func inferringIfAllowed(
        _ path: String, _ plan: () throws -> PreparedMigration
    ) throws -> PreparedMigration {
        do {
            let prepared = try plan()
            let inferred = prepared.plan.edges.first(where: \.isInferable)
            if !options.infers, let inferred { throw notInferred(path, from: inferred.from, to: inferred.to) }
            return prepared
        } catch let error as MigrationError
            where !options.infers && [.question, .cannotInfer].contains(error.code)
        {
            throw notInferred(path, cause: error.message)
        } catch var error as MigrationError {
            if let remedy = remedies.mapping[error.code] { error.remedy = remedy }
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

// MARK: - The migration

extension MigrationRemedies {
    /// For what has a ``PersistentStoreDescription``, or options by key.
    static let description = MigrationRemedies(
        allowingCloudKit: "set the store's option \(PersistentStoreOption.allowsCloudKitMigration) to true",
        mapping: [
            .question: "Set renaming identifiers in the model. Or answer each question: migrationAnswers of the "
                + "description is JSON such as {\"format\": 1, \"answers\": [ANSWER, …]}, with an answer that is given above."
        ]
    ) {
        "If the store is another app's, open one of your own. Otherwise add the version of the model that the store is of, "
            + "or accept the loss: acceptedLosses = \($0.swiftLiteral) of the description, or the store's option "
            + "\(PersistentStoreOption.acceptedLosses) with the same value."
    }
}

extension StoreOpening {
    private var observer: MigrationObserver {
        let progress = description?.migrationProgress
        let isCancelled = description?.isMigrationCancelled
        let updates = description?.updates ?? []
        return MigrationObserver(
            telling: { told in
                progress?(told)
                for update in updates { update.yield(told) }
            }, isCancelled: { isCancelled?() ?? false })
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
