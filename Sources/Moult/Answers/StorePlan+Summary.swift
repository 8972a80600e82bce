import MoultBasics
import MoultSession
import MoultStore

extension StorePlan {
    /// Returns the plan in about five lines: the way, the size, what changes, what is lost, time and room.
    ///
    /// - Parameter changes: the number of changes to spell out; more are counted.
    package func summary(changes limit: Int = 0, style: TextStyle) -> [String] {
        if isEmpty { return [Self.nothingToDo(at: to)] }
        let total = Int(clamping: rowCounts.values.reduce(0, +))
        let passes = passes == 1 ? "one pass" : "\(passes) passes"
        let way = stopsAtEachVersion ? ", each version a commit of its own" : ""
        var lines = [
            style.bold(Self.ends(of: versionNames.map(\.printable)).joined(separator: " → ")),
            "\(Quantity.count(total, "row")), \(Quantity.bytes(bytes)), \(passes)\(way).",
        ]
        let sentences = edges.flatMap(\.noted)
        for sentence in sentences.prefix(limit) { lines.append("  \(style.green("•")) \(sentence.printable)") }
        let rest = sentences.count - min(limit, sentences.count)
        if rest > 0 {
            let more = "  … and \(Quantity.count(rest, "more change"))."
            lines.append(limit > 0 ? more : "\(Quantity.count(rest, "change")).\(ways)")
        }
        for loss in losses.prefix(3) { lines.append("  \(style.red("!")) \(loss.sentence.printable)") }
        if losses.count > 3 {
            let more = Quantity.count(losses.count - 3, "more loss", plural: "more losses")
            lines.append("  \(style.red("!")) … and \(more).")
        }
        if let seconds {
            let (lost, room) = (losses.isEmpty ? "Nothing is lost. " : "", spaceSentence.map { " \($0)" } ?? "")
            lines.append("\(lost)It takes about \(Quantity.duration(seconds)).\(room)")
        }
        return lines
    }

    /// A few words for each way in which tables change; empty if none does.
    private var ways: String {
        let words: [(TableStrategy.Kind, String)] = [
            (.made, "made"), (.rebuilt, "rebuilt"), (.altered, "altered in place"), (.updated, "updated in place"),
        ]
        let parts = words.compactMap { kind, word -> String? in
            let count = tables.count { $0.way == kind.rawValue }
            return count == 0 ? nil : "\(count) \(word)"
        }
        return parts.isEmpty ? "" : " Tables: \(parts.joined(separator: ", "))."
    }

    /// The first and the last names of a long way.
    private static func ends(of names: [String]) -> [String] {
        names.count > 6 ? names.prefix(2) + ["…"] + names.suffix(2) : names
    }
}

extension StorePlan.Edge {
    /// The sentences for a person: those of changes that the version hash shows, and of the app's code.
    fileprivate var noted: [String] {
        changes.filter { $0.isStage || isInferred && $0.isHashed }.map(\.sentence) + steps.map(\.sentence)
    }
}
