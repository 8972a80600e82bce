import Moult
import MoultBasics
import MoultTools

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
        examples: ["moult fleet run fleet.jsonl", "moult fleet run fleet.jsonl --verb backup --jobs 2 --time 10min"]
    ) { invocation, console in
        let fleet = try invocation.fleet(doing: invocation[value: verb] ?? "migrate")
        let report = try await fleet.run(invocation.fleetPolicy(), isApproved: invocation[approve], say: console.say)
        console.print(report.document) { report.lines(style: $0) }
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
        let fleet = try invocation.fleet(doing: "migrate")
        let chosen = try invocation[value: list].map { try fleet.listed($0) }
        let report = try await fleet.rollBack(chosen, invocation.fleetPolicy(), say: console.say)
        console.print(report.document) { report.lines(style: $0) }
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

extension Invocation {
    /// Returns the stores of the manifest, with a verb to run on each.
    fileprivate func fleet(doing name: String) throws -> Fleet {
        let (words, verb) = try leaf(name)
        let command = Fleet.Command(
            words, optionNames: Set(verb.options.map(\.name)), options: all(Verb.with)
        ) { [registry] in await MoultCommand.process(registry, $0) }
        return try Fleet(
            manifest: try required(Verb.manifest), command, registry, results: self[value: Verb.results],
            shard: self[value: Verb.shard], patience: try seconds(Verb.wait) ?? 0, environment: Environment.value,
            isStopping: Interruption.heard)
    }

    /// Returns the verb of that name, which takes a store.
    private func leaf(_ name: String) throws -> (words: [String], verb: Verb) {
        let words = (name == "backup" ? "backup create" : name).split(separator: " ").map(String.init)
        guard let verb = Verb.typed(words.joined(separator: " ")) else {
            let near = Suggestion.sentence(for: name, among: Verb.all.map(\.name))
            throw wrong("There is no verb \(name).\(near)")
        }
        let own = verb.operands.filter { !$0.isOptional }
        guard own == [.store], words.first != Verb.browse.name else {
            throw wrong("\(name) is no verb that takes a store and nothing else.")
        }
        return (words, verb)
    }

    fileprivate func fleetPolicy() throws -> FleetPolicy {
        var policy = FleetPolicy()
        policy.jobs = try number(Verb.jobs, atLeast: 1) ?? POSIXSystem().processors
        policy.jobsOfDevice = try number(Verb.deviceJobs, atLeast: 1) ?? .max
        policy.time = try seconds(Verb.time)
        policy.memory = try bytes(Verb.memory)
        policy.attempts = try number(Verb.attempts, atLeast: 1) ?? policy.attempts
        policy.deaths = try number(Verb.deaths, atLeast: 1) ?? policy.deaths
        policy.failures = try number(Verb.stopAfterFailures, atLeast: 1)
        if let canary = try share(Verb.canary) {
            policy.canary = FleetPolicy.Canary(share: canary, tolerance: try share(Verb.tolerate))
        } else if self[value: Verb.tolerate] != nil {
            throw wrong("--tolerate needs --canary.")
        }
        policy.retried = Set(
            try (list(Verb.retry) ?? []).map { word in
                guard let state = FleetState(rawValue: word), !state.isGood || state == .rolledBack else {
                    throw wrong("--retry does not know \(word).")
                }
                return state
            })
        return policy
    }

    /// Parses a size such as `500MB`, in bytes.
    func bytes(_ option: Option) throws -> Int64? {
        guard let text = self[value: option] else { return nil }
        for (suffix, factor) in [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("", 1)]
        where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number > 0, number * factor < 1e18 else { continue }
            return Int64(number * factor)
        }
        throw wrong("--\(option.name) is \(text), which is not a size: write 500MB or 2GB.")
    }

    /// Parses a share such as `1%`, from 0 to 1.
    func share(_ option: Option) throws -> Double? {
        guard let text = self[value: option] else { return nil }
        guard text.hasSuffix("%"), let number = Double(text.dropLast().trimmed), (0...100).contains(number) else {
            throw wrong("--\(option.name) is \(text), which is not a part: write 1%.")
        }
        return number / 100
    }
}

extension MoultCommand {
    /// Runs a command line in a forked process. Without an app's code it runs at once. With it the program is
    /// restarted, because the code may rely on threads that a forked process lacks.
    fileprivate static func process(_ registry: MigrationRegistry, _ arguments: () throws -> [String]) async -> Int32 {
        do {
            let arguments = try arguments()
            guard registry.isEmpty else {
                ForkedProcess.restart(arguments)
                throw MigrationError(
                    .internal, "The program could not be started again.", remedy: "Please report this.")
            }
            return await run(registry, arguments: arguments)
        } catch {
            let error = error as? MigrationError ?? .unknown(error)
            let console = Console(isJSON: true)
            console.line(error.document.compact)
            console.flush()
            return error.exitCode
        }
    }
}

extension FleetReport {
    fileprivate var exitCode: ExitCode {
        switch end {
        case .stopped: .failed
        case .canaryWaits: .unfinished
        case .complete, .failures, .canaryFailed: hasFailures ? .findings : .done
        }
    }
}

extension MigrationRegistry {
    /// Whether it has nothing from an app.
    fileprivate var isEmpty: Bool {
        models == nil && steps.isEmpty && stages.isEmpty && mappings.isEmpty && policies.isEmpty && rules.isEmpty
    }
}
