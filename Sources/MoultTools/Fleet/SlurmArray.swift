import Moult
import MoultBasics
import MoultEngine

/// A fleet as Slurm jobs: an array with a task for each shard, and the jobs before and after it.
package struct SlurmArray: Sendable {
    package struct Script: Sendable, Equatable {
        package var name: String
        package var text: String
        /// The job to wait for, and the condition on its end.
        var follows: (name: String, condition: String)?

        package static func == (left: Script, right: Script) -> Bool {
            (left.name, left.text) == (right.name, right.text)
        }
    }

    package struct Job: Sendable, Equatable {
        package var name: String
        package var identifier: String
    }

    private let manifest: String
    private let results: String
    private let shards: Int
    private let program: String
    /// The options of every job.
    package var options: [String] = []
    /// The options of `moult fleet run`.
    package var runOptions: [String] = []
    package var canary: (share: Double, tolerance: Double)?

    package init(manifest: String, results: String, shards: Int, program: String) {
        (self.manifest, self.results, self.shards, self.program) = (manifest, results, shards, program)
    }

    private var folder: String { Path.join(results, "slurm") }
    private var mergedPath: String { Path.join(results, "status.json") }

    // MARK: - The jobs

    package var scripts: [Script] {
        var scripts: [Script] = []
        var (run, follows): ([String], (String, String)?) = (runOptions, nil)
        if let canary {
            let percent = "\(Quantity.decimal(canary.share * 100, places: 3))%"
            let tolerance = "\(Quantity.decimal(canary.tolerance * 100, places: 3))%"
            scripts.append(script("canary", isArray: true, fleetRun(runOptions + ["--canary", percent])))
            // A canary task with failures exits with 1. The gate then judges the failures of all tasks together.
            var gate = script(
                "gate", isArray: false, command(["status", manifest, "--results", results, "--tolerate", tolerance]))
            gate.follows = ("canary", "afterany")
            scripts.append(gate)
            run.append("--approve")
            follows = ("gate", "afterok")
        }
        var rest = script("run", isArray: true, fleetRun(run))
        rest.follows = follows
        var merge = script(
            "merge", isArray: false,
            command([
                "status", manifest, "--results", results, "--json", "--html", Path.join(results, "status.html"),
            ]) + " >\(mergedPath.shellQuoted)")
        merge.follows = ("run", "afterany")
        return scripts + [rest, merge]
    }

    private func command(_ arguments: [String]) -> String {
        ([program, "fleet"] + arguments).map(\.shellQuoted).joined(separator: " ")
    }

    /// Returns the command of a shard's task. The number of shards comes from the manifest, never from the environment.
    private func fleetRun(_ options: [String]) -> String {
        "exec " + command(["run", manifest, "--results", results, "--wait", "5min"] + options)
    }

    private func script(_ name: String, isArray: Bool, _ command: String) -> Script {
        var lines = [
            "#!/bin/bash", "#SBATCH --job-name=moult-\(name)",
            "#SBATCH --output=\(folder)/\(name)-%\(isArray ? "A_%a" : "j").log",
            // Requeue a task on another node if its node fails.
            "#SBATCH --requeue", "#SBATCH --open-mode=append", "#SBATCH --kill-on-invalid-dep=yes",
        ]
        if isArray { lines.append("#SBATCH --array=0-\(shards - 1)") }
        lines += options.map { "#SBATCH \($0)" }
        return Script(name: name, text: (lines + [command, ""]).joined(separator: "\n"))
    }

    // MARK: - Submitting

    /// Writes the jobs and submits them in order.
    ///
    /// - Throws: `unsupported` if `sbatch` is missing or refuses a job; the jobs submitted before it are cancelled.
    package func submit() throws -> [Job] {
        let system = POSIXSystem()
        try system.makeFolder(results)
        try system.makeFolder(folder)
        try system.remove(mergedPath)
        var jobs: [Job] = []
        for script in scripts {
            let path = Path.join(folder, "\(script.name).sbatch")
            try StagedPath.replace([(path, Array(script.text.utf8))], .own, system)
            var arguments = ["--parsable"]
            if let (name, condition) = script.follows, let job = jobs.first(where: { $0.name == name }) {
                arguments.append("--dependency=\(condition):\(job.identifier)")
            }
            guard let run = try ProgramRun("sbatch", arguments + [path]) else {
                throw MigrationError(
                    .unsupported, "There is no program sbatch, so this machine is no part of a Slurm cluster.",
                    remedy: "Run it where jobs are submitted, or install Slurm's commands (slurm-client).")
            }
            guard run.exit == 0, let line = run.line else {
                if !jobs.isEmpty { _ = try? ProgramRun("scancel", jobs.map(\.identifier)) }
                throw MigrationError(
                    .unsupported, "Slurm has refused the job \(script.name): \(run.errorText)", place: path,
                    remedy:
                        "Correct the options: \(option: .partition), \(option: .sbatch). What was submitted before it is cancelled."
                )
            }
            // With several clusters, the cluster's name follows the identifier.
            jobs.append(Job(name: script.name, identifier: String(line.split(separator: ";").first ?? Substring(line))))
        }
        return jobs
    }

    /// Waits until no job is left in the queue, and reports the number of tasks in each state when it changes.
    ///
    /// - Returns: whether the results were merged; nil if the user stopped waiting, which does not end the jobs.
    package func follow(_ jobs: [Job], isStopping: () -> Bool, _ say: (String) -> Void) throws -> Bool? {
        var last = ""
        while !isStopping() {
            let identifiers = jobs.map(\.identifier).joined(separator: ",")
            let queue = try ProgramRun("squeue", ["--noheader", "--array", "--format=%j %T", "--jobs=\(identifiers)"])
            // Ask again if the queue does not answer. An unknown job has left the queue.
            if let queue, queue.exit == 0 || queue.errorText.contains("Invalid job id") {
                let lines = String(decoding: queue.exit == 0 ? queue.output : [], as: UTF8.self).split(separator: "\n")
                if lines.isEmpty { return try POSIXSystem().status(of: mergedPath)?.size ?? 0 > 0 }
                let counts = Dictionary(grouping: lines, by: { $0 }).mapValues(\.count)
                let text = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
                if text != last { say(text) }
                last = text
            }
            ForkedProcess.wait(for: [], milliseconds: 1_000)
        }
        return nil
    }
}

