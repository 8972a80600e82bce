import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// Reads the data that the pages of a damaged store still hold into a new store; the damaged store stays as it is.
///
/// The model defines the new store's tables, so no damage of the old catalogue is copied. References to lost rows are
/// left to a later repair.
package struct StoreSalvage {
    private let version: ModelVersion?
    private let versions: ModelVersions?
    private let system: any System

    /// - Parameters:
    ///   - version: the version of the store, if the caller knows it.
    ///   - versions: the versions of the model; nil for the model inside the store. The store's own metadata or the
    ///     model inside it determines the version. If neither can be read, the version that places the most rows wins.
    package init(
        _ version: ModelVersion? = nil, among versions: ModelVersions? = nil, system: any System = POSIXSystem()
    ) {
        (self.version, self.versions, self.system) = (version, versions, system)
    }

    /// - Parameters:
    ///   - store: the damaged store.
    ///   - path: the path of the new store; nothing may exist there, nor at `StoreRecords.aside(of:)`.
    /// - Throws: `notAStore` if the pages are encrypted, or if no table belongs to a store and no model names one;
    ///   `usage` if a path is taken; `locked` if another process makes the new store, has the damaged store open or
    ///   keeps writing to it; `modelNotFound`, `modelInvalid` if the store's own model is needed but missing. After any
    ///   error, nothing is made.
    package func run(_ store: String, into path: String, isCancelled: @escaping () -> Bool = { false }) throws
        -> SalvageReport
    {
        guard let status = try system.status(of: store), status.kind == .file else {
            throw MigrationError(
                .fileNotFound, "There is no file at \(store).", place: store, remedy: "Check the path of the store.")
        }
        let store = try system.resolve(store)
        if let encrypted = try ReadOnlyStore.encrypted(store, system) { throw encrypted }
        let foreign = ReadOnlyStore.foreignSideFile(of: store, system)
        let missing = try MissingLog.findings(of: store, system)
        let unfinished = try StagedStore(at: path, taking: newPaths(of: store, path), system)
        defer { unfinished.remove() }
        try SpaceRequirement(salvaging: StoreRecords(store: store), to: StoreRecords(store: path), system)
            .check(for: "The salvage", system)
        let files = SalvageFiles(unfinished)
        let fault = try copy(store, to: files.damaged)
        var report: SalvageReport
        do {
            report = try made(files, of: store, at: path, isCancelled)
        } catch let error as MigrationError where error.code == .notAStore {
            throw foreign ?? error
        }
        if let fault {
            report.notes.append(
                "Its rollback journal cannot be played back as a whole: rows may be as an unfinished transaction has "
                    + "left them. \(fault)")
        }
        report.remarks += missing.map { "\($0.message) \($0.remedy)" } + report.doubt
        if let foreign { report.notes.insert("\(foreign.message) \(foreign.remedy)", at: 0) }
        for file in [files.new, files.aside] where try system.exists(file) { try system.synchronise(file) }
        try install(unfinished, files, of: store, &report)
        return report
    }

    /// Returns the paths that must not exist.
    private func newPaths(of store: String, _ path: String) -> [String] {
        let (old, new) = (StoreRecords(store: store).support, StoreRecords(store: path).support)
        return [path, StoreRecords.aside(of: path)] + (old == new ? [] : [new])
    }

    /// Copies the store. A rollback journal that a dead process has left is played back into the copy; a WAL is read as
    /// it is.
    ///
    /// - Returns: a description of the fault of a journal that SQLite cannot play back completely.
    private func copy(_ store: String, to copy: String) throws -> String? {
        var tries = 1
        try StoreLock.checkUnused(store, system)
        while try !ReadOnlyStore.copy(store, to: copy, system) {
            guard tries < 3 else { throw ReadOnlyStore.disturbed(store) }
            tries += 1
            for suffix in ["", "-wal", "-journal"] { try system.remove(copy + suffix) }
        }
        try StoreLock.checkUnused(store, system)
        guard let journal = try system.status(of: copy + "-journal"), journal.size > 0 else { return nil }
        let fault = try RollbackJournal(copy + "-journal", system)
            .fault(besideDatabaseOf: system.status(of: copy)?.size ?? 0)
        let connection = try Connection(copy, mode: .readWrite)
        try connection.keepWALOnClose(true)
        _ = try? connection.catalogue()
        connection.close()
        // SQLite removes a journal that it has played back, and keeps a spent one.
        let isLeft = try RollbackJournal(copy + "-journal", system).count > 0
        return fault ?? (isLeft ? "SQLite has not played it back." : nil)
    }

    /// Makes the new store, of the version that was named, that the damaged store contains, or that places the most
    /// rows.
    private func made(
        _ files: SalvageFiles, of store: String, at path: String, _ isCancelled: @escaping () -> Bool
    ) throws -> SalvageReport {
        func check() throws {
            guard isCancelled() else { return }
            throw MigrationError(
                .cancelled, "The salvage was cancelled; the damaged store is unchanged.",
                remedy: "Run the command again when you want it done.")
        }
        func make(_ version: ModelVersion?, _ evidence: SalvageReport.Evidence, isTrial: Bool = false) throws -> Made {
            try self.make(version, evidence, files, of: store, at: path, isTrial: isTrial, check)
        }
        if let version { return try make(version, .named).report }
        guard let versions else { return try make(nil, .model).report }
        let identity = try DamagedIdentity(of: files.damaged, place: store, system, check: check)
        if let (version, evidence) = identity.version(in: versions) { return try make(version, evidence).report }
        func report(_ version: ModelVersion?, _ trials: [SalvageReport.Trial]) throws -> SalvageReport {
            var report = try make(version, .rows(trials)).report
            report.isOfOtherVersion = identity.saysVersion
            return report
        }
        // Newest first, so that the newest wins among versions that place equally many rows.
        let candidates = Array(versions.versions.reversed())
        guard let newest = candidates.first, candidates.count > 1 else {
            return try report(candidates.first, [])
        }
        var (trials, best): ([SalvageReport.Trial], (version: ModelVersion, made: Made)?) = ([], nil)
        for version in candidates {
            // The store cannot be of a version whose tables cannot be made.
            let made: Made
            do {
                made = try make(version, .named, isTrial: true)
            } catch let error as MigrationError where [.unsupported, .modelInvalid].contains(error.code) {
                continue
            }
            trials.append(.init(version: version.name, rows: made.report.rows))
            if best.map({ made.isBetter(than: $0.made) }) ?? true { best = (version, made) }
        }
        return try report(best?.version ?? newest, trials)
    }

    /// A store in the making, and how well its version fits the recovered rows.
    private struct Made {
        var report: SalvageReport
        /// The number of columns of the version that the damaged store lacks.
        var missingColumns: Int

        func isBetter(than other: Made) -> Bool {
            func unplaced(_ report: SalvageReport) -> Int64 { report.unplaced.reduce(0) { $0 + $1.rows } }
            func missing(_ made: Made) -> Int { made.missingColumns + made.report.tables.count(where: \.isMissing) }
            return (report.rows, -unplaced(report), -missing(self))
                > (other.report.rows, -unplaced(other.report), -missing(other))
        }
    }

    private func recover(
        _ version: ModelVersion?, _ files: SalvageFiles, of store: String, _ check: @escaping () throws -> Void
    ) throws -> PageRecovery {
        func hints(_ cache: [UInt8]?) throws -> PageRecovery.Hints? {
            let carried = cache.flatMap { bytes -> ManagedObjectModel? in
                var findings: [Finding] = []
                return try? ManagedObjectModel(modelCache: bytes, findings: &findings)
            }
            let version = version ?? carried.map { ModelVersion(names: ["store"], model: $0) }
            return try version.map(PageRecovery.Hints.init(of:))
        }
        // SQLite would create the file with the permissions of the umask.
        try system.makeFile(files.recovered, .own)
        let meter = WorkMeter.current
        var rows = 0
        let recovery = try PageRecovery(
            files.damaged, into: files.recovered, system, optionalTables: StoreSnapshot.historyTables,
            highestKey: PrimaryKeyRow.highestSQL,
            check: {
                rows += 1
                // Asking for the time takes longer than reading a row.
                guard rows < 64 || rows & 63 == 0 else { return }
                meter?.pulse(rows < 64 ? 1 : 64)
                try check()
            }, hints: hints)
        let size = try system.status(of: files.damaged)?.size ?? 0
        // A row takes some sixty bytes.
        _ = try WorkMeter.each(upTo: 0.6, beats: 1, [(size / 60, { [try recovery.run(place: store)] })])
        return recovery
    }

    /// - Parameters:
    ///   - version: nil for the model inside the damaged store.
    ///   - isTrial: whether only the report is needed: all files are removed, and external data is not copied.
    private func make(
        _ version: ModelVersion?, _ evidence: SalvageReport.Evidence, _ files: SalvageFiles, of store: String,
        at path: String, isTrial: Bool, _ check: @escaping () throws -> Void
    ) throws -> Made {
        defer {
            if isTrial { for file in [files.recovered, files.new, files.aside] { removeDatabase(file) } }
        }
        let recovery = try recover(version, files, of: store, check)
        let losses = try SalvageLosses(recovery)
        try recovery.database.close()
        if !isTrial { removeDatabase(files.damaged) }
        let recovered = try Connection(files.recovered, mode: .immutable)
        defer { recovered.close() }
        let source = try DamagedStore(recovered, place: store)
        let version = try version ?? source.ownVersion()
        let damaged = source.layout(of: version.model)
        let maker = try StoreCreator(
            version, framework: source.framework ?? FrameworkLevel.newest.number, history: source.hasHistory,
            uuid: source.uuid, experimental: true, namesOf: damaged)
        try maker.make(at: files.new, .like(store), on: self.system)
        try system.makeFile(files.aside, .like(store))
        let data = isTrial ? nil : try SalvagedData(of: store, for: path, to: files.support, system)
        let filling = SalvageFilling(
            files: files, source: source, damaged: damaged, maker: maker, losses: losses, data: data, system: system)
        var report = try filling.run(version.name)
        report.remarks += source.remarks(version)
        (report.evidence, report.title) = (evidence, version.title)
        return Made(report: report, missingColumns: filling.missingColumns)
    }

    private func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { _ = try? system.remove(path + suffix) }
    }

    private func install(
        _ unfinished: StagedStore, _ files: SalvageFiles, of store: String, _ report: inout SalvageReport
    ) throws {
        let path = unfinished.path
        let hasAside = try system.exists(files.aside)
        if let error = try unfinished.install(taking: newPaths(of: store, path)) {
            report.notes.append("The folder of the new store could not be synchronised: \(error)")
        }
        report.store = path
        if hasAside { report.aside = StoreRecords.aside(of: path) }
    }
}

