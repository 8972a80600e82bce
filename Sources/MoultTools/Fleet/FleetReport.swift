import MoultFleet
import MoultModel
import MoultReport

/// A report of what a run has done.
package struct FleetReport: ToolAnswer {
    /// From the best to the worst: the shards may end differently.
    package enum End: String, CaseIterable, Sendable { case complete, canaryWaits, canaryFailed, failures, stopped }

    let manifest: String
    let results: String
    let verb: String
    package private(set) var end = End.complete
    var counts: [FleetResult.State: Int] = [:]
    /// Stores that had their result before.
    var skipped = 0
    /// Stores that the verb has nothing to do with.
    var leftOut = 0
    var left = 0
    /// Stores whose result, of this run or an earlier one, is not good.
    var remaining = 0
    var canary = (stores: 0, failures: 0)
    var seconds: Double = 0

    init(manifest: String, results: String, verb: String) {
        (self.manifest, self.results, self.verb) = (manifest, results, verb)
    }

    mutating func add(_ outcome: FleetRun.Outcome) {
        for (state, count) in outcome.counts { counts[state, default: 0] += count }
        left += outcome.left
        switch outcome.end {
        case .complete: break
        case .stopped: note(.stopped)
        case .failures: note(.failures)
        }
    }

    /// Notes how a shard ended; the report keeps the worst.
    mutating func note(_ other: End) {
        let order = End.allCases
        if let one = order.firstIndex(of: end), let two = order.firstIndex(of: other), two > one { end = other }
    }

    /// Whether a store is not done, although the run was not stopped and does not wait.
    package var hasFailures: Bool {
        switch end {
        case .stopped, .canaryWaits: false
        case .failures, .canaryFailed: true
        case .complete: remaining > 0 || left > 0 || counts.contains { !$0.key.isGood && $0.value > 0 }
        }
    }

    package var document: JSONValue {
        [
            "format": 1, "results": .string(results), "verb": .string(verb), "end": .string(end.rawValue),
            "counts": JSONValue(
                sorted: Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, JSONValue($0.value)) })),
            "skipped": JSONValue(skipped), "leftOut": JSONValue(leftOut), "left": JSONValue(left),
            "remaining": JSONValue(remaining),
            "canary": canary.stores == 0
                ? .null : ["stores": JSONValue(canary.stores), "failures": JSONValue(canary.failures)],
            "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let finished = counts.values.reduce(0, +)
        let rate = seconds > 0 ? ", \(Quantity.decimal(Double(finished) / seconds, places: 1)) a second" : ""
        var lines = ["\(Quantity.count(finished, "store")) in \(Quantity.duration(seconds))\(rate)."]
        for state in FleetResult.State.allCases {
            guard let count = counts[state] else { continue }
            lines.append("  \((state.isGood ? style.green : style.red)(state.rawValue)) \(Quantity.count(count))")
        }
        if skipped > 0 {
            lines.append("\(Quantity.count(skipped, "store had its", plural: "stores had their")) result before.")
        }
        if leftOut > 0 { lines.append("\(Quantity.count(leftOut, "store needs", plural: "stores need")) no \(verb).") }
        if left > 0 { lines.append("\(Quantity.count(left, "store is", plural: "stores are")) left.") }
        switch end {
        case .complete: break
        case .stopped: lines.append("Stopped. The same command continues.")
        case .failures: lines.append("Too many stores failed. The same command continues.")
        case .canaryWaits:
            lines.append(
                String(
                    advice: """
                        The canary is done: \(canary.failures) of \(canary.stores) stores failed. With \
                        \(option: .approve) the others follow.
                        """))
        case .canaryFailed:
            lines.append(
                style.red("The canary has failed: ") + "\(canary.failures) of \(canary.stores) stores. "
                    + "No other store was touched.")
        }
        if hasFailures {
            lines.append(
                String(advice: "  → \(.fleetStatus, .path(manifest)) says what failed and what to do next."))
        }
        return lines
    }
}
