import MoultModel
import MoultStore

extension StorePlan {
    package func lines(style: TextStyle) -> [String] {
        if isEmpty { return [Self.nothingToDo(at: to)] }
        let total = Int(clamping: rowCounts.values.reduce(0, +))
        let passes = passes == 1 ? "one pass" : "\(passes) passes"
        let stops = stopsAtEachVersion ? ", each version a commit of its own" : ""
        var lines = [
            style.bold(versionNames.map(\.printable).joined(separator: " → ")),
            "\(Quantity.count(total, "row")), \(Quantity.bytes(Int(clamping: bytes))), \(passes)\(stops).",
        ]
        for edge in edges { lines += [""] + edge.lines(style: style) }
        let changed = tables.filter { $0.way != TableWay.Kind.unchanged.rawValue }
        if !changed.isEmpty { lines += [""] + changed.map(\.sentence.printable) }
        if let deferral { lines += [""] + deferral.lines(style: style) }
        // A deferred change is one transaction; the pieces of the rest are those of moult finish, which are named above.
        if deferral?.isPossible != true, let longestWork {
            lines += [
                "",
                "The longest piece that cannot be interrupted takes about "
                    + "\(Quantity.duration(longestWork.seconds)): \(longestWork.sentence.printable)",
            ]
        }
        if let seconds {
            let room = spaceSentence.map { " \($0)" } ?? ""
            lines += ["", "The migration takes about \(Quantity.duration(seconds)) in all.\(room)"]
        }
        let notable = findings.filter { $0.severity > .note }
        if !notable.isEmpty { lines += [""] + notable.flatMap { $0.lines(style: style, rule: $0.rule) } }
        if let statements {
            lines.append("")
            for statement in statements {
                lines += [
                    style.dim("-- \(statement.sentence.printable)"), statement.sql.printableLines + ";",
                ]
            }
        }
        return lines
    }

    /// The line for a store that is of the version aimed at.
    static func nothingToDo(at version: String) -> String {
        "The store is already of version \(version.printable). There is nothing to do."
    }
}

extension StorePlan: CustomStringConvertible {
    /// The versions, then one line for each change, loss and finding.
    public var description: String {
        guard !isEmpty else { return Self.nothingToDo(at: to) }
        var lines = [versionNames.joined(separator: " → ")]
        for edge in edges {
            lines += ["\(edge.from) → \(edge.to)"] + edge.sentences.map { "  \($0)" } + ["  \(edge.undo)"]
        }
        lines += losses.map { "! \($0.sentence)" }
        lines += findings.filter { $0.severity > .note }.map { "\($0.severity.rawValue) [\($0.code)] \($0.message)" }
        if let refusal { lines += ["refused [\(refusal.code)] \(refusal.message)"] }
        return lines.map(\.printableLines).joined(separator: "\n")
    }
}

extension StorePlan.Edge {
    fileprivate func lines(style: TextStyle) -> [String] {
        var lines = [style.bold("\(from.printable) → \(to.printable)") + style.dim("  \(way)")]
        for change in changes where change.isStage || isInferred && change.isHashed {
            lines.append("  \(change.mark(style)) \(change.sentence.printable)")
        }
        lines += policies.map { "  \(style.green("•")) The policy \($0.printable) makes the objects." }
        for step in steps {
            lines.append(
                "  \(style.green("▸")) \(step.name.printable)" + style.dim(" at \(step.version.printable)")
                    + ": \(step.sentence.printable)")
            if let undo = step.undo { lines.append("    " + style.dim(undo.printable)) }
        }
        lines.append("  " + style.dim(undo.printable))
        return lines
    }

    /// The way in which the edge is done, in a word or two.
    private var way: String {
        guard let stage else { return "inferred" }
        return isInferred ? "inferred, stage \(stage.printable)" : stage.printable
    }
}

extension StorePlan.Change {
    fileprivate func mark(_ style: TextStyle) -> String {
        switch risk {
        case .losesData: style.red("!")
        case .mayFail: style.yellow("?")
        case .none: style.green("•")
        }
    }
}
