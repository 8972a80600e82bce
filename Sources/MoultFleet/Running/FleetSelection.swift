import MoultModel
import MoultSystem

/// The selection of the stores of a manifest that a run works on.
package enum FleetSelection {
    /// Whether a verb has to do with a store: a migration with those that are behind, every other verb with those that
    /// can be read.
    package static func includes(_ entry: FleetEntry, verb: String) -> Bool {
        verb == "migrate" ? entry.state == .behind : entry.state != .unreadable
    }

    /// The work that is left to do in a shard.
    package struct Tasks: Sendable {
        package var tasks: [FleetTask] = []
        /// Stores of the shard that the verb has to do with.
        package var stores: [FleetEntry] = []
        /// Results that are final.
        package var done: [Int: FleetResult] = [:]

        package init() {}
    }

    /// - Parameters:
    ///   - entries: the stores of the shard, each with the number of an earlier one that is the same file.
    /// - Throws: what reading and writing results throws.
    package static func tasks(
        _ entries: [(entry: FleetEntry, earlier: Int?)], verb: String, _ shard: ShardFolder, _ policy: FleetPolicy
    ) throws -> Tasks {
        let contents = try shard.contents()
        let log = AttemptLog(shard)
        // A torn result is none: the store is looked at again.
        for path in contents.torn where path.hasSuffix(".json") { try POSIXSystem().remove(path) }
        let records = try log.records(isAfterwards: true)
        try log.add(.run)
        var selected = Tasks()
        for (entry, earlier) in entries where includes(entry, verb: verb) {
            selected.stores.append(entry)
            if let earlier, contents.results[entry.number] == nil {
                let result = FleetResult(duplicate: entry, of: earlier, verb: verb)
                try shard.write(result)
                selected.done[entry.number] = result
                continue
            }
            var task = FleetTask(entry, earlier: contents.results[entry.number])
            let record = records[entry.number]
            task.attempts = max(record?.attempts ?? 0, task.earlier?.attempts ?? 0)
            (task.deaths, task.isSuspect) = (record?.deaths ?? 0, record?.isSuspect ?? false)
            if let result = task.earlier {
                if policy.retried.contains(result.state) {
                    try log.add(.forget(entry.number))
                    (task.attempts, task.deaths, task.isSuspect) = (0, 0, false)
                } else if !result.state.isRetried || task.attempts >= policy.attempts {
                    selected.done[entry.number] = result
                    continue
                }
            }
            selected.tasks.append(task)
        }
        return selected
    }
}

extension FleetResult {
    fileprivate init(duplicate entry: FleetEntry, of earlier: Int, verb: String) {
        self.init(entry, .duplicate, verb: verb)
        attempts = 0
        failure = Failure(
            code: MigrationError.Code.hardLinked.description,
            message: "The store is the same file as store \(earlier) of the manifest.",
            remedy: "You need do nothing: it is worked on once.")
    }
}
