import MoultFleet
import MoultModel
import MoultReport
import MoultSystem

/// A fleet as an array of jobs on a cluster with Slurm.
package struct SlurmJobs {
    private let array: SlurmArray
    private let manifest: String

    /// - Parameters:
    ///   - results: the results folder; nil for the one next to the manifest.
    ///   - options: those of `sbatch`.
    ///   - runOptions: those of the run of each shard, as they are typed.
    ///   - canary: the part of the stores that comes first, and how much of it may fail.
    /// - Throws: what reading the manifest throws.
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
            shards: header.shards, program: try system.resolve("/proc/self/exe"))
        (array.options, array.canary) = (options, canary)
        array.runOptions += runOptions
        (self.array, self.manifest) = (array, path)
    }

    /// The jobs, not submitted.
    package var scripts: Scripts { Scripts(scripts: array.scripts.map { ($0.name, $0.text) }) }

    /// Submits the jobs, and follows them to their end.
    ///
    /// - Parameters:
    ///   - isFollowing: whether to wait for the end.
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
            [
                "format": 1,
                "jobs": .array(scripts.map { ["name": .string($0.name), "script": .string($0.text)] }),
            ]
        }

        package func lines(style: TextStyle) -> [String] {
            scripts.flatMap {
                ["# \($0.name)"] + $0.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            }
        }
    }

    /// Jobs that were submitted.
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
                "format": 1,
                "jobs": .array(jobs.map { ["name": .string($0.name), "id": .string($0.identifier)] }),
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
