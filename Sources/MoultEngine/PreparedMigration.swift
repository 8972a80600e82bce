import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

/// A store, looked at and planned for: everything there is to say before anything is done.
///
/// The way through the versions is worked out as a whole; its first pass is bound to the store's rows here, a later
/// one when the pass before it has run, on the working copy.
package struct PreparedMigration: Sendable {
    package struct Options: Sendable {
        package var answers: Answers
        /// Mapping models and stages to take instead of what is inferred.
        package var registered: [RegisteredStage]
        /// Write version hashes that are not certain.
        package var isExperimental: Bool
        /// Migrate a store that is mirrored to CloudKit, the careful way.
        package var allowsCloudKit: Bool

        package init(
            answers: Answers = .none, registered: [RegisteredStage] = [], isExperimental: Bool = false,
            allowsCloudKit: Bool = false
        ) {
            self.answers = answers
            self.registered = registered
            self.isExperimental = isExperimental
            self.allowsCloudKit = allowsCloudKit
        }
    }

    /// The store's path without symbolic links.
    package let store: String
    package let plan: MigrationPlan
    /// The first pass, bound; nil where the store is of the target version already.
    package let bound: BoundPlan?
    /// What was noticed in the store.
    package let storeFindings: [Finding]
    /// The size of the store in bytes.
    package let size: Int64
    let options: Options
    let system: any System

    /// Looks at the store without changing a byte, and plans.
    ///
    /// - Parameter target: the version to end at; nil for the current one, or the last.
    /// - Throws: `storeAhead`, `storeUnknown`, `noPath`, `question`, `cannotInfer` from planning; `cloudKit`,
    ///   `deferredWork` where the store is not in a state to be migrated; what reading a damaged store throws.
    package init(
        _ store: String, versions: ModelVersions, to target: String? = nil, options: Options = Options(),
        system: any System = POSIXSystem()
    ) throws {
        self.options = options
        self.system = system
        (self.store, plan, bound, storeFindings, size) = try StoreProbe.read(store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            try Self.refuse(snapshot, options)
            let plan = try MigrationPlan(
                versions, from: snapshot.metadata.hashes ?? VersionHashes(read: [:]), to: target,
                answers: options.answers, registered: options.registered)
            let bound = try plan.passes.first.map { pass in
                let (mapping, target) = try Self.mapping(pass)
                return try BoundPlan(
                    mapping, from: plan.from, to: target, over: snapshot, connection: probe.connection,
                    experimental: options.isExperimental)
            }
            return (probe.path, plan, bound, snapshot.findings, snapshot.file.size)
        }
    }

    private static func mapping(_ pass: MigrationPass) throws -> (ResolvedMapping, ModelVersion) {
        switch pass.work {
        case .mapping(let mapping): return (mapping, pass.newer)
        case .registered(let stage):
            throw MigrationError(
                .unsupported, "The plan needs the code of the stage \(stage.name), which this program does not have.",
                place: stage.name, remedy: "Run the migration in the program that registers it.")
        }
    }

    /// A store that is mirrored or half migrated is refused before anything is planned.
    private static func refuse(_ snapshot: StoreSnapshot, _ options: Options) throws {
        if snapshot.metadata.hasDeferredWork {
            throw MigrationError(
                .deferredWork, "A lightweight migration of this store has put work off that is still to be done.",
                place: snapshot.path,
                remedy: "Open the store once with the app that migrated it and let it finish the deferred work.")
        }
        guard let table = snapshot.cloudKitTables.first, !options.allowsCloudKit else { return }
        throw MigrationError(
            .cloudKit,
            "The store is mirrored to CloudKit: its \(snapshot.cloudKitTables.count) tables such as \(table) hold "
                + "the identity of every record on the server, and a record that loses it is uploaded again.",
            place: snapshot.path,
            remedy: "Let the app migrate it, or pass --cloudkit to renumber these records and touch nothing else.")
    }

    /// What the engine runs: the first pass, and each later one on what the one before has made.
    ///
    /// - Throws: `dataConflict` where the rows do not fit the new version; `unsupported` where the plan cannot run in
    ///   place.
    package func migration(inPlace: Bool = false) throws -> Migration? {
        guard let bound else { return nil }
        if inPlace, plan.passes.count > 1 {
            throw MigrationError(
                .unsupported, "This migration takes \(plan.passes.count) passes, which cannot run in place.",
                place: store, remedy: "Leave --in-place out, so that Moult works on a copy.")
        }
        var migration = try Migration(bound, on: store, from: plan.from.name, inPlace: inPlace, system: system)
        migration.to = plan.to.name
        migration.next = next(after: 0)
        return migration
    }

    /// The pass after the one at `position`, bound when that one has run.
    private func next(after position: Int) -> (@Sendable (Connection) throws -> Migration)? {
        guard plan.passes.indices.contains(position + 1) else { return nil }
        let pass = plan.passes[position + 1]
        return { connection in
            let (mapping, target) = try Self.mapping(pass)
            let bound = try BoundPlan(
                mapping, from: pass.older, to: target, over: StoreSnapshot(connection), connection: connection,
                experimental: options.isExperimental)
            var migration = try Migration(bound, on: store, from: pass.older.name, system: system)
            migration.next = next(after: position + 1)
            return migration
        }
    }
}
