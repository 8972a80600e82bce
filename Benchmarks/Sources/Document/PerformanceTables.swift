import Foundation
import MoultBasics

/// The tables of the documentation that the benchmarks make, from the figures that were measured.
struct PerformanceTables {
    let lines: [Judgement.Line]
    /// The rows of the run; the tables have a hundredth and ten times as many, too.
    let rows: Int

    /// By the name of the file; only those whose groups were measured.
    var all: [(name: String, rows: [[String]])] {
        let tables = [
            ("changes", changes), ("peers", peers), ("opening", plain("planning", "opening", "command", isAlone: true)),
            ("backup-chain-memory", migrating), ("objects", objects("objects")),
            ("models", objects("models")), ("names", objects("names")), ("reading", plain("reading")),
            ("care", plain("care")), ("transform", plain("transform-closure", "transform-policy")),
            ("deferred", deferred), ("budgets", budgets), ("budgets-phases", phases), ("exports", exports),
            ("growth", growth), ("client", plain("client", isAlone: true)),
        ]
        let hasGrowth = !lines(of: "growth").isEmpty
        return tables.filter { $0.1.count > 1 || $0.0 == "growth" && hasGrowth }.map { (name: $0.0, rows: $0.1) }
    }

    /// The lines of a group at the sizes of the tables.
    func lines(of group: String) -> [Judgement.Line] {
        let sizes = [rows / 100, rows, rows * 10, rows / 10, min(rows, 100_000), min(rows, 200_000)]
        return lines.filter { line in
            line.figure.group == group && (line.figure.rows.map(sizes.contains) ?? true)
        }
    }

    private func line(_ group: String, _ name: String, _ rows: Int?) -> Judgement.Line? {
        lines(of: group).first { $0.figure.name == name && $0.figure.rows == rows }
    }

    // MARK: - The tables

    /// A figure a row.
    private func plain(_ groups: String..., isAlone: Bool = false) -> [[String]] {
        let all = groups.flatMap(lines(of:)).filter { !isAlone || !$0.figure.isRatio }
        let head = isAlone ? ["figure", "Moult", "spread", "bound", ""] : Self.head
        guard !all.isEmpty else { return [] }
        return [head]
            + all.map { line in
                let figure = line.figure
                let judged = [figure.spread, line.boundText, line.verdict.rawValue]
                let name = [nil, rows].contains(figure.rows) ? figure.name : figure.title
                guard !isAlone else { return [name, figure.text(figure.ours.median)] + judged }
                let ratio =
                    figure.isRatio ? [figure.text(figure.theirs.median), figure.values.median.decimals(2)] : ["", ""]
                return [name, figure.text(figure.ours.median)] + ratio + judged
            }
    }

    private static let head = ["figure", "Moult", "other", "ratio", "spread", "bound", ""]

    private var changes: [[String]] {
        let end = ": change + commit / statements"
        let works = lines(of: "changes").filter { $0.figure.name.hasSuffix(end) }
        return [
            [
                "kind, rows", "change + commit", "statements", "ratio (spread)", "bound", "whole command",
                "compared with", "ratio (spread)", "bound", "written per row", "by the statements",
            ]
        ]
            + works.map { work in
                let (kind, rows) = (String(work.figure.name.dropLast(end.count)), work.figure.rows)
                let whole = lines(of: "changes").first {
                    $0.figure.rows == rows && $0.figure.name.hasPrefix("\(kind): whole command")
                }
                let written = line("changes", "\(kind): written per row, without the backup / statements", rows)
                return ["\(kind), \(Quantity.count(rows ?? 0))"] + compared(work) + compared(whole)
                    + [written?.figure.ours, written?.figure.theirs].map { "\(($0 ?? []).median.decimals(1)) B" }
            }
    }

    /// Both times, their ratio with its spread, and the bound.
    private func compared(_ line: Judgement.Line?) -> [String] {
        guard let line else { return ["", "", "", ""] }
        let figure = line.figure
        return [
            Self.duration(figure.ours.median / 1000), Self.duration(figure.theirs.median / 1000), Self.ratio(figure),
            line.boundText.isEmpty ? "" : "\(line.boundText) \(line.verdict.rawValue)",
        ]
    }

