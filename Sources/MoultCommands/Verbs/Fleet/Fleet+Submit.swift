import MoultTools

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
        guard !invocation[dryRun] else {
            console.print(array.scripts)
            return .done
        }
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
