import MoultEngine
import MoultModel
import MoultSystem

/// A fleet as jobs of Slurm: an array with a task for each shard, and what comes before and after it.
package struct SlurmArray: Sendable {
    package struct Script: Sendable, Equatable {
        package var name: String
        package var text: String
        /// The job that it waits for, and the state that this has to end with.
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
    /// Options of every job.
    package var options: [String] = []
    /// Options of `moult fleet run`.
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
            // A task that finds failures ends with 1; whether they are too many, all together decide.
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

    /// The number of shards is in the manifest, and never taken from the environment.
    private func fleetRun(_ options: [String]) -> String {
        "exec " + command(["run", manifest, "--results", results, "--wait", "5min"] + options)
    }

    private func script(_ name: String, isArray: Bool, _ command: String) -> Script {
        var lines = [
            "#!/bin/bash", "#SBATCH --job-name=moult-\(name)",
            "#SBATCH --output=\(folder)/\(name)-%\(isArray ? "A_%a" : "j").log",
            // A task that was begun on a node that failed begins again on another.
            "#SBATCH --requeue", "#SBATCH --open-mode=append", "#SBATCH --kill-on-invalid-dep=yes",
        ]
        if isArray { lines.append("#SBATCH --array=0-\(shards - 1)") }
        lines += options.map { "#SBATCH \($0)" }
        return Script(name: name, text: (lines + [command, ""]).joined(separator: "\n"))
    }

    // MARK: - Submitting

    /// Writes the jobs and submits them in their order.
    ///
    /// - Throws: `unsupported` if there is no sbatch, or if it refuses a job; those before it are cancelled.
    package func submit() throws -> [Job] {
        let system = POSIXSystem()
        try system.makeFolder(results)
        try system.makeFolder(folder)
        try system.remove(mergedPath)
        var jobs: [Job] = []
        for script in scripts {
            let path = Path.join(folder, "\(script.name).sbatch")
            try UnfinishedPath.replace([(path, Array(script.text.utf8))], .own, system)
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
            // With several clusters their name follows.
            jobs.append(
                Job(name: script.name, identifier: String(line.split(separator: ";").first ?? Substring(line))))
        }
        return jobs
    }

    /// Waits until no job is left in the queue, and says now and then how many tasks are in which state.
    ///
    /// - Returns: whether the results were merged; nil if somebody has stopped the waiting, which ends no job.
    package func follow(_ jobs: [Job], isStopping: () -> Bool, _ say: (String) -> Void) throws -> Bool? {
        var last = ""
        while !isStopping() {
            let identifiers = jobs.map(\.identifier).joined(separator: ",")
            let queue = try ProgramRun("squeue", ["--noheader", "--array", "--format=%j %T", "--jobs=\(identifiers)"])
            // A queue that does not answer is asked again; a job that is gone from it is unknown to it.
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
