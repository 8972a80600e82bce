import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// A second store, of another version or layout, that is kept up to date with the first one.
///
/// The second store begins as a migration of the first, by the engine itself. From then on
/// ``synchronise(all:overwriting:)`` takes over what was inserted, updated and deleted: the keys come from persistent
/// history, or from a scan of keys and lock counters; the rows are made by the statements that a migration would run,
/// for these keys alone. The store that follows keeps in its own metadata how far it is, written in the transaction of
/// the rows, so that each change is taken over once however often either process dies.
///
/// No process has to keep the stores open, and no trigger is put into either.
package struct MirroredStore: Sendable {
    /// The resolved path of the first store.
    package let store: String
    package internal(set) var record: MirrorRecord
    let versions: ModelVersions
    private(set) var options: PreparedMigration.Options
    /// The findings in the first store that speak against its migration without standing in its way; known when the
    /// mirror is begun.
    package internal(set) var warnings: [Finding] = []
    let system: any System
    /// Asked often; where it is true, work ends with the error `cancelled` and both stores as they were.
    var isCancelled: @Sendable () -> Bool = { false }

    var sidecar: StoreRecords { StoreRecords(store: store) }

    init(
        _ store: String, _ record: MirrorRecord, _ versions: ModelVersions, _ options: PreparedMigration.Options,
        _ system: any System
    ) {
        self.store = store
        self.record = record
        self.versions = versions
        self.options = options
        // The losses were looked at when the mirror was begun. What is written since is lost only with the first store.
        self.options.losses = .asTheVersionsSay()
        self.options.part = record.part
        self.system = system
    }

    /// The mirror that a store has.
    ///
    /// - Parameters:
    ///   - versions: those of the model that the mirror was begun with.
    ///   - options: the same answers, mapping models and code.
    /// - Throws: `usage` if the store has no mirror; `planStale` if the mapping is not the one it was begun with.
    package init(
        of store: String, versions: ModelVersions, options: PreparedMigration.Options = .init(),
        system: any System = POSIXSystem(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        let (path, record) = try Self.record(of: store, system)
        self.init(path, record, versions, options, system)
        self.isCancelled = isCancelled
        _ = try forward()
    }

    /// Reads the record of a store's mirror, without its model.
    ///
    /// - Parameter isStarting: whether that of a start which died is meant too.
    /// - Throws: `usage` if it has none.
    package static func record(
        of store: String, _ system: any System = POSIXSystem(), isStarting: Bool = false
    ) throws -> (store: String, record: MirrorRecord) {
        // A store that is gone has a mirror anyway.
        let path = try StoreRecords(of: store, system).store
        guard let record = try MirrorRecord.read(StoreRecords(store: path), system) else {
            _ = try StoreProbe.checkFile(store, system)
            throw MigrationError(
                .usage, "The store has no mirror.", place: store,
                remedy: "Start one: \(.startMirror, .anyStore, .model("MODEL"), .at("PATH")).")
        }
        guard record.state != .starting || isStarting else {
            throw MigrationError(
                .usage, "The process died while it made the mirror.", place: store,
                remedy:
                    "Run \(.startMirror) again, which starts over; or \(.stopMirror), which removes what is left."
            )
        }
        return (path, record)
    }
}

// MARK: - Cancelling

extension MirroredStore {
    var observer: MigrationObserver { MigrationObserver(isCancelled: isCancelled) }

    /// Has a statement that runs on the connection end when the work is cancelled.
    func watch(_ connection: Connection) {
        connection.onProgress(every: 20_000) { [isCancelled] in !isCancelled() }
    }

    func checkCancelled() throws {
        guard isCancelled() else { return }
        throw MigrationError(
            .cancelled, "The work on the mirror was cancelled. Both stores are unchanged.", place: store,
            remedy: "Run the command again when you want it done.")
    }
}

// MARK: - The way

extension MirroredStore {
    static func plan(
        _ versions: ModelVersions, from: String, to: String?, _ options: PreparedMigration.Options
    ) throws -> MigrationPlan {
        try MigrationPlan(
            versions, from: from, to: to, answers: options.answers,
            registered: options.registered + (try options.registry.stages(in: versions)))
    }

    /// Of versions with equal hashes, what the first store holds says which one it is of.
    private func planOverStore() throws -> MigrationPlan {
        let connection = try Connection(store, mode: .readOnly, busyTimeout: Self.patience)
        defer { connection.close() }
        let metadata = try StoreMetadata(from: connection)
        return try MigrationPlan(
            versions, from: metadata.hashes ?? VersionHashes(read: [:]), identifiers: metadata.versionIdentifiers,
            to: record.to, answers: options.answers,
            registered: options.registered + (try options.registry.stages(in: versions)), as: record.part)
    }

    /// From the first store to the second.
    func forward() throws -> MirrorRoute {
        var plan = try Self.plan(versions, from: record.from, to: record.to, options)
        if plan.digest.hexadecimal != record.plan, let other = try? planOverStore() { plan = other }
        guard plan.digest.hexadecimal == record.plan else {
            throw MigrationError(
                .planStale,
                "The mapping from \(record.from) to \(record.to) is not the one with which the mirror was started.",
                place: store,
                remedy: "Use that model and mapping, or stop the mirror and start a new one.")
        }
        return try MirrorRoute(
            plan, hasRules: !options.registry.rules.isEmpty, store: store, second: record.second, as: record.part)
    }

    /// The way of the present state.
    func route() throws -> MirrorRoute {
        let forward = try forward()
        guard record.state == .cutOver else { return forward }
        guard !record.isOneWay, let mapping = forward.mapping else {
            throw MigrationError(
                .unsupported, "The cut-over was one-way: the first store does not follow.",
                place: store, remedy: "Use the second store; \(.stopMirror) ends the mirror.")
        }
        return MirrorRoute(
            MirrorReversal(mapping, from: forward.from.model, to: forward.to.model), of: forward)
    }

    /// Runs `body` while no other run of Moult can change either store.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let locks = try [store, record.second].map { path in
            let sidecar = StoreRecords(store: path, like: store)
            try sidecar.make(system)
            return try RunOwner.take(sidecar, system)
        }
        defer { withExtendedLifetime(locks) {} }
        do {
            try removeParts()
            return try body()
        } catch let error as MigrationError where error.code == .locked && error.cause != nil {
            throw StoreLock.openElsewhere(error.place, system, cause: error.cause)
        }
    }

    /// Records and files of external data that a process which died has written in part.
    private func removeParts() throws {
        for folder in [sidecar.folder, StoreRecords(store: record.second).folder] {
            for name in try system.list(folder) where name.hasSuffix(".part") {
                try system.remove(Path.join(folder, name))
            }
        }
        for store in [store, record.second] {
            try Recovery.removeParts(below: StoreRecords(store: store).support, system)
        }
    }

    /// A folder for what is not needed after the run, on the volume of the second store.
    func withWorkFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let second = StoreRecords(store: record.second)
        let folder = second.work("mirror")
        try second.make(system)
        // What a run that died has left.
        try system.removeTree(folder)
        try system.makeFolder(folder)
        defer { _ = try? system.removeTree(folder) }
        return try body(folder)
    }
}

