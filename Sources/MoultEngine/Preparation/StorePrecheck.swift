import MoultBasics
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan

/// Checks of a store's surroundings before any change.
package enum StorePrecheck {
    /// - Throws: `hardLinked`, `readOnly`.
    package static func checkFile(_ store: String, _ system: any System) throws {
        guard let status = try system.status(of: store) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(store).", place: store, remedy: "Check the path of the store.")
        }
        guard status.links <= 1 else {
            throw MigrationError(
                .hardLinked,
                "The store has \(status.links) hard links. SQLite keeps its journals next to only one name.",
                place: store, remedy: "Remove the other names, or copy the file and migrate the copy.")
        }
        let folder = Path.folder(of: store)
        for (path, what) in [(store, "store"), (folder, "store's folder")] where !system.isWritable(path) {
            throw MigrationError(
                .readOnly, "This user cannot write to the \(what).", place: path,
                remedy: "Make it writable, or copy the store to a folder that is.")
        }
    }
}

extension ModelVersions {
    /// - Throws: `lockFileMismatch` if a released version has changed since its release.
    package func checkReleased() throws {
        guard let change = findings.first(where: { $0.code == "released-version-changed" }) else { return }
        throw MigrationError(.lockFileMismatch, change.message, place: change.place, remedy: change.advice)
    }
}

extension [RegisteredStage] {
    /// Creates stages from the mapping models at a path, for the versions that they fit.
    ///
    /// - Parameters:
    ///   - path: a mapping model, or a folder of them.
    ///   - registry: the registry with the migration policies that they may name.
    /// - Throws: `modelNotFound` for a folder without any; `noPath` and `question` if one does not fit exactly two
    ///   versions; what reading them throws.
    package init(mappingsAt path: String, in versions: ModelVersions, _ registry: MigrationRegistry) throws {
        let mappings = try MappingModelFile.all(at: path)
        guard !mappings.isEmpty else {
            throw MigrationError(
                .modelNotFound, "The folder contains no mapping model.", place: path,
                remedy: "Give an .xcmappingmodel folder, a compiled .cdm, or a folder of them.")
        }
        self = try mappings.map {
            try RegisteredStage(
                $0.mapping, named: $0.name, held: $0.versions, in: versions, policies: Set(registry.policies.keys))
        }
    }
}

/// The limit on how often a migration may die before it no longer starts automatically. Otherwise an app that is killed
/// during its migration at each launch would never get further.
package enum CrashLoopGuard {
    /// - Parameters:
    ///   - limit: the number of consecutive dead runs between the two versions at which to refuse.
    /// - Throws: `tooManyAttempts` with their number.
    static func check(_ migration: Pass, _ sidecar: StoreRecords, limit: Int, _ system: any System) throws {
        let last = try dead(from: migration.from, to: migration.to, migration.operation, sidecar, system)
        guard last.count >= limit, let newest = last.first else { return }
        // Do not advise an option that is already in use.
        let deferring: Remedy = migration.script.isDeferred ? "" : "defer work (\(option: .deferred)), or "
        throw MigrationError(
            .tooManyAttempts,
            "None of the last \(Quantity.count(last.count, "run")) from \(migration.from) to \(migration.to) reached its "
                + "end; the newest started at \(newest.startTime). The store is unchanged.", place: sidecar.store,
            remedy:
                "Find out what ends them, such as a watchdog. Give them more time, \(deferring)work in "
                + "smaller pieces (\(option: .stopAtEachVersion)). Then start again with \(option: .again).")
    }

    /// Returns the number of the latest consecutive runs that died. A cancelled run counts as neither a death nor a
    /// success.
    package static func deaths(
        from: String, to: String, _ operation: Journal.Operation, _ sidecar: StoreRecords, _ system: any System
    ) throws -> Int {
        try dead(from: from, to: to, operation, sidecar, system).count
    }

    private static func dead(
        from: String, to: String, _ operation: Journal.Operation, _ sidecar: StoreRecords, _ system: any System
    ) throws -> [StoreRun] {
        var dead: [StoreRun] = []
        _ = try RunHistory(sidecar, system).last { record in
            if record.result == .cancelled { return false }
            let isDead =
                record.operation == operation && record.result == .undone && record.from == from && record.to == to
            if isDead { dead.append(record) }
            return !isDead
        }
        return dead
    }
}
