import MoultBasics
import MoultModel
import MoultStore

/// A store to process, with its state from earlier runs.
package struct FleetTask: Sendable {
    package var entry: FleetEntry
    package var earlier: FleetResult?
    package var attempts = 0
    package var deaths = 0
    /// Whether the previous run died while the store was in progress.
    package var isSuspect = false
    /// The differences between the store and the plan.
    package var differences: [String] = []

    package init(_ entry: FleetEntry, earlier: FleetResult? = nil) { (self.entry, self.earlier) = (entry, earlier) }
}

/// The work to run on each store.
package struct FleetWork: Sendable {
    /// The verb, as typed.
    package var verb: String
    package var isWriting: Bool
    /// The state of a store on which the work failed, for any reason; nil to derive the state from the reason.
    package var stateOfFailure: FleetResult.State?
    /// Runs the work in the store's own process: prints a verb's document, and returns its exit code. If the store is
    /// not the planned one, the document contains the error `planStale`.
    package var perform: @Sendable (FleetTask) async -> Int32
    /// Completes the result of a store whose process has ended, from the document that the process printed.
    package var conclude: @Sendable (FleetTask, inout FleetResult, JSONValue?) -> Void

    package init(
        verb: String, isWriting: Bool, stateOfFailure: FleetResult.State? = nil,
        perform: @escaping @Sendable (FleetTask) async -> Int32,
        conclude: @escaping @Sendable (FleetTask, inout FleetResult, JSONValue?) -> Void
    ) {
        (self.verb, self.isWriting, self.perform, self.conclude) = (verb, isWriting, perform, conclude)
        self.stateOfFailure = stateOfFailure
    }
}

