import MoultModel

/// The index of the shard that a run works on: from the command line, otherwise from the scheduler of a cluster.
package enum ShardIndex {
    /// The variables, and the number of the first shard in each.
    private static let variables: [(name: String, first: Int)] = [
        ("SLURM_ARRAY_TASK_ID", 0), ("JOB_COMPLETION_INDEX", 0), ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
        // GitLab counts its jobs from 1.
        ("CI_NODE_INDEX", 1),
    ]

    /// - Parameters:
    ///   - text: the value of `--shard`: `I/N` or `I`, from 0; nil if it was not given.
    ///   - count: how many shards the manifest has.
    ///   - environment: gives the value of a variable.
    /// - Returns: nil for all shards.
    /// - Throws: `usage` if the number is none, is too large, or is of another number of shards.
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
