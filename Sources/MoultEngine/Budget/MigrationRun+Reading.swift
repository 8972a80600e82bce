import MoultModel
import MoultSQLite
import MoultSystem

/// A unit that only reads: it may be done on the other core, next to others.
struct ReadingUnit: Sendable {
    let unit: MigrationUnit
    /// The work of the unit; it returns the change that records the result in the checkpoint.
    let read: @Sendable () throws -> @Sendable (inout MigrationCheckpoint) -> Void
}

extension MigrationRun {
    /// Returns the checks of the backup that are still to be done.
    func proofs(_ pace: MigrationPace, _ units: MigrationUnits) throws -> [ReadingUnit] {
        guard pace.checkpoint.draft != nil else { return [] }
        let path = try pathOfSource(pace)
        var proofs: [ReadingUnit] = []
        // The digest first: what happens to the file between two calls does not agree with it.
        if pace.checkpoint.proof == nil {
            proofs.append(
                ReadingUnit(unit: units.digest) { [system] in
                    try system.synchronise(path)
                    let proof = try BackupFolder.Proof(of: path, system)
                    return { $0.proof = proof }
                })
        }
        if !pace.checkpoint.backupIsSound {
            proofs.append(
                ReadingUnit(unit: units.soundness) { [reason = migration.reason, store = sidecar.store] in
                    try BackupFolder.checkSoundness(of: path, for: reason, place: store)
                    return { $0.backupIsSound = true }
                })
        }
        return proofs
    }

    /// The check of the new store's pages, where it is still to be done.
    func pages(of copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits) -> [ReadingUnit] {
        let verification = migration.verification
        guard !pace.checkpoint.pagesAreSound, verification.pages != nil else { return [] }
        return [
            ReadingUnit(unit: units.pages) { [path = copy.path] in
                try verification.checkPages(at: path)
                return { $0.pagesAreSound = true }
            }
        ]
    }

    /// Does units on the other core while `body` runs, the first of them that there is time for in this call. Nothing
    /// ends them: SQLite cannot be interrupted while it looks at pages.
    func read(_ units: [ReadingUnit], _ pace: MigrationPace, beside body: () throws -> Void) throws {
        var seconds = 0.0
        let chosen = units.prefix { unit in
            // At the beginning of a call there is time for each of them, or the budget would have been refused.
            let margin = seconds == 0 && pace.gained == 0 ? 1 : MigrationPace.margin
            seconds += pace.seconds(of: unit.unit)
            return pace.mayRunAhead && pace.left >= seconds * margin
        }
        guard let first = chosen.first else { return try body() }
        pace.note(first.unit, at: system.monotonicNanoseconds)
        let reading = BackgroundWork(isSequential: options.isSequential) { [system] in
            try chosen.map { unit in
                let start = system.monotonicNanoseconds
                return (unit.unit, try unit.read(), system.seconds(since: start))
            }
        }
        let result = Result { try body() }
        // Damaged pages explain whatever else was found.
        for (unit, note, seconds) in try reading.wait() {
            note(&pace.checkpoint)
            pace.learn(seconds, of: unit)
            pace.gain()
        }
        try result.get()
    }

    /// Does one on this core.
    func perform(_ unit: ReadingUnit, _ phase: MigrationProgress.Phase, _ pace: MigrationPace) throws {
        let note = try pace.perform(unit.unit) { try timings.measure(phase) { try unit.read() } }
        note(&pace.checkpoint)
        try save(pace)
    }
}
