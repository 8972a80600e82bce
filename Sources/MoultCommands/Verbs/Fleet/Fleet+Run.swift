import MoultEngine
import MoultFleet
import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem
import MoultTransform

extension Verb {
    static let runFleet = Verb(
        "run", "Migrate the stores of a manifest, or run another verb on them; run it again to continue.",
        discussion: """
            Each store has a process of its own, which is ended if it takes too much time or memory. The result of each
            store is a file in the results folder. Stores that are done are skipped, and stores that failed are tried
            again, at most --attempts times. A store whose process dies --deaths times is set aside, and its result has
            the last output of that process. The largest stores come first. If the run itself is killed, all its
            processes end, and the same command continues.

            --verb runs another verb that takes a store, such as validate, status or export. backup means backup create.
            A verb of two words is written in quotes: --verb "backup verify". --with gives the verb an option; {n} in it
            is the number of the store: --verb export --with -o --with out/{n}.

            If the manifest has several shards, --shard or a variable of the scheduler says which one to work on:
            SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX or CI_NODE_INDEX. Without them, all are
            worked on, one after the other.

            With --canary, a part of the stores of each shard comes first. If more of them fail than --tolerate allows,
            the run ends before the others. Without --tolerate, the run always ends after the canary, and the other
            stores wait for your approval: a run with --approve works on them.

            Exits with 0 if all stores are done, 1 if some are not, 5 if it was stopped, 6 if the canary waits for
            approval.
            """,
        operands: [manifest],
        options: [
            shard, jobs, deviceJobs, verb, with, results, time, memory, attempts, deaths, stopAfterFailures, canary,
            tolerate, approve, retry, wait,
        ],
        examples: [
            "moult fleet run fleet.jsonl", "moult fleet run fleet.jsonl --verb backup --jobs 2 --time 10min",
        ]
    ) { invocation, console in
        let fleet = try FleetInvocation(invocation, verb: invocation[value: verb] ?? "migrate")
        let policy = try fleet.policy()
        let report = try await fleet.run(fleet.work(), policy, console)
        console.print(report.document) { report.lines(style: $0).map(console.advised) }
        return report.exitCode
    }

    static let rollBackFleet = Verb(
        "rollback", "Undo a run: restore the backup of each store that it has migrated.",
        discussion: """
            Each store is restored from the backup that its migration made. Its current state is backed up first. With
            --list, only the stores in a list are restored. The same command tries again what could not be restored.
            """,
        operands: [manifest], options: [shard, list, jobs, deviceJobs, results, time, memory, deaths, wait],
        examples: ["moult fleet rollback fleet.jsonl"]
    ) { invocation, console in
        let fleet = try FleetInvocation(invocation, verb: "migrate")
        let chosen = try invocation[value: list].map { try fleet.listed($0) }
        let report = try await fleet.rollBack(chosen, try fleet.policy(), console)
        console.print(report.document) { report.lines(style: $0).map(console.advised) }
        return report.exitCode
    }

    static let manifest = Operand("MANIFEST", "The file that moult fleet plan has written.")
    static let shard = Option.value(
        "shard", "I/N", "The shard to work on and the number of shards, such as 3/16; the first is 0.")
    static let jobs = Option.value(
        "jobs", "N", "How many stores to work on at a time; by default one for each processor.")
    static let deviceJobs = Option.value(
        "device-jobs", "N", "How many of these stores may be on the same disk (st_dev); by default there is no limit.")
    static let results = Option.value(
        "results", "FOLDER", "The results folder; by default next to the manifest, with the verb in its name.",
        completes: .folders)
    fileprivate static let verb = Option.value("verb", "VERB", "The verb to run on each store; by default migrate.")
    fileprivate static let with = Option.value(
        "with", "OPTION", "An option for the verb, such as --accept-losses. May be given several times.")
    private static let list = Option.value(
        "list", "FILE", "The stores to roll back: a path or a number on each line.", completes: .files)
    static let time = Option.value(
        "time", "TIME",
        "How long one store may take; by default ten minutes plus twenty times the store's estimated time.")
    static let memory = Option.value("memory", "SIZE", "How much memory the process of a store may use, such as 500MB.")
    fileprivate static let attempts = Option.value(
        "attempts", "N", "How many times in all to try a store that fails; by default 3.")
    fileprivate static let deaths = Option.value(
        "deaths", "N", "Set a store aside after its process has died this many times; by default 3.")
    static let stopAfterFailures = Option.value(
        "stop-after-failures", "N", "After this many failures in a shard, begin no other store of that shard.")
    static let canary = Option.value("canary", "PERCENT", "Work on this part of the stores first, such as 1%.")
    static let tolerate = Option.value(
        "tolerate", "PERCENT", "How much of the canary may fail without ending the run, such as 2%.")
    fileprivate static let approve = Option.flag("approve", "Work on the other stores after a canary.")
    fileprivate static let retry = Option.value(
        "retry", "STATES",
        "Also retry stores in these states, separated by commas, and count their attempts from 0 again: failed, "
            + "refused, setAside, changed, vanished, rolledBack.")
    static let wait = Option.value("wait", "TIME", "How long to wait for another run of the same shard to end.")
}

