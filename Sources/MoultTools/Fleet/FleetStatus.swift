import MoultBasics

/// The status of a fleet, from the results of all shards, which runs may still be writing.
package struct FleetStatus: Sendable {
    /// Stores that failed for the same reason.
    package struct Cause: Sendable, Equatable {
        package var state: FleetResult.State
        package var code: String
        package var count: Int
        /// One of these stores.
        package var example: FleetResult
        package var message: String
        /// The action to take next.
        package var remedy: Remedy
    }

    package struct Shard: Sendable, Equatable {
        package var index: Int
        package var stores = 0
        package var finished = 0
        package var failures = 0
        /// Whether a process works on the shard, judging by the record of its owner.
        package var isRunning = false
        package var canary: Canary?
    }

    package let manifest: FleetManifest
    package let purpose: ResultsFolder.Purpose?
    package private(set) var counts: [FleetResult.State: Int] = [:]
    /// The number of stores without a result; some of them may be in progress.
    package private(set) var waiting = 0
    package private(set) var running = 0
    /// The number of stores that the verb does not apply to, by their state in the plan.
    package private(set) var leftOut: [FleetEntry.State: Int] = [:]
    package private(set) var shards: [Shard] = []
    package private(set) var causes: [Cause] = []
    package private(set) var slowest: [FleetResult] = []
    package private(set) var torn: [String] = []
    /// The number of stores whose work was done by an attempt that died before it could report it.
    package private(set) var doneBefore = 0
    /// The seconds of finished work, its estimate, and the estimate of the rest.
    private(set) var worked: Double = 0
    private(set) var workedEstimate: Double = 0
    private(set) var waitingEstimate: Double = 0
    private(set) var ends: [Double] = []
    private(set) var starts: [Double] = []
    package private(set) var rows: Int64 = 0
    package private(set) var largestMemory: Int64 = 0

    /// Reads the manifest and every result.
    ///
    /// - Throws: any error from reading the manifest; `wouldReplace` if the folder belongs to another fleet.
    package init(manifest path: String, results: ResultsFolder, verb: String?) throws {
        purpose = try results.known()
        let verb = purpose?.verb ?? verb ?? "migrate"
        var entries: [Int: [(number: Int, estimate: Double)]] = [:]
        var leftOut: [FleetEntry.State: Int] = [:]
        manifest = try FleetManifest(contentsOf: path) { entry, _ in
            if FleetSelection.includes(entry, verb: verb) {
                entries[entry.shard, default: []].append((entry.number, entry.estimate))
            } else {
                leftOut[entry.state, default: 0] += 1
            }
        }
        self.leftOut = leftOut
        if let purpose, purpose.manifest != manifest.digest {
            try results.open(for: ResultsFolder.Purpose(manifest, verb: purpose.verb, options: purpose.options))
        }
        for index in 0..<manifest.shards {
            try add(results.shard(index), index, entries.removeValue(forKey: index) ?? [])
        }
        slowest = Array(slowest.sorted { $0.seconds > $1.seconds }.prefix(10))
        causes.sort { ($0.count, $1.code) > ($1.count, $0.code) }
    }

    private mutating func add(
        _ folder: ShardFolder, _ index: Int, _ entries: [(number: Int, estimate: Double)]
    ) throws {
        let contents = try folder.contents()
        torn += contents.torn
        var shard = Shard(index: index, stores: entries.count)
        shard.isRunning = folder.owner?.mayBeAlive ?? false
        shard.canary = Canary(of: folder)
        for (number, estimate) in entries {
            guard let result = contents.results[number] else {
                waiting += 1
                waitingEstimate += estimate
                continue
            }
            shard.finished += 1
            if !result.state.isGood, result.state != .findings { shard.failures += 1 }
            add(result)
        }
        if shard.isRunning {
            let open = try AttemptLog(folder).records(isAfterwards: false).filter(\.value.isOpen).count
            running += min(open, shard.stores - shard.finished)
        }
        shards.append(shard)
    }

    private mutating func add(_ result: FleetResult) {
        counts[result.state, default: 0] += 1
        worked += result.seconds
        if result.exit != nil { workedEstimate += result.estimate }
        if let end = Timestamp(iso8601: result.endedAt), let start = Timestamp(iso8601: result.startedAt) {
            ends.append(Double(end.seconds) + Double(end.nanoseconds) / 1e9)
            starts.append(Double(start.seconds) + Double(start.nanoseconds) / 1e9)
        }
        rows &+= result.rows ?? 0
        largestMemory = max(largestMemory, result.memory)
        if result.wasDoneBefore { doneBefore += 1 }
        slowest.append(result)
        if slowest.count > 200 { slowest = Array(slowest.sorted { $0.seconds > $1.seconds }.prefix(10)) }
        guard !result.state.isGood else { return }
        let (code, message, remedy) = result.cause
        if let place = causes.firstIndex(where: { $0.state == result.state && $0.code == code }) {
            causes[place].count += 1
        } else {
            causes.append(
                Cause(
                    state: result.state, code: code, count: 1, example: result, message: message, remedy: remedy))
        }
    }

    // MARK: - Numbers

    package var verb: String { purpose?.verb ?? "migrate" }
    package var finished: Int { counts.values.reduce(0, +) }
    package var stores: Int { finished + waiting }
    package var failures: Int { counts.filter { !$0.key.isGood && $0.key != .findings }.values.reduce(0, +) }
    /// The share of finished stores that failed, from 0 to 1.
    package var failureShare: Double { finished == 0 ? 0 : Double(failures) / Double(finished) }

    /// The number of stores per second, in the five minutes before the last one finished.
    package var throughput: Double? {
        guard let last = ends.max(), let first = starts.min() else { return nil }
        let window = max(first, last - 300)
        let seconds = last - window
        return seconds > 0 ? Double(ends.count { $0 > window }) / seconds : nil
    }

    /// The number of seconds until the rest is done, at the rate of the last five minutes; nil without a measurement.
    package var timeLeft: Double? {
        guard waiting > 0 else { return 0 }
        guard let throughput, throughput > 0, finished > 0 else { return nil }
        // Waiting stores may be larger or smaller than finished ones.
        let size = workedEstimate > 0 ? (waitingEstimate / Double(waiting)) / (workedEstimate / Double(finished)) : 1
        return Double(waiting) / throughput * size
    }
}

extension FleetResult {
    /// The reason for the state, by which the status groups stores.
    package var cause: (code: String, message: String, remedy: Remedy) {
        if state == .setAside {
            let how =
                limit.map { "it took more \($0) than it may" }
                ?? signal.map { "signal \($0) ended it" } ?? "the whole run ended with it"
            let more: Remedy =
                switch limit {
                case "time": "Give it more time with \(option: .time), "
                case "memory": "Give it more memory with \(option: .memory), "
                default: "Find out what is wrong with \(.diagnose, .store(path)), "
                }
            return (
                "died-\(limit ?? signal.map { "signal-\($0)" } ?? "with-run")",
                "The process died \(Quantity.count(deaths, "time")): \(how).",
                more + "then run the fleet again with \(option: .retry("setAside"))."
            )
        }
        if state == .findings {
            return (
                "findings", "\(verb.capitalisedFirst) has findings.",
                Remedy.Use(named: verb).map { "\($0, .store(path))" } ?? ""
            )
        }
        guard let failure else { return (state.rawValue, "It ended with \(exit.map(String.init) ?? "no") code.", "") }
        return (failure.code, failure.message, Remedy(failure.remedy))
    }
}

extension String {
    fileprivate var capitalisedFirst: String { first.map { $0.uppercased() + dropFirst() } ?? self }
}
