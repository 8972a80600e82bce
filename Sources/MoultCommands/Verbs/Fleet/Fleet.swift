import MoultModel
import MoultSystem
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
    /// Returns the options by which the processes of the run find the model and the way again; paths in full.
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
