import Foundation
import MoultBasics

/// The page that shows what the benchmarks have measured. It is written from the file of results: a line for each table
/// between two marks, and the tables into the folder `Tables` next to it. What was not measured stays as it is.
struct PerformancePage {
    private let folder: String
    private let results: Results
    private let tables: PerformanceTables

    private static let marks = (
        first: "<!-- Benchmarks/run --document writes the numbers. -->", last: "<!-- End of the numbers. -->"
    )

    /// - Throws: `usage` without results, and for those of a small run.
    init(_ settings: Settings) throws {
        folder = settings.documentation
        results = try Results(contentsOf: settings.results)
        guard !results.isSmall else {
            throw MigrationError(
                .usage, "The results are those of a small run.", place: settings.results,
                remedy: "Measure without --small.")
        }
        let judgement = Judgement(
            results.figures, by: try Bounds(contentsOf: settings.bounds), isSmall: false)
        tables = PerformanceTables(lines: judgement.lines, rows: settings.rows)
    }

    /// - Returns: true, as a run that keeps its bounds does.
    func write() throws -> Bool {
        let path = folder + "/Performance.md"
        var text = try String(contentsOfFile: path, encoding: .utf8)
        guard let begin = text.range(of: Self.marks.first + "\n"), let end = text.range(of: Self.marks.last),
            begin.upperBound <= end.lowerBound
        else {
            throw MigrationError(
                .usage, "The marks of the numbers are missing.", place: path, remedy: "Add \(Self.marks.first)")
        }
        let made = sentences
        var lines = text[begin.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        for (begin, text) in made {
            if let place = lines.firstIndex(where: { $0.hasPrefix(begin) }) {
                lines[place] = begin + text
            } else {
                lines.insert(begin + text, at: max(lines.count - 1, 0))
            }
        }
        text.replaceSubrange(begin.upperBound..<end.lowerBound, with: lines.joined(separator: "\n"))
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        for table in tables.all {
            let csv = table.rows.map { $0.map(Self.field).joined(separator: ",") + "\n" }.joined()
            try csv.write(toFile: "\(folder)/Tables/\(table.name).csv", atomically: true, encoding: .utf8)
            print("Wrote \(folder)/Tables/\(table.name).csv")
        }
        print("Wrote \(path)")
        return true
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { ",\"\n".contains($0) }) else { return text }
        return "\"\(text.replacingOccurrences(of: "\"", with: "\"\""))\""
    }

    // MARK: - Sentences

    /// What follows the beginning of a line, for the lines whose figures were measured.
    private var sentences: [(begin: String, text: String)] {
        let all: [(String, String?)] = [
            ("Measured ", measured), ("- [changes](Tables/changes.csv): ", changes),
            ("- [opening](Tables/opening.csv): ", opening),
            ("- [backup-chain-memory](Tables/backup-chain-memory.csv): ", memory),
            ("- [objects](Tables/objects.csv), ", objects), ("- [reading](Tables/reading.csv), ", care),
            ("- [transform](Tables/transform.csv): ", transform), ("- [deferred](Tables/deferred.csv): ", deferred),
            ("- [exports](Tables/exports.csv): ", exports),
            ("- A program with one `@Model` class that depends on `DropIn` ", client),
        ]
        return all.compactMap { begin, text in text.map { (begin: begin, text: $0) } }
    }

    private func figures(_ group: String, _ end: String = "") -> [Figure] {
        tables.lines(of: group).map(\.figure).filter { end.isEmpty || $0.name.hasSuffix(end) }
    }

    /// The median of the figure of that name; the one with the most rows.
    private func median(_ group: String, _ name: String, _ side: KeyPath<Figure, [Double]> = \.values) -> Double? {
        figures(group).filter { $0.name == name }.max { $0.rows ?? 0 < $1.rows ?? 0 }?[keyPath: side].median
    }

    private func duration(_ group: String, _ name: String) -> String? {
        let unit = figures(group).first { $0.name == name }?.unit == .milliseconds ? 0.001 : 1.0
        return median(group, name, \.ours).map { PerformanceTables.duration($0 * unit) }
    }

    /// Such as `0.11 to 1.73`; nil without figures.
    private func range(_ figures: [Figure], _ places: Int) -> String? {
        let medians = figures.map(\.values.median)
        guard let low = medians.min(), let high = medians.max() else { return nil }
        return "\(low.decimals(places)) to \(high.decimals(places))"
    }

    private var measured: String? {
        let days = Set(results.figures.map(\.date)).sorted()
        guard let first = days.first, let last = days.last else { return nil }
        let when = first == last ? "on \(first)" : "from \(first) to \(last)"
        return "\(when) with SQLite \(results.sqlite); \(results.machine)."
    }

    private var changes: String? {
        let large = figures("changes").filter { $0.rows == tables.rows }
        let whole = large.first { $0.name.hasPrefix("add: whole command") }?.ours.median
        guard let whole, let works = range(large.filter { $0.name.hasSuffix("change + commit / statements") }, 2) else {
            return nil
        }
        let lines = tables.lines(of: "changes")
        let kept = lines.count { $0.verdict == .kept }
        let judged = kept + lines.count { $0.verdict == .missed }
        let goals = lines.count { line in
            line.verdict != .unjudged
                && line.entry.flatMap { Bound($0.goal) }?.isKept(
                    by: line.figure.values.median, spread: line.figure.allowance) == true
        }
        return """
            \(Quantity.count(tables.rows)) rows. Change and commit take \(works) times the time of the SQL statements \
            alone. The whole command takes \(PerformanceTables.duration(whole / 1000)) to add an attribute, with a \
            checked backup. \(kept) of \(judged) bounds were kept, and \(goals) goals.
            """
    }

    private var opening: String? {
        guard let one = duration("opening", "opening a current store of 1 entity, above SQLite's"),
            let large = duration("opening", "opening a current store of 88 entities, above SQLite's"),
            let version = duration("command", "moult --version"),
            let status = duration("command", "moult status, 117 sources"),
            let lint = duration("command", "moult lint, 117 versions"),
            let compile = duration("compiling", "compiling 117 versions")
        else { return nil }
        return """
            a current store opens in \(one) (1 entity) to \(large) (88 entities) more than SQLite needs. \
            `moult --version` takes \(version), `status` of 117 versions \(status), `lint` of them \(lint), `compile` \
            \(compile).
            """
    }

    private var memory: String? {
        guard let peak = figures("memory").max(by: { $0.ours.median < $1.ours.median }),
            let chain = median("chain", "10 versions composed / first to last directly")
        else { return nil }
        return """
            \(peak.ours.median.decimals(0)) MiB for \(Quantity.count(peak.rows ?? 0)) rows. Ten versions in one pass take \
            \(chain.decimals(2)) times as long as one migration.
            """
    }

    private var objects: String? {
        let layers = ["objects", "models", "names"]
        func compared(_ side: Benchmarks.ObjectSide) -> [Figure] {
            layers.flatMap { figures($0, " / \(side.name) (speed)") }
        }
        let (peewee, sqlite) = (compared(.peewee), compared(.sqlite))
        guard layers.allSatisfy({ !figures($0).isEmpty }) else { return nil }
        let related = layers.flatMap { figures($0, "without links") }
        guard let slow = range(peewee, 1), let plain = range(sqlite, 2), let links = range(related, 2) else {
            return nil
        }
        return """
            [models](Tables/models.csv), [names](Tables/names.csv): contexts are \(slow) times as fast as peewee one by \
            one, and \(plain) times as fast as plain `sqlite3`, which makes no objects. Objects with relationships take \
            \(links) times as long as objects without.
            """
    }

    private var care: String? {
        guard let structs = median("reading", "rows as structs / the C API"),
            let dictionaries = median("reading", "rows as dictionaries / the C API"),
            let validate = median("care", "validate / its checks in the sqlite3 shell"),
            let doctor = median("care", "doctor / validate"),
            let importing = median("care", "import / insertion by a context (speed)")
        else { return nil }
        return """
            [care](Tables/care.csv): rows take \(structs.decimals(2)) times as long as by the C API as structs, \
            \(dictionaries.decimals(2)) times as dictionaries; `validate` \(validate.decimals(2)) times as its checks in \
            SQL, `doctor` \(doctor.decimals(2)) times as `validate`. `import` is \(importing.decimals(2)) times as fast \
            as a context.
            """
    }

    private var transform: String? {
        guard
            let closure = median(
                "transform-closure", "closure: change + commit / the SQL expression in the same statement"),
            let loop = range(figures("transform-policy").filter { $0.name.contains("commit / sqlite3 loop") }, 1),
            let django = range(figures("transform-policy").filter { $0.name.contains("commit / Django") }, 0)
        else { return nil }
        return """
            a closure takes \(closure.decimals(2)) times the time of a SQL expression. A policy is \(loop) times as fast \
            as a loop over Python's `sqlite3`, and \(django) times as fast as Django.
            """
    }

    private var deferred: String? {
        guard let run = duration("deferred", "the whole run"), let peak = median("deferred", "peak memory"),
            let dropped = median("deferred", "the same / DROP COLUMN in the shell", \.theirs),
            let rows = figures("deferred").compactMap(\.rows).max()
        else { return nil }
        return """
            \(run) and \(peak.decimals(0)) MiB, in place of the \(PerformanceTables.duration(dropped)) of SQLite's \
            `DROP COLUMN`, for \(Quantity.count(rows)) rows. [budgets](Tables/budgets.csv): see \
            [Budgets](Budgets.md#how-long-it-takes).
            """
    }

    private var exports: String? {
        guard let figure = figures("export").last(where: \.isRatio), let low = figure.values.min(),
            let high = figure.values.max()
        else { return nil }
        return """
            \(Quantity.count(figure.rows ?? 0)) rows as CSV, \(low.decimals(1)) to \(high.decimals(1)) times as fast as the \
            sqlite3 shell, in \(figure.details["peak", default: []].median.decimals(0)) MiB.
            """
    }

    private var client: String? {
        guard let build = median("client", "clean debug build, processor time"),
            let size = median("client", "optimised and stripped executable")
        else { return nil }
        return """
            takes \(build.decimals(0)) s of processor time to build; its optimised and stripped executable has \
            \(size.decimals(1)) MB.
            """
    }
}
