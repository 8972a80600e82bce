import MoultBasics
import MoultTools

extension Verb {
    static let fleet = Verb(
        "fleet", "Work on thousands of stores: plan, run, status, rollback, submit.",
        discussion: """
            plan finds the stores and writes a manifest, which never changes. run works on the stores of the manifest,
            each in a process of its own, and continues where an earlier run ended, whatever ended it. status shows the
            state of the fleet and what to do about failures. rollback undoes a run. On a cluster, each task of an array
            runs one shard of the manifest; submit does this with Slurm.
            """,
        subverbs: [planFleet, runFleet, fleetStatus, rollBackFleet, submitFleet])

    private static let planFleet = Verb(
        "plan", "Find stores, and write what will happen to each; no store is changed.",
        discussion: """
            A file is recognised as a store by its content, whatever its name. A ROOT is a file, a pattern in quotes, or
            a folder, which is then searched. In a backup of a device made by iTunes or the Finder, Manifest.db gives
            the name that each store has on the device. A store that is reached twice is listed once. Without -o the
            manifest is printed. With -o, the manifest is written to FILE.part, and renamed to FILE when it is complete.
            If the plan was stopped, the same command continues it.

            --shards fixes the number of shards. Each task of a cluster's array works on one of them.

            Exits with 1 if a store cannot be read, is of no version of the model, or cannot be migrated.
            """,
        operands: [roots],
        options: [.model, .target, .order, .answers, .mapping, list, shards, manifestFile],
        examples: ["moult fleet plan . --model Forum.xcdatamodeld -o fleet.jsonl"]
    ) { invocation, console in
        let (roots, lists) = (invocation.all(roots), invocation.all(list))
        guard !roots.isEmpty || !lists.isEmpty else {
            throw invocation.wrong("Name a folder, a file or a pattern, or a list of paths with --list.")
        }
        let versions = try invocation.namedVersions(console)
        let planning = try FleetPlanning(
            versions, to: invocation[value: .target], answers: { try invocation.answers(for: versions, console) },
            mapping: invocation[value: .mapping], invocation.registry)
        let shards = try invocation.number(shards, atLeast: 1) ?? 1
        guard shards <= FleetPlanning.mostShards else {
            throw invocation.wrong("--shards takes at most \(FleetPlanning.mostShards).")
        }
        let path = invocation[value: manifestFile]
        let summary = try planning.run(
            roots, lists: lists, shards: shards, options: invocation.fleetOptions(planning.targetName), to: path,
            isStopping: Interruption.heard, print: console.exactly)
        if let path {
            console.print(summary.document(path)) { summary.lines(path, style: $0) }
        } else {
            summary.lines("the manifest", style: .plain).forEach(console.say)
        }
        for error in summary.missed { console.say("\(error.place.printable): \(error.message.printable)") }
        return summary.isClean ? .done : .findings
    }

    private static let roots = Operand(
        "ROOT", "A folder, a file, or a pattern such as 'tenants/*/app.sqlite'.", isOptional: true, isRepeated: true)
    private static let list = Option.value(
        "list", "FILE", "A file with the path of a store or a folder on each line. May be given several times.",
        completes: .files)
    private static let shards = Option.value(
        "shards", "N", "The number of parts that the fleet is divided into; by default 1.")
    private static let manifestFile = Option.value(
        "out", "FILE", "The new manifest; -o for short. Nothing may exist at FILE; an unfinished plan is in FILE.part.",
        completes: .files)
}

extension Invocation {
    /// Returns the options with which the processes of the run find the model and the way, with full paths.
    fileprivate func fleetOptions(_ target: String) throws -> [String] {
        let system = POSIXSystem()
        var options: [String] = []
        for option in [Option.model, .mapping] {
            if let path = self[value: option] { options += ["--\(option.name)", try system.resolve(path)] }
        }
        if let answers = answersPath, try system.exists(answers) {
            options += ["--\(Option.answers.name)", try system.resolve(answers)]
        }
        if let order = self[value: .order] { options += ["--\(Option.order.name)", order] }
        let configuration = try configuration.map { try system.resolve($0.path) } ?? "none"
        return options + ["--\(Option.target.name)", target, "--\(Option.config.name)", configuration]
    }
}

