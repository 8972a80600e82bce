import MoultBasics
import MoultModel

/// One figure: Moult's measurements beside those of what it is compared with, and the bound that the ratio must keep.
struct Figure {
    enum Bound {
        /// Ours divided by theirs.
        case ratioAtMost(Double)
        /// Their time divided by ours: how fast we are, seen from them.
        case speedAtLeast(Double)
        /// Their time divided by ours, told for its own sake.
        case speed
        /// Ours alone, in the unit of the figure.
        case atMost(Double)
        /// Told for its own sake.
        case none
    }

    enum Unit: String { case seconds, milliseconds, mebibytes, bytes, calls }

    var name: String
    var ours: [Double]
    /// One for each of ours, taken right before or after it; empty where there is nothing to compare with.
    var theirs: [Double] = []
    var bound: Bound
    var unit = Unit.seconds

    /// What the bound is about, round by round.
    private var judged: [Double] {
        switch bound {
        case .ratioAtMost: zip(ours, theirs).map { $0 / $1 }
        case .speedAtLeast, .speed: zip(ours, theirs).map { $1 / $0 }
        case .atMost, .none: theirs.isEmpty ? ours : zip(ours, theirs).map { $0 / $1 }
        }
    }

    /// Nil where nothing is asked.
    var isKept: Bool? {
        switch bound {
        case .ratioAtMost(let limit), .atMost(let limit): judged.median <= limit
        case .speedAtLeast(let limit): judged.median >= limit
        case .none, .speed: nil
        }
    }

    var cells: [String] {
        let verdict = isKept.map { $0 ? "kept" : "MISSED" } ?? ""
        let isRatio = !theirs.isEmpty
        return [
            name, text(ours.median), theirs.isEmpty ? "" : text(theirs.median),
            isRatio ? judged.median.decimals(2) : "",
            isRatio
                ? "\((judged.min() ?? 0).decimals(2))-\((judged.max() ?? 0).decimals(2))"
                : "\(text(judged.min() ?? 0))-\(text(judged.max() ?? 0))",
            limitText, verdict,
        ]
    }

    private var limitText: String {
        switch bound {
        case .ratioAtMost(let limit): "<= \(limit.decimals(2))"
        case .speedAtLeast(let limit): ">= \(limit.decimals(2))"
        case .atMost(let limit): "<= \(text(limit))"
        case .none, .speed: ""
        }
    }

    private func text(_ value: Double) -> String {
        switch unit {
        case .seconds: value.decimals(3) + " s"
        case .milliseconds: value.decimals(1) + " ms"
        case .mebibytes: value.decimals(1) + " MiB"
        case .bytes: value.decimals(1) + " B"
        case .calls: value.decimals(0)
        }
    }

    var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("unit", .string(unit.rawValue)),
            .init("ours", .array(ours.map(JSONValue.double))), .init("theirs", .array(theirs.map(JSONValue.double))),
            .init("median", .double(judged.median)), .init("bound", .string(limitText)),
            .init("kept", isKept.map(JSONValue.bool) ?? .null),
        ])
    }
}

extension [Double] {
    var median: Double {
        let ordered = sorted()
        guard !ordered.isEmpty else { return 0 }
        let middle = ordered.count / 2
        return ordered.count.isMultiple(of: 2) ? (ordered[middle - 1] + ordered[middle]) / 2 : ordered[middle]
    }
}

extension Double {
    func decimals(_ count: Int) -> String {
        let scale = (0..<count).reduce(1.0) { scale, _ in scale * 10 }
        let digits = String(Int64((abs(self) * scale).rounded()))
        let padded = String(repeating: "0", count: Swift.max(0, count + 1 - digits.count)) + digits
        return (self < 0 ? "-" : "") + (count == 0 ? padded : "\(padded.dropLast(count)).\(padded.suffix(count))")
    }
}
