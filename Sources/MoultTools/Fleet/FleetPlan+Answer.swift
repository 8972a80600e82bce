import MoultFleet
import MoultModel
import MoultReport

extension FleetPlan.Summary {
    /// Whether every store that was found can be migrated or is of the version aimed at.
    package var isClean: Bool {
        missedCount == 0
            && groups.allSatisfy { [.behind, .current].contains($0.state) && $0.refusal == nil }
    }

    package func document(_ path: String) -> JSONValue {
        [
            "format": 1, "manifest": .string(path), "stores": JSONValue(stores), "files": JSONValue(files),
            "repeated": JSONValue(repeated), "resumed": JSONValue(resumed), "missed": JSONValue(missedCount),
            "seconds": .double(seconds), "groups": .array(groups.compactMap { $0.json["group"] }),
        ]
    }

    package func lines(_ path: String, style: TextStyle) -> [String] {
        var table = TextTable([
            .left("state"), .left("version"), .right("stores"), .right("size"), .right("rows"), .right("work"),
        ])
        for group in groups {
            table.add(
                group.state.rawValue, group.version, Quantity.count(group.stores),
                Quantity.bytes(Int(clamping: group.bytes)), Quantity.count(group.rows),
                Quantity.duration(group.estimate))
        }
        var lines = [
            "\(Quantity.count(stores, "store")) among \(Quantity.count(files, "file")), in "
                + "\(Quantity.duration(seconds)): \(path.printable)"
        ]
        if repeated > 0 { lines.append("\(Quantity.count(repeated, "name")) led to a store that is listed already.") }
        if resumed > 0 { lines.append("An earlier call had looked at \(Quantity.count(resumed, "store")).") }
        if missedCount > 0 { lines.append("\(Quantity.count(missedCount, "path")) could not be looked at.") }
        lines += table.lines(style: style)
        for group in groups where !group.changes.isEmpty {
            lines += ["", style.bold("\(group.version.printable):")] + group.changes.map { "  • \($0.printable)" }
        }
        for group in groups {
            guard let refusal = group.refusal else { continue }
            lines += ["", "\(style.red("refused")) \(group.version.printable): \(refusal.message.printable)"]
        }
        if !groups.isEmpty, groups.allSatisfy({ [.unknown, .unreadable].contains($0.state) }) {
            lines.append(String(advice: "No store is of a version of the model. Check \(option: .model(nil))."))
        }
        return lines
    }
}
