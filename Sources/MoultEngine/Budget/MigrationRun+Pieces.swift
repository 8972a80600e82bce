import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// A run that ends with its budget, and continues at the next call from what its checkpoint says.
extension MigrationRun {
    /// The same as on a copy, unit by unit.
    ///
    /// - Throws: ``MigrationPace/Stop`` before a unit that there is no time for.
    func changeInPieces(_ pace: MigrationPace) throws -> StoreBackup? {
        let units = self.units
        try keepLook(pace)
        try copyPages(pace, units)
        if units.reasonForOne != nil {
            return try pace.perform(units.whole) { try changeOnCopy(of: draft(of: pace)) }
        }
        do {
            let copy = try openCopy(pace, units)
            defer { copy.close() }
            if !pace.checkpoint.isChanged { try change(copy, pace, units) }
            // A call that died may have noted that all is changed, and no more.
            try PacedScript.forget(on: copy.connection)
            try migration.settleLosses()
            rows = migration.script.rows
            try verify(copy, pace, units)
            try migration.writeMetadataEntries(copy.connection)
            for proof in try proofs(pace, units) { try perform(proof, .backup, pace) }
            try copy.connection.detach("source")
            journal.newChecksum = try StoreState(copy.connection).checksum
        }
        try finishBackup(pace)
        observer.report(.verify, 1, rows: observer.totalRows, "The new store is verified")
        let backup = try pace.checkpoint.backup.map { try backups.backup(named: $0) }
        // How long a disk takes to synchronise varies more than anything else, and nothing can end a commit.
        let seconds = max(units.commit.seconds, pace.seconds(of: units.commit)) * 2.5
        try pace.perform(units.commit, expecting: seconds) {
            try timings.measure(.commit) { try commit(pathOfCopy) }
        }
        if options.isFrugal, let draft = pace.checkpoint.draft { backups.discard(self.draft(draft, try state())) }
        return backup
    }

    var units: MigrationUnits { MigrationUnits(migration, size: before.size, usesWAL: before.usesWAL) }

    var pathOfCopy: String { Path.join(work, sidecar.nameOfCopy) }

    // MARK: - Units

    /// Keeps the facts that the plan was made from: looking at every row may have taken most of the first call.
    private func keepLook(_ pace: MigrationPace) throws {
        guard !pace.isResumed else { return }
        // What lies in a WAL would be written back later, and the store would seem to have been written to.
        try lock.connection.writeBackLog(system)
        try system.makeFolder(work)
        try save(pace)
        pace.gain()
    }

    private func copyPages(_ pace: MigrationPace, _ units: MigrationUnits) throws {
        guard pace.checkpoint.sourceFolder(backups) == nil else { return }
        let draft = try pace.perform(units.backup) {
            try timings.measure(.backup) {
                try backups.draft(
                    of: lock, version: migration.from, for: migration.reason, copyingExternalData: !options.isFrugal,
                    observer)
            }
        }
        pace.checkpoint.draft = .init(name: Path.name(of: draft.folder), createdAt: draft.createdAt, rows: draft.rows)
        try save(pace)
    }

    private func openCopy(_ pace: MigrationPace, _ units: MigrationUnits) throws -> WorkingCopy {
        let (source, isMade) = (try pathOfSource(pace), pace.checkpoint.hasCopy)
        func open() throws -> WorkingCopy {
            try WorkingCopy(
                of: source, at: pathOfCopy, for: sidecar.store, options, system, isKept: true, isMade: isMade)
        }
        guard !isMade else { return try open() }
        // A call that died may have left half of one.
        for suffix in ["", "-journal"] { try system.remove(pathOfCopy + suffix) }
        let copy = try pace.perform(units.copy) { try timings.measure(.copy) { try open() } }
        observer.report(.copy, 1, bytes: before.size)
        pace.checkpoint.hasCopy = true
        try save(pace)
        return copy
    }

    private func change(_ copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits) throws {
        for function in migration.functions { try copy.connection.register(function) }
        let script = PacedScript(
            runner: ScriptRunner(script: migration.script, observer: observer, system: system), units: units,
            pace: pace, keysPerPiece: options.keysPerPiece)
        try read(try proofs(pace, units), pace) {
            try timings.measure(.change) { try script.run(on: copy.connection) }
        }
        pace.checkpoint.isChanged = true
        try save(pace)
    }

    private func finishBackup(_ pace: MigrationPace) throws {
        guard let pages = pace.checkpoint.draft, !options.isFrugal, let proof = pace.checkpoint.proof else { return }
        let backup = try named { try backups.finish(draft(pages, state()), proof, naming: $0) }
        bytes += proof.size
        pace.checkpoint.backup = backup.name
        pace.checkpoint.draft = nil
        try save(pace)
    }

    private func verify(_ copy: WorkingCopy, _ pace: MigrationPace, _ units: MigrationUnits) throws {
        try copy.connection.proveWrites()
        try copy.connection.forgetPages()
        copy.connection.onProgress(every: 20_000) { [observer] in !observer.isCancelled() }
        defer { copy.connection.onProgress(nil) }
        let pieces = try migration.verification.pieces(copy.connection, true)
        try read(pages(of: copy, pace, units) + proofs(pace, units), pace) {
            for piece in pieces.dropFirst(pace.checkpoint.verified) {
                try verify(piece.unit.seconds > 0 ? piece.unit : units.verification, pace) {
                    try piece.check(copy.connection)
                }
                // A single piece needs no report beside that of the end.
                guard pieces.count > 1 else { continue }
                observer.report(.verify, Double(pace.checkpoint.verified) / Double(pieces.count + 1))
            }
        }
        for check in pages(of: copy, pace, units) { try perform(check, .verify, pace) }
    }

    private func verify(_ unit: MigrationUnit, _ pace: MigrationPace, _ body: () throws -> Void) throws {
        try pace.perform(unit) { try timings.measure(.verify, body) }
        pace.checkpoint.verified += 1
        // What is not written down is verified once more.
        if !pace.mayRunAhead { try save(pace) }
    }

    // MARK: - What is there

    func pathOfSource(_ pace: MigrationPace) throws -> String {
        guard let folder = pace.checkpoint.sourceFolder(backups) else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is missing.", place: backups.folder,
                remedy: "Run the command again. The store is unchanged.")
        }
        return Path.join(folder, Path.name(of: sidecar.store))
    }

    private func state() throws -> StoreState { try StoreState(lock.connection) }

    private func draft(of pace: MigrationPace) throws -> BackupFolder.Draft {
        guard let pages = pace.checkpoint.draft else {
            throw MigrationError(
                .backupNotFound, "The backup of this migration is missing.", place: backups.folder,
                remedy: "Run the command again. The store is unchanged.")
        }
        return draft(pages, try state())
    }

    private func draft(_ pages: MigrationCheckpoint.CopiedPages, _ state: StoreState) -> BackupFolder.Draft {
        BackupFolder.Draft(
            folder: Path.join(backups.folder, pages.name), storeName: Path.name(of: sidecar.store),
            source: sidecar.store, version: migration.from, createdAt: pages.createdAt, state: state, rows: pages.rows,
            reason: migration.reason)
    }
}
