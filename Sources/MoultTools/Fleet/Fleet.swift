import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultSession
import Synchronization

/// The stores of a manifest, each of which is processed by a verb in a process of its own.
package struct Fleet {
    /// The work on one store: a verb of the command line.
    package struct Command: Sendable {
        /// The words of the verb, such as `backup create`.
        let words: [String]
        /// The names of the options that the verb accepts.
        let optionNames: Set<String>
        /// The options as typed on the command line; `{n}` in an option stands for the number of the store.
        let options: [String]
        /// Runs arguments in the process forked for a store, and returns the exit code.
        let run: @Sendable (() throws -> [String]) async -> Int32

        package init(
            _ words: [String], optionNames: Set<String>, options: [String],
            run: @escaping @Sendable (() throws -> [String]) async -> Int32
        ) {
            (self.words, self.optionNames, self.options, self.run) = (words, optionNames, options, run)
        }

        var name: String { words.joined(separator: " ") }
    }

    /// The path of the manifest, as given.
    private let path: String
    private let command: Command
    private let registry: MigrationRegistry
    private let manifest: FleetManifest
    private let results: ResultsFolder
    /// The shards to work on, each with its stores.
    private let entries: [Int: [(entry: FleetEntry, earlier: Int?)]]
    private let shards: [Int]
    /// The number of seconds to wait for another run of the same shard.
    private let patience: Double
    private let isStopping: @Sendable () -> Bool

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - results: the results folder; nil for the one next to the manifest.
    ///   - shard: the shard to work on, as typed; nil for the one that the environment names, otherwise for all.
    ///   - patience: the number of seconds to wait for another run of the same shard.
    /// - Throws: `usage` for a shard that does not exist; any error from reading the manifest.
    package init(
        manifest path: String, _ command: Command, _ registry: MigrationRegistry, results: String?, shard: String?,
        patience: Double, environment: (String) -> String?, isStopping: @escaping @Sendable () -> Bool
    ) throws {
        (self.path, self.command, self.registry) = (path, command, registry)
        (self.patience, self.isStopping) = (patience, isStopping)
        let header = try FleetManifest(reading: path)
        let index = try ShardIndex.index(shard, of: header.shards, environment: environment)
        var entries: [Int: [(FleetEntry, Int?)]] = [:]
        manifest = try FleetManifest(contentsOf: path) { entry, earlier in
            if index == nil || entry.shard == index { entries[entry.shard, default: []].append((entry, earlier)) }
        }
        self.entries = entries
        shards = index.map { [$0] } ?? Array(0..<manifest.shards)
        self.results = ResultsFolder(results ?? ResultsFolder.path(of: path, verb: command.name))
    }

    /// Returns the numbers of the stores in a list.
    package func listed(_ path: String) throws -> Set<Int> {
        let system = POSIXSystem()
        let known = Dictionary(entries.values.joined().map { ($0.entry.path, $0.entry.number) }) { first, _ in first }
        let numbers = Set(known.values)
        let lines = String(decoding: try system.read(path), as: UTF8.self).split(separator: "\n")
        return Set(
            try lines.map { line in
                let text = String(line)
                if let number = Int(text), numbers.contains(number) { return number }
                if let number = known[(try? system.resolve(text)) ?? text] ?? known[text] { return number }
                throw MigrationError(
                    .usage, "The manifest has no store \(text).", place: path,
                    remedy: "Name stores by their paths or numbers in the manifest.")
            })
    }

    // MARK: - Running

    /// Runs the verb on every store that is not done.
    ///
    /// - Parameters:
    ///   - isApproved: whether to continue with the other stores after a canary.
    ///   - say: takes sentences on failures and progress.
    /// - Throws: `planStale` if the model has changed since the fleet was planned; `locked` if another run works on the
    ///   shard.
    package func run(
        _ policy: FleetPolicy, isApproved: Bool, say: @escaping (String) -> Void
    ) async throws -> FleetReport {
        let work = try work()
        try results.open(for: ResultsFolder.Purpose(manifest, verb: command.name, options: command.options))
        var report = FleetReport(manifest: path, results: results.path, verb: command.name)
        let start = POSIXSystem().monotonicNanoseconds
        let progress = FleetProgress(say)
        for index in shards {
            let shard = results.shard(index)
            try shard.make()
            let lock = try shard.take(waiting: patience)
            defer { withExtendedLifetime(lock) { shard.leave() } }
            let part = ShardRun(shard, policy, work, isApproved: isApproved, isStopping: isStopping)
            try await part.run(entries[index] ?? [], verb: command.name, &report, progress)
            if report.end == .stopped { break }
        }
        report.seconds = POSIXSystem().seconds(since: start)
        return report
    }

    /// Restores the backups of the stores that a run migrated.
    ///
    /// - Parameter chosen: the numbers of the stores; nil for all.
    /// - Throws: `backupNotFound` if no run of this manifest has results.
    package func rollBack(
        _ chosen: Set<Int>?, _ policy: FleetPolicy, say: @escaping (String) -> Void
    ) async throws -> FleetReport {
        guard let purpose = try results.known(), purpose.manifest == manifest.digest else {
            throw MigrationError(
                .backupNotFound, "There are no results of a run of this manifest.", place: results.path,
                remedy: "Name the results folder of the run with \(option: .results).")
        }
        let command = command
        let work = FleetWork(verb: "rollback", isWriting: true, stateOfFailure: .rollbackFailed) { task in
            await command.run {
                guard let backup = task.earlier?.backup else {
                    throw MigrationError(
                        .backupNotFound, "The run has made no backup of the store.", place: task.entry.path,
                        remedy: "Use \(.downgrade), or restore an older backup with \(.restoreBackup).")
                }
                return ["rollback", task.entry.path, "--to", backup.folder, "--config", "none", "--json"]
            }
        } conclude: { _, result, _ in
            if result.state == .done { result.state = .rolledBack }
        }
        var report = FleetReport(manifest: path, results: results.path, verb: "rollback")
        let start = POSIXSystem().monotonicNanoseconds
        let progress = FleetProgress(say)
        for index in shards {
            let shard = results.shard(index)
            guard try POSIXSystem().exists(shard.path) else { continue }
            let lock = try shard.take(waiting: patience)
            defer { withExtendedLifetime(lock) { shard.leave() } }
            let known = try shard.contents().results
            let tasks = (entries[index] ?? []).compactMap { entry, _ -> FleetTask? in
                guard let result = known[entry.number], chosen?.contains(entry.number) ?? true,
                    [.done, .rollbackFailed].contains(result.state), !result.differences.contains("migrated")
                else { return nil }
                return FleetTask(entry, earlier: result)
            }
            let run = FleetRun(
                tasks, of: shard, policy, work, isStopping: isStopping, tell: { progress.tell($0, tasks.count) })
            report.add(try await run.run())
            try shard.join(try shard.contents().results)
            if report.end == .stopped { break }
        }
        report.seconds = POSIXSystem().seconds(since: start)
        return report
    }

    // MARK: - The work on one store

    private func work() throws -> FleetWork {
        try checkModel()
        let (command, target) = (command, manifest.target)
        let options = options
        let look = try StoreLook(versions(), target: target)
        return FleetWork(verb: command.name, isWriting: Self.isWriting(command.words)) { task in
            await command.run {
                try Self.check(task, look, target)
                return command.words + [task.entry.path]
                    + options.map { $0.replacing("{n}", with: String(task.entry.number)) }
            }
        } conclude: { task, result, document in
            Self.conclude(task, &result, document)
        }
    }

    /// - Throws: `planStale` if the path holds another store, or the store has another version than planned.
    private static func check(_ task: FleetTask, _ look: StoreLook, _ target: String) throws {
        // The user has looked at the change and asked for a retry.
        if task.earlier?.state == .changed { return }
        guard !task.differences.isEmpty, let found = try? look.look(at: task.entry.path), found.state != .unreadable
        else { return }
        func stale(_ message: String) -> MigrationError {
            MigrationError(
                .planStale, message, place: task.entry.path,
                remedy: "Plan a fleet of it again, or give \(option: .retry("changed")) if it is the right one.")
        }
        if found.uuid != task.entry.uuid {
            throw stale("Another store is at the path than when the fleet was planned.")
        }
        if found.version != task.entry.version, found.version != target {
            throw stale(
                "The store was of version \(task.entry.version) when the fleet was planned, and is of "
                    + "\(found.version.isEmpty ? "no known version" : found.version) now.")
        }
    }

    private static func conclude(_ task: FleetTask, _ result: inout FleetResult, _ document: JSONValue?) {
        guard let document else { return }
        (result.from, result.to) = (document["from"]?.string, document["to"]?.string)
        result.rows = document["rows"]?.integer
        if let name = document["backup"]?["name"]?.string, let folder = document["backup"]?["folder"]?.string {
            result.backup = FleetResult.Backup(name: name, folder: folder)
        }
        result.findings = document["findings"]?.array?.count
        // If the store already has the target version, an earlier attempt migrated it and died before it could report
        // that.
        guard result.verb == "migrate", result.state == .done, document["changed"]?.bool == false,
            task.entry.state == .behind
        else { return }
        guard task.attempts > 1 else { return result.differences.append("migrated") }
        result.wasDoneBefore = true
        let runs = (try? RunOptions().migrator().runs(of: task.entry.path)) ?? []
        guard let run = runs.last(where: { $0.operation == .migrate && [.done, .recovered].contains($0.result) }),
            run.from == task.entry.version
        else { return }
        (result.from, result.to, result.rows) = (run.from, run.to, run.rows)
        if let name = run.backup {
            let folder = run.backups ?? (try? RunOptions().migrator().backups(of: task.entry.path).folder) ?? ""
            result.backup = FleetResult.Backup(name: name, folder: Path.join(folder, name))
        }
    }

    /// Whether a verb writes. A verb that only reads can also run where locks are unreliable.
    private static func isWriting(_ words: [String]) -> Bool {
        !["validate", "status", "inspect", "export", "dump", "doctor", "plan", "query", "hash"].contains(words[0])
    }

    /// The manifest's options that the verb accepts, and the options given for the verb.
    private var options: [String] {
        let names = Set(command.optionNames.map { "--\($0)" })
        let pairs = stride(from: 0, to: manifest.options.count - 1, by: 2).map { manifest.options[$0...($0 + 1)] }
        return pairs.filter { names.contains($0.first ?? "") }.flatMap { $0 } + command.options + ["--json"]
    }

    // MARK: - The model

    private func option(_ name: String) -> String? {
        manifest.options.firstIndex(of: "--\(name)").flatMap { manifest.options.dropFirst($0 + 1).first }
    }

    private func versions() throws -> ModelVersions {
        guard let path = option("model") else {
            guard let models = registry.models else {
                throw MigrationError(
                    .codeMissing, "The fleet was planned by an app's own tool, which has the model.",
                    remedy: "Use that tool.")
            }
            return try models()
        }
        let order = option("order")?.split(separator: ",").map(\.trimmed)
        if let known = KnownModels.versions(at: path, order) { return known }
        let versions = ModelVersions(try ModelBundle(modelOrStoreAt: path, order: order))
        KnownModels.keep(versions, at: path, order)
        return versions
    }

    /// - Throws: `planStale` if the model has changed since the fleet was planned.
    private func checkModel() throws {
        guard try versions().fleetDigest != manifest.modelDigest else { return }
        throw MigrationError(
            .planStale, "The model is not the one for which the fleet was planned.", place: option("model") ?? "",
            remedy: "Plan again with \(.planFleet), or put the model back.")
    }
}

/// A cache of the models for the forked processes: thousands of them would otherwise read the same model.
package enum KnownModels {
    private static let all = Mutex<[[String]: ModelVersions]>([:])

    package static func versions(at path: String, _ order: [String]?) -> ModelVersions? {
        all.withLock { $0[[path] + (order ?? [])] }
    }

    static func keep(_ versions: ModelVersions, at path: String, _ order: [String]?) {
        all.withLock { $0[[path] + (order ?? [])] = versions }
    }
}

extension ModelVersions {
    /// The SHA-256 digest of the names and checksums of the versions.
    var fleetDigest: String {
        Digest.sha256(versions.flatMap { Array($0.name.utf8) + [0] + $0.hashes.checksum }).hexadecimal
    }
}