/// A fleet as an array of jobs on a cluster with Slurm.
package struct SlurmJobs {
    private let array: SlurmArray
    private let manifest: String

    /// - Parameters:
    ///   - results: the results folder; nil for the one next to the manifest.
    ///   - options: the options of `sbatch`.
    ///   - runOptions: the options of each shard's run, as typed.
    ///   - canary: the share of the stores that comes first, and the share of them that may fail.
    /// - Throws: any error from reading the manifest.
    package init(
        manifest: String, results: String?, options: [String], runOptions: [String],
        canary: (share: Double, tolerance: Double)?
    ) throws {
        let system = POSIXSystem()
        let path = try system.resolve(manifest)
        let header = try FleetManifest(contentsOf: path) { _, _ in }
        let folder = results ?? ResultsFolder.path(of: path, verb: "migrate")
        var array = SlurmArray(
            manifest: path, results: folder.hasPrefix("/") ? folder : Path.join(try system.resolve("."), folder),
            shards: header.shards, program: try POSIXSystem.ownProgram())
        (array.options, array.canary) = (options, canary)
        array.runOptions += runOptions
        (self.array, self.manifest) = (array, path)
    }

    /// The scripts of the jobs, without submitting them.
    package var scripts: Scripts { Scripts(scripts: array.scripts.map { ($0.name, $0.text) }) }

    /// Submits the jobs, and follows them to the end on request.
    ///
    /// - Parameters:
    ///   - isFollowing: whether to wait until the jobs end.
    ///   - say: takes sentences on the states of the jobs.
    package func submit(
        isFollowing: Bool, isStopping: @escaping @Sendable () -> Bool, say: @escaping (String) -> Void
    ) throws -> Submission {
        let jobs = try array.submit()
        let end = isFollowing ? try array.follow(jobs, isStopping: isStopping, say) : nil
        return Submission(manifest: manifest, jobs: jobs.map { ($0.name, $0.identifier) }, end: end)
    }

    package struct Scripts: ToolAnswer {
        fileprivate let scripts: [(name: String, text: String)]

        package var document: JSONValue {
            ["format": 1, "jobs": .array(scripts.map { ["name": .string($0.name), "script": .string($0.text)] })]
        }

        package func lines(style: TextStyle) -> [String] {
            scripts.flatMap {
                ["# \($0.name)"] + $0.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            }
        }
    }

    /// The submitted jobs.
    package struct Submission: ToolAnswer {
        fileprivate let manifest: String
        fileprivate let jobs: [(name: String, identifier: String)]
        /// Whether the results were merged; nil if the jobs were not followed.
        private let end: Bool?

        fileprivate init(manifest: String, jobs: [(name: String, identifier: String)], end: Bool?) {
            (self.manifest, self.jobs, self.end) = (manifest, jobs, end)
        }

        package var hasFailed: Bool { end == false }

        package var document: JSONValue {
            [
                "format": 1, "jobs": .array(jobs.map { ["name": .string($0.name), "id": .string($0.identifier)] }),
                "followed": .bool(end != nil), "succeeded": end.map { .bool($0) } ?? .null,
            ]
        }

        package func lines(style: TextStyle) -> [String] {
            jobs.map { "\($0.name): job \($0.identifier)" }
                + (hasFailed
                    ? [
                        "The results were not merged: Slurm has lost or cancelled a job. The same command submits what is left."
                    ]
                    : [])
                + (end == nil ? [] : [String(advice: "  → \(.fleetStatus, .path(manifest)) shows the results.")])
        }
    }
}

