import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform

/// The result of a rehearsal.
package struct RehearsalOutcome: Sendable, Equatable {
    package var rows: Int64
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    package var seconds: [MigrationOutcome.Timing]
    /// The room that the run itself will ask for.
    package var space: SpaceRequirement
    /// The same by volume.
    package var volumes: [SpaceRequirement.Volume]
    /// The way in which the store was read; `readOnly` where side files may have changed.
    package var way: StoreProbe.Way
    /// The findings of rules, and the changes that their fixes would make.
    package var rules: [RuleReport] = []
    /// The outcome that the objects of entity mappings with migration policies would have, pass by pass.
    package var policies: [InstanceCounts] = []
    /// The data that would not be in the new store, counted.
    package var losses: [MigrationLoss] = []
    /// Objects that would lie in the quarantine.
    package var quarantined: Int64 = 0
    /// The findings about parts of a log or a rollback journal next to the store that SQLite would leave out.
    package var findings: [Finding] = []
}

extension Migrator {
    /// Runs a migration on a copy in a scratch folder and verifies it; the store and every file of its folder stay as
    /// they are, and nothing is kept.
    package func rehearse(
        _ migration: Migration, on store: String, scratch: String? = nil, _ observer: MigrationObserver = .none
    ) throws -> RehearsalOutcome {
        try StoreProbe.read(store, system: system, folder: scratch) { probe in
            let temporary = try TemporaryFolder("rehearsal", in: scratch, system)
            let folder = temporary.path
            defer { temporary.remove() }
            migration.ledger.begin()
            let findings = try DamagedSideFiles.findings(beside: probe.path, system)
            for finding in findings where finding.code == DamagedSideFiles.code {
                observer.report(.lock, 1, "\(finding.message) A copy of it is kept before the store is changed.")
            }
            try migration.precondition(probe.connection)
            let costs = try migration.script.costs(over: probe.connection)
            let observer = observer.withTotalRows(of: migration.script).timed(
                by: RunEstimate(
                    migration, costs, size: try StoreState(probe.connection).size, keepsNothing: true), system)
            let trail = StepTrail(store: probe.path, system: system)
            var outcome: RehearsalOutcome
            do {
                outcome = try rehearse(migration, probe, folder, trail, observer)
            } catch {
                var cause = error
                // The copy is gone by the time that this is read.
                if var known = error as? MigrationError {
                    if known.place.hasPrefix(folder) { known.place = probe.path }
                    cause = known.code == .cancelled ? MigrationRun.cancelled(probe.path) : known
                }
                throw trail.undoing(after: cause)
            }
            outcome.findings = findings
            // Nothing of a rehearsal is kept, so what its steps did elsewhere must not stay either.
            guard let failed = trail.undo().first(where: { $0.error != nil }) else { return outcome }
            throw MigrationError(
                .stageFailed, "The rehearsal succeeded, but a step could not be undone afterwards. \(failed.sentence)",
                place: failed.step,
                remedy: "The store is unchanged. Undo by hand what the step did outside the store.")
        }
    }

    private func rehearse(
        _ migration: Migration, _ probe: StoreProbe, _ folder: String, _ trail: StepTrail,
        _ observer: MigrationObserver
    ) throws -> RehearsalOutcome {
        let before = try StoreState(probe.connection)
        let sidecar = Sidecar(store: probe.path)
        let space = try SpaceRequirement(
            migration, on: before, sidecar, options, backups: try backups(of: probe.path).folder, system)
        let timings = PhaseTimings(system)
        let source = Path.join(folder, "source")
        try timings.measure(.backup) {
            try BackupFolder(folder, system).copyPages(from: probe.connection, to: source, .own, observer)
            try BackupFolder.checkSoundness(of: source, for: migration.reason, place: probe.path)
        }
        var (quarantined, rows) = (Int64(0), Int64(0))
        var size = before.size
        func copy(_ path: String, _ name: String) throws -> WorkingCopy {
            try timings.measure(.copy) {
                let copy = try WorkingCopy(of: path, at: Path.join(folder, name), for: probe.path, options, system)
                if name == sidecar.nameOfCopy { observer.report(.copy, 1, bytes: before.size) }
                return copy
            }
        }
        _ = try migration.forEachPass(on: source, named: sidecar.nameOfCopy, copy) { pass, copy in
            try copy.perform(pass, noting: trail, timings, observer)
            rows += pass.script.rows
            try QuarantinedObject.forEach(on: copy.connection) { _ in quarantined += 1 }
            size = try StoreState(copy.connection).size
        }
        observer.report(.verify, 1, rows: observer.totalRows)
        observer.report(.done, 1, rows: observer.totalRows)
        return RehearsalOutcome(
            rows: rows, bytesBefore: before.size, bytesAfter: size,
            seconds: timings.all, space: space, volumes: try space.volumes(system), way: probe.way,
            rules: migration.ruleLog?.reports ?? [],
            policies: migration.ledger.counts, losses: migration.ledger.losses, quarantined: quarantined)
    }
}
