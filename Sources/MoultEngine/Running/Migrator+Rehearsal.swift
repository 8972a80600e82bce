import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// What a rehearsal has shown.
package struct RehearsalOutcome: Sendable, Equatable {
    package var rows: Int64
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    package var seconds: [MigrationOutcome.Timing]
    /// The room that the run itself will ask for.
    package var space: SpaceRequirement
    /// How the store was looked at; `readOnly` where side files may have changed.
    package var way: StoreProbe.Way
}

extension Migrator {
    /// Runs a migration on a copy in a scratch folder and verifies it; the store and every file of its folder stay as
    /// they are, and nothing is kept.
    package func rehearse(
        _ migration: Migration, on store: String, scratch: String? = nil, _ observer: MigrationObserver = .none
    ) throws -> RehearsalOutcome {
        let observer = observer.withTotalRows(of: migration.script)
        let folder = Path.join(scratch ?? system.temporaryFolder, "moult-rehearsal-\(system.uniqueName())")
        return try StoreProbe.read(store, system: system, folder: scratch) { probe in
            try system.makeFolder(folder)
            defer { _ = try? system.removeTree(folder) }
            try migration.precondition(probe.connection)
            return try rehearse(migration, probe, folder, observer)
        }
    }

    private func rehearse(_ migration: Migration, _ probe: StoreProbe, _ folder: String, _ observer: MigrationObserver)
        throws -> RehearsalOutcome
    {
        let before = try StoreState(probe.connection)
        let sidecar = Sidecar(store: probe.path)
        let space = SpaceRequirement(
            sidecar: sidecar, backups: Path.folder(of: probe.path),
            temporary: options.temporaryFolder ?? system.temporaryFolder, size: before.size, newSize: before.size,
            external: try system.size(below: sidecar.support), isFrugal: options.isFrugal,
            isInPlace: migration.script.isInPlace)
        var timings: [MigrationOutcome.Timing] = []
        func measure<Result>(_ phase: MigrationProgress.Phase, _ body: () throws -> Result) rethrows -> Result {
            let start = system.monotonicNanoseconds
            defer {
                let seconds = Double(system.monotonicNanoseconds &- start) / 1e9
                timings.append(.init(phase: phase, seconds: seconds))
                observer.report(phase, 1)
            }
            return try body()
        }
        let source = Path.join(folder, "source")
        try measure(.backup) {
            try BackupFolder(folder, system).copyPages(from: probe.connection, to: source, observer)
        }
        let copy = try measure(.copy) {
            try WorkingCopy(of: source, at: Path.join(folder, Path.name(of: probe.path)), options, system)
        }
        defer { copy.close() }
        try measure(.change) {
            for function in migration.functions { try copy.connection.register(function) }
            let runner = ScriptRunner(script: migration.script, observer: observer, system: system)
            try copy.connection.transaction { try runner.run(on: copy.connection) }
        }
        try measure(.verify) { try migration.verify(copy.connection) }
        return RehearsalOutcome(
            rows: observer.totalRows, bytesBefore: before.size, bytesAfter: try StoreState(copy.connection).size,
            seconds: timings, space: space, way: probe.way)
    }
}
