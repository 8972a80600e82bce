import MoultFleet
import MoultModel
import MoultReport
import MoultSystem

extension Verb {
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
        let system = POSIXSystem()
        let path = try system.resolve(try invocation.required(manifest))
        let header = try FleetManifest(contentsOf: path) { _, _ in }
        let folder = invocation[value: results] ?? ResultsFolder.path(of: path, verb: "migrate")
        var array = SlurmArray(
            manifest: path, results: folder.hasPrefix("/") ? folder : Path.join(try system.resolve("."), folder),
            shards: header.shards, program: try system.resolve("/proc/self/exe"))
        array.options = (invocation[value: partition].map { ["--partition=\($0)"] } ?? []) + invocation.all(sbatch)
        for option in [jobs, time, memory] {
            if let value = invocation[value: option] { array.runOptions += ["--\(option.name)", value] }
        }
        if let share = try invocation.share(canary) {
            array.canary = (share, try invocation.share(tolerate) ?? 0)
        } else if invocation[value: tolerate] != nil {
            throw invocation.wrong("--tolerate needs --canary.")
        }
        let scripts = array.scripts
        if invocation[dryRun] {
            console.print([
                "format": 1, "jobs": .array(scripts.map { ["name": .string($0.name), "script": .string($0.text)] }),
            ]) { _ in
                scripts.flatMap {
                    ["# \($0.name)"] + $0.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                }
            }
            return .done
        }
        let jobs = try array.submit()
        let end =
            invocation[noFollow] ? nil : try array.follow(jobs, isStopping: Interruption.heard) { console.say($0) }
        let document: JSONValue = [
            "format": 1,
            "jobs": .array(jobs.map { ["name": .string($0.name), "id": .string($0.identifier)] }),
            "followed": .bool(end != nil), "succeeded": end.map { .bool($0) } ?? .null,
        ]
        console.print(document) { _ in
            jobs.map { "\($0.name): job \($0.identifier)" }
                + (end == false
                    ? [
                        "The results were not merged: Slurm has lost or cancelled a job. The same command submits what is left."
                    ]
                    : [])
                + (end == nil ? [] : ["  → moult fleet status \(path.shellQuoted) shows the results."])
        }
        return end ?? true ? .done : .findings
    }

    private static let slurm = Option.flag(
        "slurm", "Submit to Slurm with sbatch. Required: no other scheduler is supported.")
    private static let partition = Option.value("partition", "NAME", "The partition of the cluster.")
    private static let sbatch = Option.value(
        "sbatch", "OPTION", "An option for sbatch, such as --account=lab. May be given several times.")
    private static let noFollow = Option.flag("no-follow", "Submit, and do not wait for the end.")
    private static let dryRun = Option.flag("dry-run", "Print the jobs, and submit nothing.")
}