/// The index of the shard to work on: from the command line, otherwise from a cluster's scheduler.
package enum ShardIndex {
    /// The environment variables, and the number of the first shard in each.
    private static let variables: [(name: String, first: Int)] = [
        ("SLURM_ARRAY_TASK_ID", 0), ("JOB_COMPLETION_INDEX", 0), ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
        // GitLab counts its jobs from 1.
        ("CI_NODE_INDEX", 1),
    ]

    /// - Parameters:
    ///   - text: the value of `--shard`: `I/N` or `I`, from 0; nil if it was not given.
    ///   - count: the number of shards in the manifest.
    ///   - environment: returns the value of a variable.
    /// - Returns: nil for all shards.
    /// - Throws: `usage` if the value is not a number, is out of range, or is for another number of shards.
    package static func index(
        _ text: String?, of count: Int, environment: (String) -> String?
    ) throws(MigrationError) -> Int? {
        if let text {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let index = parts.first.flatMap({ Int($0) }), parts.count <= 2,
                parts.count == 1 || Int(parts[1]) != nil
            else { throw wrong("\(option: .shard(nil)) takes a number from 0, such as 3 or 3/\(count), not \(text).") }
            if parts.count == 2, let typed = Int(parts[1]), typed != count {
                throw MigrationError(
                    .usage, "The manifest has \(count) shards, not \(typed).",
                    remedy:
                        "The number of shards is fixed when a fleet is planned. Give \(option: .shard("\(index)/\(count)")), or "
                        + "plan again with \(option: .shards("\(typed)")).")
            }
            return try checked(index, of: count, "\(option: .shard(text))")
        }
        guard count > 1 else { return nil }
        let found = variables.compactMap { variable in
            environment(variable.name).map { (variable.name, $0, variable.first) }
        }
        guard let (name, value, first) = found.first else { return nil }
        if found.count > 1 {
            let names = found.map { "\($0.0)=\($0.1)" }.joined(separator: ", ")
            throw wrong("More than one variable names the shard: \(names). Give \(option: .shard(nil)).")
        }
        guard let index = Int(value) else { throw wrong("The variable \(name) is \(value), not a number.") }
        return try checked(index - first, of: count, "\(name)=\(value)")
    }

    private static func checked(_ index: Int, of count: Int, _ source: Remedy) throws(MigrationError) -> Int {
        guard (0..<count).contains(index) else {
            throw wrong("The manifest has \(count) shards, from 0 to \(count - 1). \(source) names none of them.")
        }
        return index
    }

    private static func wrong(_ message: Remedy) -> MigrationError {
        MigrationError(
            .usage, message.text(),
            remedy: "The number of shards is fixed in the manifest; a task's number has to be one of them.")
    }
}