extension StoreSalvage {
    /// Returns whether a file, or the WAL next to it, is long enough for a page: nothing can be read from a shorter one.
    package static func hasPage(_ store: String, _ system: any System) -> Bool {
        func size(_ path: String) -> Int64 { ((try? system.status(of: path)) ?? nil)?.size ?? 0 }
        let page = (try? system.read(store, prefix: 18))?.databasePageSize ?? 512
        return size(store) >= page || size(store + "-wal") > 0
    }
}

/// The files of a salvage in progress.
struct SalvageFiles {
    private let unfinished: StagedStore

    init(_ unfinished: StagedStore) { self.unfinished = unfinished }

    var damaged: String { Path.join(unfinished.folder, "damaged") }
    var recovered: String { Path.join(unfinished.folder, "recovered") }
    var new: String { unfinished.new }
    var aside: String { unfinished.aside }
    var support: String { unfinished.support }
}

extension PageRecovery.Hints {
    fileprivate init(of version: ModelVersion) throws {
        let layout = try StoreLayout(model: version.model, history: true)
        var numbers: [String: Set<Int64>] = [:]
        for table in layout.tables {
            guard let root = version.model.entity(table.rootEntityName) else { continue }
            numbers[table.name] = Set(layout.numbers(ofEntityAndDescendants: root).map(Int64.init))
        }
        // The numbers of history entities, whose tables begin with another letter.
        for row in layout.primaryKeyRows where row.number > 16_000 {
            numbers["A" + row.name.uppercased()] = [Int64(row.number)]
        }
        self.init(statements: layout.createStatements, numbers: numbers)
    }
}