/// The selection of the manifest's stores for a run.
package enum FleetSelection {
    /// Whether a verb applies to a store. A migration applies to stores that are behind, every other verb to all
    /// readable stores.
    package static func includes(_ entry: FleetEntry, verb: String) -> Bool {
        verb == "migrate" ? entry.state == .behind : entry.state != .unreadable
    }

    /// The remaining work of a shard.
    package struct Tasks: Sendable {
        package var tasks: [FleetTask] = []
        /// The stores of the shard that the verb applies to.
        package var stores: [FleetEntry] = []
        /// The results that are final.
        package var done: [Int: FleetResult] = [:]

        package init() {}
    }

    /// - Parameters:
    ///   - entries: the stores of the shard, each with the number of an earlier entry for the same file.
    /// - Throws: any error from reading or writing results.
    package static func tasks(
        _ entries: [(entry: FleetEntry, earlier: Int?)], verb: String, _ shard: ShardFolder, _ policy: FleetPolicy
    ) throws -> Tasks {
        let contents = try shard.contents()
        let log = AttemptLog(shard)
        // A torn result does not count: the store is tried again.
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

/// The stores that wait to be started: the largest of each device first. Stores that were in progress when a run died
/// come last, each of them alone.
struct FleetQueue {
    private var first: [[UInt64: [FleetTask]]] = []
    private var suspects: [FleetTask]
    private(set) var count: Int

    init(_ tasks: [FleetTask]) {
        count = tasks.count
        suspects = tasks.filter(\.isSuspect).sorted { $0.entry.number > $1.entry.number }
        let others = tasks.filter { !$0.isSuspect }.sorted {
            ($0.entry.estimate, $1.entry.number) < ($1.entry.estimate, $0.entry.number)
        }
        first = [Dictionary(grouping: others) { $0.entry.device }]
    }

    /// Removes and returns the next store, given the number of running stores of each device.
    ///
    /// - Returns: nil if no store may be started now.
    mutating func next(running: [UInt64: Int], ofDevice limit: Int) -> FleetTask? {
        for place in first.indices {
            let free = first[place].filter { !$0.value.isEmpty && running[$0.key, default: 0] < limit }
            // Prefer the device with the fewest running stores, then the largest store.
            let chosen = free.min { left, right in
                let (fewer, more) = (running[left.key, default: 0], running[right.key, default: 0])
                return fewer != more
                    ? fewer < more : (left.value.last?.entry.estimate ?? 0) > (right.value.last?.entry.estimate ?? 0)
            }
            if let device = chosen?.key {
                count -= 1
                return first[place][device]?.popLast()
            }
            if first[place].contains(where: { !$0.value.isEmpty }) { return nil }
        }
        guard running.values.allSatisfy({ $0 == 0 }), let suspect = suspects.popLast() else { return nil }
        count -= 1
        return suspect
    }

    /// Requeues a store whose process has died, after all stores that have not been tried.
    mutating func returnLater(_ task: FleetTask) {
        count += 1
        if first.count == 1 { first.append([:]) }
        first[1][task.entry.device, default: []].insert(task, at: 0)
    }
}

/// The rules for a run.
package struct FleetPolicy: Sendable, Equatable {
    /// The number of stores to process at a time, in total and per device.
    package var jobs = 1
    package var jobsOfDevice = Int.max
    /// The time limit for one store, in seconds; nil for ten minutes plus twenty times the estimate.
    package var time: Double?
    /// The memory limit of a process, in bytes; nil for no limit.
    package var memory: Int64?
    /// The maximum number of attempts on a failing store.
    package var attempts = 3
    /// The number of deaths of its process after which a store is set aside.
    package var deaths = 3
    /// The number of failures after which the run starts no further store; nil for no limit.
    package var failures: Int?
    /// The canary, whose stores come first; nil for none.
    package var canary: Canary?
    /// Further states to retry, which are not retried by default.
    package var retried: Set<FleetResult.State> = []

    package init() {}

    /// The size of the canary, and the condition for continuing with the other stores.
    package struct Canary: Sendable, Equatable {
        /// The share of the stores in the canary, from 0 to 1.
        package var share: Double
        /// The share of the canary's stores that may fail, from 0 to 1; nil if the user must approve in any case.
        package var tolerance: Double?

        package init(share: Double, tolerance: Double?) { (self.share, self.tolerance) = (share, tolerance) }
    }

    func seconds(for entry: FleetEntry, of size: Int64) -> Double {
        time ?? 600 + 20 * max(entry.estimate, CostModel.store(bytes: size))
    }
}

/// The stores of a shard that are processed first, and whether the others may follow.
package struct Canary: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Not all of its stores are done.
        case running
        /// All of its stores are done, and the user must approve.
        case waiting
        /// More of its stores failed than tolerated.
        case failed
        case approved
    }

    package var state: State
    package var stores: Int
    package var failures: Int

    /// Returns a choice that is spread evenly over versions and sizes, of at least one store.
    package static func chosen(_ entries: [FleetEntry], share: Double) -> Set<Int> {
        guard !entries.isEmpty else { return [] }
        let sorted = entries.sorted { ($0.version, $0.size, $0.number) < ($1.version, $1.size, $1.number) }
        let count = min(max(Int((Double(sorted.count) * share).rounded(.up)), 1), sorted.count)
        return Set((0..<count).map { sorted[(2 * $0 + 1) * sorted.count / (2 * count)].number })
    }

    /// Reads the record of a shard's canary; returns nil if there is none.
    package init?(of shard: ShardFolder) {
        guard let bytes = try? POSIXSystem().read(shard.canaryPath),
            let json = try? JSONValue(parsing: bytes, place: shard.canaryPath, code: .metadataInvalid),
            let state = json["state"]?.string.flatMap(State.init)
        else { return nil }
        self.init(
            state: state, stores: Int(clamping: json["stores"]?.integer ?? 0),
            failures: Int(clamping: json["failures"]?.integer ?? 0))
    }

    package init(state: State, stores: Int, failures: Int) {
        (self.state, self.stores, self.failures) = (state, stores, failures)
    }

    package func write(to shard: ShardFolder) throws {
        try POSIXSystem().writeAtomically(Array((json.compact + "\n").utf8), to: shard.canaryPath)
    }

    package var json: JSONValue {
        ["state": .string(state.rawValue), "stores": JSONValue(stores), "failures": JSONValue(failures)]
    }
}