/// A run as the command line asks for it.
struct FleetInvocation {
    let invocation: Invocation
    let verb: Verb
    /// As it is typed.
    let words: [String]
    /// As it was typed.
    private let path: String
    let manifest: FleetManifest
    let results: ResultsFolder
    /// The shards to work on, each with its stores.
    private let entries: [Int: [(entry: FleetEntry, earlier: Int?)]]
    private let shards: [Int]

    var name: String { words.joined(separator: " ") }

    init(_ invocation: Invocation, verb name: String) throws {
        self.invocation = invocation
        (words, verb) = try Self.leaf(name, invocation)
        path = try invocation.required(Verb.manifest)
        let header = try FleetManifest(reading: path)
        let index = try ShardIndex.index(
            invocation[value: Verb.shard], of: header.shards, environment: Environment.value)
        var entries: [Int: [(FleetEntry, Int?)]] = [:]
        manifest = try FleetManifest(contentsOf: path) { entry, earlier in
            if index == nil || entry.shard == index { entries[entry.shard, default: []].append((entry, earlier)) }
        }
        self.entries = entries
        shards = index.map { [$0] } ?? Array(0..<manifest.shards)
        let typed = words.joined(separator: " ")
        results = ResultsFolder(
            invocation[value: Verb.results] ?? ResultsFolder.path(of: path, verb: typed))
    }

    /// The verb of that name, which takes a store.
    private static func leaf(_ name: String, _ invocation: Invocation) throws -> ([String], Verb) {
        let words = (name == "backup" ? "backup create" : name).split(separator: " ").map(String.init)
        guard let (words, verb) = Verb.all.flatMap(\.leaves).first(where: { $0.words == words }) else {
            let near = Suggestion.nearest(to: name, among: Verb.all.map(\.name)).map { " Did you mean \($0)?" } ?? ""
            throw invocation.wrong("There is no verb \(name).\(near)")
        }
        let own = verb.operands.filter { !$0.isOptional }
        guard own == [.store], words.first != Verb.browse.name else {
            throw invocation.wrong("\(name) is no verb that takes a store and nothing else.")
        }
        return (words, verb)
    }

    // MARK: - What is asked for

    func policy() throws -> FleetPolicy {
        var policy = FleetPolicy()
        policy.jobs = try invocation.number(Verb.jobs, atLeast: 1) ?? POSIXSystem().processors
        policy.jobsOfDevice = try invocation.number(Verb.deviceJobs, atLeast: 1) ?? .max
        policy.time = try invocation.seconds(Verb.time)
        policy.memory = try invocation.bytes(Verb.memory)
        policy.attempts = try invocation.number(Verb.attempts, atLeast: 1) ?? policy.attempts
        policy.deaths = try invocation.number(Verb.deaths, atLeast: 1) ?? policy.deaths
        policy.failures = try invocation.number(Verb.stopAfterFailures, atLeast: 1)
        if let share = try invocation.share(Verb.canary) {
            policy.canary = FleetPolicy.Canary(share: share, tolerance: try invocation.share(Verb.tolerate))
        } else if invocation[value: Verb.tolerate] != nil {
            throw invocation.wrong("--tolerate needs --canary.")
        }
        policy.retried = Set(
            try (invocation.list(Verb.retry) ?? []).map { word in
                guard let state = FleetResult.State(rawValue: word), !state.isGood || state == .rolledBack else {
                    throw invocation.wrong("--retry does not know \(word).")
                }
                return state
            })
        return policy
    }