extension Verb {
    static let fleetStatus = Verb(
        "status", "Show the state of a fleet: counts, speed, time left, failures by cause and what to do next.",
        discussion: """
            Reads the results of all shards, even while runs write them. --html also writes an HTML page that needs no
            other file. With --check, the exit code is 1 if a store failed; with --tolerate, if more than this part of
            the finished stores failed.
            """,
        operands: [manifest], options: [results, verb, html, .checking("a store failed"), tolerated],
        examples: ["moult fleet status fleet.jsonl", "moult fleet status fleet.jsonl --html fleet.html --json"]
    ) { invocation, console in
        let path = try invocation.required(manifest)
        let name = invocation[value: verb] ?? "migrate"
        let status = try FleetStatus(manifest: path, results: invocation[value: results], of: name)
        try invocation[value: html].map(status.write)
        console.print(status.document) { status.lines(path, style: $0) }
        let tolerance = try invocation.share(tolerated) ?? 0
        return (invocation[.check] || invocation[value: tolerated] != nil) && status.failureShare > tolerance
            ? .findings : .done
    }

    private static let verb = Option.value("verb", "VERB", "The verb of the run; by default migrate.")
    private static let html = Option.value("html", "FILE", "Also write an HTML page.", completes: .files)
    private static let tolerated = Option.value(
        "tolerate", "PERCENT", "Exit with 1 only if more than this part of the finished stores failed.")

    static let submitFleet = Verb(
        "submit", "Run a fleet as an array of jobs on a cluster with Slurm, and follow it.",
        discussion: """
            Writes the jobs into the results folder and submits them with sbatch: an array with a task for each shard,
            which is requeued if a node fails, and a job that merges the results at the end. With --canary, an array for
            the canary comes first. Then a job counts the stores of the canary that failed. The other stores follow only
            if no more failed than --tolerate allows. Without --tolerate, none may fail; nothing waits for approval,
            unlike in moult fleet run.
            The manifest, the model, the results and moult itself must be at the same paths on every node. Each store
            must be on the node that gets its shard, or on all nodes.

            The command waits for the jobs to end and prints their states, unless --no-follow is given. --dry-run prints
            the jobs and submits nothing.
            """,
        operands: [manifest],
        options: [slurm, results, canary, tolerate, jobs, time, memory, partition, sbatch, noFollow, dryRun],
        examples: ["moult fleet submit fleet.jsonl --slurm --dry-run"]
    ) { invocation, console in
        guard invocation[slurm] else { throw invocation.wrong("Name the cluster's scheduler: --slurm.") }
        let share = try invocation.share(canary)
        if share == nil, invocation[value: tolerate] != nil { throw invocation.wrong("--tolerate needs --canary.") }
        let tolerance = try invocation.share(tolerate) ?? 0
        let runOptions = [jobs, time, memory].flatMap { option in
            invocation[value: option].map { ["--\(option.name)", $0] } ?? []
        }
        let array = try SlurmJobs(
            manifest: invocation.required(manifest), results: invocation[value: results],
            options: (invocation[value: partition].map { ["--partition=\($0)"] } ?? []) + invocation.all(sbatch),
            runOptions: runOptions, canary: share.map { ($0, tolerance) })
        guard !invocation[dryRun] else { return console.print(array.scripts, wraps: false) }
        let submission = try array.submit(
            isFollowing: !invocation[noFollow], isStopping: Interruption.heard, say: console.say)
        console.print(submission)
        return submission.hasFailed ? .findings : .done
    }

    private static let slurm = Option.flag(
        "slurm", "Submit to Slurm with sbatch. Required: no other scheduler is supported.")
    private static let partition = Option.value("partition", "NAME", "The partition of the cluster.")
    private static let sbatch = Option.value(
        "sbatch", "OPTION", "An option for sbatch, such as --account=lab. May be given several times.")
    private static let noFollow = Option.flag("no-follow", "Submit, and do not wait for the end.")
    private static let dryRun = Option.flag("dry-run", "Print the jobs, and submit nothing.")
}
