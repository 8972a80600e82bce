import Moult
import MoultBasics

/// Figures, judged by the committed bounds.
///
/// A bound is missed if the median of the rounds misses it. In a small run, which shares its machine with others, the
/// best round must miss it too, and the allowed spread makes the bound wider. So does a slow machine, for what has a unit
/// of time.
struct Judgement {
    enum Verdict: String {
        case kept
        case missed = "MISSED"
        /// Reported only.
        case unjudged = ""
        case noBound = "NO BOUND"
    }

    struct Line {
        let figure: Figure
        let entry: Bounds.Entry?
        let verdict: Verdict
    }

    let lines: [Line]
    let isSmall: Bool
    /// Bounds of groups that were measured whole, which no figure has.
    let unused: [Bounds.Entry]

    /// - Parameter groups: the groups that were measured whole.
    init(_ figures: [Figure], by bounds: Bounds, isSmall: Bool, groups: Set<String> = []) {
        self.isSmall = isSmall
        lines = figures.map { figure in
            let entry = bounds.entry(for: figure, isSmall: isSmall)
            return Line(figure: figure, entry: entry, verdict: Self.verdict(figure, entry, isSmall: isSmall))
        }
        unused = bounds.entries.filter { entry in
            groups.contains(entry.group) && (entry.size == .small) == isSmall && !figures.contains(where: entry.names)
        }
    }

    private static func verdict(_ figure: Figure, _ entry: Bounds.Entry?, isSmall: Bool) -> Verdict {
        guard let entry, entry.bound.fits(figure) else { return .noBound }
        guard entry.bound != .none else { return .unjudged }
        let decisive = [figure.values.median] + (isSmall ? [entry.bound.best(of: figure.values)].compactMap { $0 } : [])
        let spread = entry.spread * figure.allowance
        return decisive.contains { entry.bound.isKept(by: $0, spread: spread) } ? .kept : .missed
    }

    var missed: [Line] { lines.filter { $0.verdict == .missed } }
    var boundless: [Line] { lines.filter { $0.verdict == .noBound } }
    var isKept: Bool { missed.isEmpty && boundless.isEmpty }

    // MARK: - What is printed

    var table: [String] {
        var table = TextTable([
            .left("figure"), .right("moult"), .right("other"), .right("ratio"), .right("spread"), .right("bound"),
            .left(""),
        ])
        for line in lines {
            let figure = line.figure
            table.add(
                figure.title, figure.text(figure.ours.median), figure.isRatio ? figure.text(figure.theirs.median) : "",
                figure.isRatio ? figure.values.median.decimals(2) : "", figure.spread, line.boundText,
                line.verdict.rawValue)
        }
        return table.lines()
    }

    /// How many bounds are kept; then each figure whose bound is missed or missing, with what to do next.
    ///
    /// - Parameter command: what measures a figure again.
    func summary(_ command: (Figure) -> String) -> [String] {
        let judged = lines.count { $0.verdict == .kept || $0.verdict == .missed }
        var text = ["\(judged - missed.count) of \(judged) bounds kept."]
        for line in boundless {
            text += [
                "NO BOUND: \(line.figure.group): \(line.figure.title)",
                line.entry == nil
                    ? "  Add it to the bounds\(isSmall ? " with the rows \"small\"" : ""); \"none\" is not judged."
                    : "  Its bound \(line.boundText) must be \(line.figure.isRatio ? "a ratio" : "in \(line.figure.unit.symbol)").",
            ]
        }
        for line in missed {
            let figure = line.figure
            text += [
                "MISSED: \(figure.group): \(figure.title)",
                "  measured \(figure.valueText(figure.values.median)) (\(figure.spread)), bound \(line.boundText)",
                "  again: \(command(figure))",
            ]
        }
        if !unused.isEmpty { text += ["No figure has these bounds:"] + unused.map { "  " + $0.title } }
        return text
    }
}

extension Judgement.Line {
    var boundText: String {
        guard let entry, entry.bound != .none else { return "" }
        let spread = entry.spread * figure.allowance
        return spread > 1 ? "\(entry.text) × \(spread.decimals(2))" : entry.text
    }
}