    /// The numbers of the stores that a list names.
    func listed(_ path: String) throws -> Set<Int> {
        let system = POSIXSystem()
        let known = Dictionary(
            entries.values.joined().map { ($0.entry.path, $0.entry.number) }
        ) { first, _ in first }
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

    // MARK: - The work on one store

    func work() throws -> FleetWork {
        try checkModel()
        let (words, registry, target) = (words, invocation.registry, manifest.target)
        let options = options(of: verb)
        let look = try look()
        return FleetWork(verb: name, isWriting: Self.isWriting(words)) { task in
            await Self.perform(registry) {
                try Self.check(task, look, target)
                return words + [task.entry.path] + options.map { $0.replacing("{n}", with: String(task.entry.number)) }
            }
        } conclude: { task, result, document in
            Self.conclude(task, &result, document)
        }
    }

    /// Runs a command line in a process that was forked for it: at once, or from the start of the program where an app's
    /// code is there, which may rely on threads that a forked process does not have.
    private static func perform(_ registry: MigrationRegistry, _ arguments: () throws -> [String]) async -> Int32 {
        do {
            let arguments = try arguments()
            guard registry.isEmpty else {
                ForkedProcess.restart(arguments)
                throw MigrationError(
                    .internal, "The program could not be started again.", remedy: "Please report this.")
            }
            return await MoultCommand.run(registry, arguments: arguments)
        } catch {
            let error = error as? MigrationError ?? .unknown(error)
            let console = Console(isJSON: true)
            console.line(error.document.compact)
            console.flush()
            return error.exitCode
        }
    }

    /// - Throws: `planStale` if the store is another one, or of another version.
    private static func check(_ task: FleetTask, _ look: StoreLook, _ target: String) throws {
        // Somebody has looked at it, and has asked for it.
        if task.earlier?.state == .changed { return }
        guard !task.differences.isEmpty, let found = try? look.look(at: task.entry.path), found.state != .unreadable
        else { return }
        func stale(_ message: String) -> MigrationError {
            MigrationError(
                .planStale, message, place: task.entry.path,
                remedy: "Plan a fleet of it again, or give --retry changed if it is the right one.")
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
        // A store that is of the version aimed at was migrated by an attempt that died before it could say so.
        guard result.verb == "migrate", result.state == .done, document["changed"]?.bool == false,
            task.entry.state == .behind
        else { return }
        guard task.attempts > 1 else { return result.differences.append("migrated") }
        result.wasDoneBefore = true
        let runs = (try? Migrator().runs(of: task.entry.path)) ?? []
        guard let run = runs.last(where: { $0.operation == .migrate && [.done, .recovered].contains($0.result) }),
            run.from == task.entry.version
        else { return }
        (result.from, result.to, result.rows) = (run.from, run.to, run.rows)
        if let name = run.backup {
            let folder = run.backups ?? (try? Migrator().backups(of: task.entry.path).folder) ?? ""
            result.backup = FleetResult.Backup(name: name, folder: Path.join(folder, name))
        }
    }

    /// Verbs that only look need no lock that counts.
    private static func isWriting(_ words: [String]) -> Bool {
        !["validate", "status", "inspect", "export", "dump", "doctor", "plan", "query", "hash"].contains(words[0])
    }

    /// The options of the manifest that the verb has, and those that were given for it.
    private func options(of verb: Verb) -> [String] {
        let names = Set(verb.options.map { "--\($0.name)" })
        let pairs = stride(from: 0, to: manifest.options.count - 1, by: 2).map { manifest.options[$0...($0 + 1)] }
        return pairs.filter { names.contains($0.first ?? "") }.flatMap { $0 } + extraOptions + ["--json"]
    }

    private var extraOptions: [String] { invocation.all(Verb.with) }

    // MARK: - The model

    private var modelPath: String? { option(.model) }

    private func option(_ option: Option) -> String? {
        manifest.options.firstIndex(of: "--\(option.name)").flatMap { manifest.options.dropFirst($0 + 1).first }
    }

    private func versions() throws -> ModelVersions {
        let order = option(.order)?.split(separator: ",").map(\.trimmed)
        guard let path = modelPath else {
            guard let models = invocation.registry.models else {
                throw MigrationError(
                    .codeMissing, "The fleet was planned by an app's own tool, which has the model.",
                    remedy: "Use that tool.")
            }
            return try models()
        }
        if let known = KnownModels.versions(at: path, order) { return known }
        let versions = ModelVersions(try ModelBundle(modelOrStoreAt: path, order: order))
        KnownModels.keep(versions, at: path, order)
        return versions
    }

    private func look() throws -> StoreLook { try StoreLook(versions(), target: manifest.target) }

    /// - Throws: `planStale` if the model is another one than when the fleet was planned.
    private func checkModel() throws {
        guard try versions().fleetDigest != manifest.modelDigest else { return }
        throw MigrationError(
            .planStale, "The model is not the one for which the fleet was planned.", place: modelPath ?? "",
            remedy: "Plan again with moult fleet plan, or put the model back.")
    }

    // MARK: - Running

    func run(_ work: FleetWork, _ policy: FleetPolicy, _ console: Console) async throws -> FleetReport {
        try results.open(for: ResultsFolder.Purpose(manifest, verb: name, options: extraOptions))
        var report = FleetReport(manifest: path, results: results.path, verb: name)
        let start = POSIXSystem().monotonicNanoseconds
        let progress = FleetProgress(console)
        for index in shards {
            let shard = results.shard(index)
            try shard.make()
            let lock = try shard.take(waiting: try invocation.seconds(Verb.wait) ?? 0)
            defer { withExtendedLifetime(lock) { shard.leave() } }
            let part = ShardRun(
                shard, policy, work, isApproved: invocation[Verb.approve], isStopping: Interruption.heard)
            try await part.run(entries[index] ?? [], verb: name, &report, progress)
            if report.end == .stopped { break }
        }
        report.seconds = POSIXSystem().seconds(since: start)
        return report
    }

    /// Restores the backups of the stores that a run has migrated.
    func rollBack(_ chosen: Set<Int>?, _ policy: FleetPolicy, _ console: Console) async throws -> FleetReport {
        guard let purpose = try results.known(), purpose.manifest == manifest.digest else {
            throw MigrationError(
                .backupNotFound, "There are no results of a run of this manifest.", place: results.path,
                remedy: "Name the results folder of the run with --results.")
        }
        let registry = invocation.registry
        let work = FleetWork(verb: "rollback", isWriting: true, stateOfFailure: .rollbackFailed) { task in
            await Self.perform(registry) {
                guard let backup = task.earlier?.backup else {
                    throw MigrationError(
                        .backupNotFound, "The run has made no backup of the store.", place: task.entry.path,
                        remedy: "Use moult downgrade, or restore an older backup with moult backup restore.")
                }
                return ["rollback", task.entry.path, "--to", backup.folder, "--config", "none", "--json"]
            }
        } conclude: { _, result, _ in
            if result.state == .done { result.state = .rolledBack }
        }
        var report = FleetReport(manifest: path, results: results.path, verb: "rollback")
        let start = POSIXSystem().monotonicNanoseconds
        let progress = FleetProgress(console)
        for index in shards {
            let shard = results.shard(index)
            guard try POSIXSystem().exists(shard.path) else { continue }
            let lock = try shard.take(waiting: try invocation.seconds(Verb.wait) ?? 0)
            defer { withExtendedLifetime(lock) { shard.leave() } }
            let known = try shard.contents().results
            let tasks = (entries[index] ?? []).compactMap { entry, _ -> FleetTask? in
                guard let result = known[entry.number], chosen?.contains(entry.number) ?? true,
                    [.done, .rollbackFailed].contains(result.state), !result.differences.contains("migrated")
                else { return nil }
                return FleetTask(entry, earlier: result)
            }
            let run = FleetRun(
                tasks, of: shard, policy, work, isStopping: Interruption.heard,
                tell: { progress.tell($0, tasks.count) })
            report.add(try await run.run())
            try shard.join(try shard.contents().results)
            if report.end == .stopped { break }
        }
        report.seconds = POSIXSystem().seconds(since: start)
        return report
    }
}

extension Invocation {
    /// A size such as `500MB`, in bytes.
    func bytes(_ option: Option) throws -> Int64? {
        guard let text = self[value: option] else { return nil }
        for (suffix, factor) in [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("", 1)]
        where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number > 0, number * factor < 1e18 else { continue }
            return Int64(number * factor)
        }
        throw wrong("--\(option.name) is \(text), which is not a size: write 500MB or 2GB.")
    }

    /// A part such as `1%`, from 0 to 1.
    func share(_ option: Option) throws -> Double? {
        guard let text = self[value: option] else { return nil }
        guard text.hasSuffix("%"), let number = Double(text.dropLast().trimmed), (0...100).contains(number) else {
            throw wrong("--\(option.name) is \(text), which is not a part: write 1%.")
        }
        return number / 100
    }
}

extension MigrationRegistry {
    /// Whether it has nothing of an app.
    fileprivate var isEmpty: Bool {
        models == nil && steps.isEmpty && stages.isEmpty && mappings.isEmpty && policies.isEmpty && rules.isEmpty
    }
}
