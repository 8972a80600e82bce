import MoultBasics
import MoultModel
import MoultStore

/// A store that a run has to work on, and what is known of it from earlier runs.
package struct FleetTask: Sendable {
    package var entry: FleetEntry
    package var earlier: FleetResult?
    package var attempts = 0
    package var deaths = 0
    /// Whether the run before died while it worked on it.
    package var isSuspect = false
    /// The differences between the store and the plan.
    package var differences: [String] = []

    package init(_ entry: FleetEntry, earlier: FleetResult? = nil) { (self.entry, self.earlier) = (entry, earlier) }
}

/// The work that a run does on each of its stores.
package struct FleetWork: Sendable {
    /// The verb as it is typed.
    package var verb: String
    package var isWriting: Bool
    /// The state of a store on which it was not done, whatever the reason; nil for the one that the reason has.
    package var stateOfFailure: FleetResult.State?
    /// Does it in the store's own process: prints a verb's document, and returns its exit code. A store that is not the
    /// one that was planned ends with the error `planStale`.
    package var perform: @Sendable (FleetTask) async -> Int32
    /// The state of a store whose process has ended with this exit code, and whatever else its document says.
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

/// The stores that wait for their turn: the largest of each device first, and those that were worked on when a run died
/// last and alone.
struct FleetQueue {
    private var first: [[UInt64: [FleetTask]]] = []
    private var suspects: [FleetTask]
    private(set) var count: Int

    /// - Parameter isCanaryFirst: whether the canary's stores come before all others.
    init(_ tasks: [FleetTask]) {
        count = tasks.count
        suspects = tasks.filter(\.isSuspect).sorted { $0.entry.number > $1.entry.number }
        let others = tasks.filter { !$0.isSuspect }.sorted {
            ($0.entry.estimate, $1.entry.number) < ($1.entry.estimate, $0.entry.number)
        }
        first = [Dictionary(grouping: others) { $0.entry.device }]
    }

    /// The next store, given how many of each device are being worked on.
    ///
    /// - Returns: nil if none may be started now.
    mutating func next(running: [UInt64: Int], ofDevice limit: Int) -> FleetTask? {
        for place in first.indices {
            let free = first[place].filter { !$0.value.isEmpty && running[$0.key, default: 0] < limit }
            // The device with the least to do, then the largest store.
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

    /// Puts a store back whose process has died: after all that have not been tried.
    mutating func returnLater(_ task: FleetTask) {
        count += 1
        if first.count == 1 { first.append([:]) }
        first[1][task.entry.device, default: []].insert(task, at: 0)
    }
}

/// The rules by which a run treats its stores.
package struct FleetPolicy: Sendable, Equatable {
    /// The number of stores that are worked on at a time, in all and on one device.
    package var jobs = 1
    package var jobsOfDevice = Int.max
    /// Seconds that one store may take; nil for ten minutes plus twenty times the estimate.
    package var time: Double?
    /// Bytes of memory that its process may have; nil for no limit.
    package var memory: Int64?
    /// The number of times that a failing store is tried.
    package var attempts = 3
    /// After how many deaths of its process it is set aside.
    package var deaths = 3
    /// The run starts no further store after so many failures; nil for no limit.
    package var failures: Int?
    /// The part of the stores that comes first; nil for no canary.
    package var canary: Canary?
    /// States that are tried again although they are not by themselves.
    package var retried: Set<FleetResult.State> = []

    package init() {}

    /// The stores that come first, and what has to become of them before the others follow.
    package struct Canary: Sendable, Equatable {
        /// From 0 to 1.
        package var share: Double
        /// The part of them that may fail, from 0 to 1; nil if somebody has to approve in any case.
        package var tolerance: Double?

        package init(share: Double, tolerance: Double?) { (self.share, self.tolerance) = (share, tolerance) }
    }

    func seconds(for entry: FleetEntry, of size: Int64) -> Double {
        time ?? 600 + 20 * max(entry.estimate, CostModel.store(bytes: size))
    }
}

/// The stores of a shard that come first, and whether the others may follow.
package struct Canary: Sendable, Equatable {
    package enum State: String, Sendable {
        /// Its stores are not all done.
        case running
        /// All are done, and somebody has to approve.
        case waiting
        /// More of them failed than was tolerated.
        case failed
        case approved
    }

    package var state: State
    package var stores: Int
    package var failures: Int

    /// Chooses evenly among the versions and the sizes, at least one store.
    package static func chosen(_ entries: [FleetEntry], share: Double) -> Set<Int> {
        guard !entries.isEmpty else { return [] }
        let sorted = entries.sorted { ($0.version, $0.size, $0.number) < ($1.version, $1.size, $1.number) }
        let count = min(max(Int((Double(sorted.count) * share).rounded(.up)), 1), sorted.count)
        return Set((0..<count).map { sorted[(2 * $0 + 1) * sorted.count / (2 * count)].number })
    }

    /// Reads the record of a shard's canary; nil if there was none.
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