extension MirroredStore {
    /// Makes the second store that a request for a migration into another file asks for, and begins to follow the first.
    /// The request is kept, with its paths in full.
    ///
    /// - Throws: `lockFileMismatch` if a released version has changed; what ``start(_:versions:to:at:options:request:system:isCancelled:)``
    ///   throws.
    package static func start(
        _ request: StoreRequest, _ context: StoreSession.Context, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> MirroredStore {
        guard case .migrateInto(let second) = request.work else {
            throw MigrationError(
                .internal, "The request names no place for the second store.", place: request.store,
                remedy: "Please report this.")
        }
        try request.check()
        try context.versions.checkReleased()
        var kept = request
        kept.models = try request.models?.resolved(POSIXSystem())
        return try start(
            request.store, versions: context.versions, to: request.target, at: second,
            options: PreparedMigration.Options(request.options, context), request: kept, isCancelled: isCancelled)
    }

    /// The mirror that a store has, with the options that it was begun with.
    ///
    /// - Parameter options: what they permit is permitted too.
    /// - Throws: `lockFileMismatch`, and what ``init(of:versions:options:system:isCancelled:)`` throws.
    package init(
        of store: String, _ options: RunOptions, _ context: StoreSession.Context,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        try context.versions.checkReleased()
        var begun = try Self.record(of: store).record.request.options
        if options.isExperimental { begun.isExperimental = true }
        if options.allowsCloudKit { begun.allowsCloudKit = true }
        begun.acceptedLosses.formUnion(options.acceptedLosses)
        try self.init(
            of: store, versions: context.versions, options: PreparedMigration.Options(begun, context),
            isCancelled: isCancelled)
    }
}

extension StoreRequest.Models {
    /// The same files by paths that hold in every working folder.
    fileprivate func resolved(_ system: any System) throws -> Self {
        try Self(
            path: system.resolve(path), order: order, answers: answers.map { try system.resolve($0) },
            mappings: mappings.map { try system.resolve($0) })
    }
}
