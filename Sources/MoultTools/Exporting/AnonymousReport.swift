import MoultExport
import MoultModel
import MoultReport

/// A copy of a store with stand-ins for its values, and what is as in the store.
package struct AnonymousReport: ToolAnswer {
    private let path: String
    private let outcome: AnonymousCopy.Outcome

    /// Makes the copy.
    ///
    /// - Parameter seed: that of the stand-ins; nil for a random one.
    /// - Throws: `usage` if the path is taken; what reading the store and writing the copy throws.
    package init(
        of store: String, versions: ModelVersions?, rules: StandInRules, seed: Int?, at path: String
    ) throws {
        let seed = seed.map { UInt64($0) } ?? UInt64.random(in: 1...(1 << 53))
        outcome = try AnonymousCopy(of: store, versions: versions, rules: rules, seed: seed).make(at: path)
        self.path = path
    }

    package var document: JSONValue {
        let names = outcome.objects.keys.sorted { $0.precedesInByteOrder($1) }
        return [
            "format": 1, "path": .string(path), "seed": JSONValue(Int(clamping: outcome.seed)),
            "entities": .array(names.map { ["name": .string($0), "rows": .integer(outcome.objects[$0] ?? 0)] }),
            "texts": JSONValue(outcome.texts), "unordered": JSONValue(outcome.unordered),
            "files": JSONValue(outcome.files),
            "kept": .array(
                outcome.kept.map {
                    ["place": .string($0.place), "rule": .string($0.rule.rawValue), "values": JSONValue($0.values)]
                }),
            "emptied": JSONValue(outcome.emptied), "byChance": JSONValue(outcome.byChance),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = [
            "Made \(path.printable): \(Quantity.count(outcome.objects.values.reduce(0, +), "object")) with stand-ins, seed \(outcome.seed)."
        ]
        if outcome.unordered > 0 {
            lines.append("\(Quantity.count(outcome.unordered, "text")) could not be kept in order.")
        }
        if !outcome.emptied.isEmpty {
            lines.append(
                "Empty in the copy, because only their modules know what they hold: \(outcome.emptied.map(\.printable).joined(separator: ", "))."
            )
        }
        if outcome.byChance > 0 {
            lines.append(
                "\(Quantity.count(outcome.byChance, "short text")) of the store \(outcome.byChance == 1 ? "occurs" : "occur") in the bytes by chance."
            )
        }
        guard !outcome.kept.isEmpty else { return lines }
        var table = TextTable([.left("as in the store"), .left("rule"), .right("values")])
        for kept in outcome.kept { table.add(kept.place.printable, kept.rule.rawValue, Quantity.count(kept.values)) }
        return lines + [""] + table.lines(style: style)
    }
}