    private var peers: [[String]] {
        let tools = ["sqlite3", "sqlite-utils", "alembic", "django"]
        let letters = ["trigger": "T", "declared types of untouched columns": "D", "values of untouched columns": "V"]
        let all = lines(of: "peers").filter { $0.figure.rows == rows }.map(\.figure)
        let end = ": whole command / sqlite3"
        let kinds = all.map(\.name).filter { $0.hasSuffix(end) }.map { String($0.dropLast(end.count)) }
        return [["kind", "Moult, with its backup and verification", "sqlite3", "sqlite-utils", "Alembic", "Django"]]
            + kinds.map { kind in
                let figures = tools.map { tool in all.first { $0.name == "\(kind): whole command / \(tool)" } }
                return [kind, Self.duration(figures[0]?.ours.median ?? 0)]
                    + figures.map { figure in
                        guard let figure else { return "" }
                        let lost = letters.keys.sorted().filter { figure.words["losses"]?.contains($0) == true }
                        return ([Self.duration(figure.theirs.median)] + lost.compactMap { letters[$0] }.sorted())
                            .joined(separator: " ")
                    }
            }
    }

    /// What every migration has; the most memory of each kind at every size in one row.
    private var migrating: [[String]] {
        let all = lines(of: "memory")
        let names = all.map(\.figure.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let memory = names.map { name in
            let sizes = all.filter { $0.figure.name == name }
            let rows = sizes.compactMap(\.figure.rows).map { Quantity.count($0) }.joined(separator: " and ")
            let peaks = sizes.map { $0.figure.ours.median.decimals(1) }.joined(separator: ", ")
            let isKept = sizes.allSatisfy { $0.verdict == .kept }
            return [
                name.replacingOccurrences(of: "memory", with: "memory, \(rows) rows"), "\(peaks) MiB", "", "", "",
                sizes.first?.boundText ?? "",
                (isKept ? Judgement.Verdict.kept : .missed).rawValue,
            ]
        }
        return [Self.head] + plain("backup", "chain").dropFirst() + memory
    }

    private func objects(_ group: String) -> [[String]] {
        let sides = Benchmarks.ObjectSide.allCases.filter { $0 != .moult }.map(\.name)
        let all = lines(of: group).map(\.figure)
        let works = all.map(\.name).filter { $0.hasSuffix(" / sqlite3 (speed)") }
        return [
            [
                "", "Moult", "sqlite3", "peewee, one by one", "peewee in bulk", "speed to sqlite3 (spread)",
                "to peewee, one by one (spread)", "to peewee in bulk",
            ]
        ]
            + works.compactMap { name in
                let work = String(name.dropLast(" / sqlite3 (speed)".count))
                let figures = sides.compactMap { side in all.first { $0.name == "\(work) / \(side) (speed)" } }
                guard figures.count == sides.count, let first = figures.first else { return nil }
                func rate(_ seconds: [Double], _ peaks: [Double]?) -> String {
                    let count = first.details["count", default: []].median / seconds.median
                    return "\(Quantity.count(Int(count.rounded())))/s, \((peaks ?? []).median.decimals(0)) MiB"
                }
                return [first.words["title"] ?? work, rate(first.ours, first.details["peak"])]
                    + figures.map { rate($0.theirs, $0.details["their peak"]) } + figures.map(Self.ratio)
            }
    }

    private var deferred: [[String]] {
        let largest = lines(of: "deferred").compactMap(\.figure.rows).max()
        let all = lines(of: "deferred").filter { $0.figure.rows == largest }
        let dropped = all.first { $0.figure.name == "the same / DROP COLUMN in the shell" }?.figure.theirs.median
        return [["figure", "Moult", "other", "spread", "bound", ""]]
            + all.filter { $0.verdict != .unjudged }.map { line in
                let figure = line.figure
                return [
                    figure.name, figure.text(figure.ours.median),
                    figure.name == "change + commit" ? dropped.map(Self.duration) ?? "" : "", figure.spread,
                    line.boundText, line.verdict.rawValue,
                ]
            }
    }

    private var budgets: [[String]] {
        [["kind", "one run", "a tenth", "budget", "calls", "all calls, relative to one run", "longest call", "memory"]]
            + calls.map { kind, calls in
                let whole = calls.theirs.median
                let budget = line("budget", "\(kind): budget / a tenth of one run", calls.rows)?.figure.ours.median ?? 0
                let longest = line("budget", "\(kind): longest call / budget", calls.rows)?.figure.ours.max() ?? 0
                let peak = line("budget", "\(kind): peak memory", calls.rows)?.figure.ours.max() ?? 0
                let unit = calls.words["unit"]?.split(separator: ".").first ?? ""
                let why = budget > whole / 9.5 ? "for: \(unit)" : "a tenth"
                return [
                    calls.words["kind"] ?? kind, Self.duration(whole), Self.duration(whole / 10),
                    "\(Self.duration(budget)), \(why)", calls.details["calls", default: []].median.decimals(0),
                    Self.ratio(calls), Self.duration(longest), "\(peak.decimals(0)) MiB",
                ]
            }
    }

    private var phases: [[String]] {
        [["kind", "backup", "copy", "change", "verification", "commit", "reading and planning"]]
            + calls.map { kind, calls in
                [calls.words["kind"] ?? kind]
                    + ["backup", "copy", "change", "verify", "commit", "other"].map {
                        "\(calls.details[$0, default: []].median.decimals(0)) %"
                    }
            }
    }

    private var calls: [(kind: String, figure: Figure)] {
        let end = ": all calls / one run"
        return lines(of: "budget").map(\.figure).filter { $0.name.hasSuffix(end) }
            .map { (String($0.name.dropLast(end.count)), $0) }
    }

    /// A round a row.
    private var exports: [[String]] {
        let head = ["round", "Moult", "shell", "speed", "CPU of the shell / of Moult", "peak memory of Moult"]
        guard let figure = lines(of: "export").map(\.figure).last(where: \.isRatio) else { return [head] }
        return [head]
            + figure.ours.indices.map { round in
                func detail(_ name: String) -> Double {
                    let numbers = figure.details[name, default: []]
                    return round < numbers.count ? numbers[round] : 0
                }
                return [
                    "\(round + 1)", "\(figure.ours[round].decimals(1)) s", "\(figure.theirs[round].decimals(1)) s",
                    figure.values[round].decimals(2), detail("processor").decimals(2),
                    "\(detail("peak").decimals(1)) MiB",
                ]
            }
    }

    /// The commands that grow faster than their goal, in the dimensions in which one does: the milliseconds of the three
    /// sizes, and the two ratios.
    private var growth: [[String]] {
        let all = lines(of: "growth")
        let fast = all.filter { line in
            guard let goal = line.entry.flatMap({ Bound($0.goal) }) else { return false }
            return !goal.isKept(by: line.figure.values.median)
        }.map { Self.parts(of: $0.figure) }
        let dimensions = GrowthDimension.allCases.map(\.rawValue).filter { name in
            fast.contains { $0.dimension == name }
        }
        let commands = fast.map(\.command).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return [["command"] + dimensions]
            + commands.map { command in
                [command]
                    + dimensions.map { dimension in
                        let steps = [4, 16].compactMap { factor in
                            all.first { $0.figure.name == "\(dimension), \(command): \(factor) times as many" }?.figure
                        }
                        guard let first = steps.first else { return "" }
                        let times = [first.theirs.median] + steps.map(\.ours.median)
                        let ratios = steps.map { $0.values.median.decimals(2) }.joined(separator: ", ")
                        return "\(times.map { $0.decimals(0) }.joined(separator: ", ")) (\(ratios))"
                    }
            }
    }

    private static func parts(of figure: Figure) -> (dimension: String, command: String) {
        let name = figure.name
        let dimension = name.prefix { $0 != "," }
        let end = name.range(of: ": ", options: .backwards)?.lowerBound ?? name.endIndex
        return (String(dimension), String(name[..<end].dropFirst(dimension.count + 2)))
    }

    // MARK: - Numbers

    /// Seconds, as `0.9 ms`, `160 ms` or `3.39 s`.
    static func duration(_ seconds: Double) -> String {
        if seconds >= 0.9995 { return seconds.decimals(2) + " s" }
        return (seconds * 1000).decimals(seconds < 0.09995 ? 1 : 0) + " ms"
    }

    /// A ratio with its spread, if there were several rounds.
    private static func ratio(_ figure: Figure) -> String {
        let median = figure.values.median.decimals(2)
        return figure.values.count > 1 ? "\(median) (\(figure.spread))" : median
    }
}
