import MoultModel
import MoultPlan

extension MigrationEdge {
    var document: JSONValue {
        [
            "from": .string(from), "to": .string(to), "inferred": .bool(isInferable), "stage": JSONValue(stage?.name),
            "losesData": .bool(losesData), "mayFail": .bool(mayFail), "sentences": JSONValue(sentences),
            "steps": .array(placedSteps.map { Self.document($0.step, at: $0.version) }),
            "policies": JSONValue(policies), "undo": .string(undo.sentence),
            "code": JSONValue(steps.map(\.name) + policies),
        ]
    }

    /// The steps with the version that the store has when they run, in order.
    private var placedSteps: [(step: CodeStep, version: String)] {
        (stage?.before ?? []).map { ($0, from) } + (stage?.after ?? []).map { ($0, to) }
    }

    /// The names of the migration policies that make objects, in byte order.
    private var policies: [String] {
        guard case .registered(_, let mapping) = means else { return [] }
        return Set(mapping.entityMappings.compactMap(\.policy)).sorted { $0.precedesInByteOrder($1) }
    }

    private static func document(_ step: CodeStep, at version: String) -> JSONValue {
        [
            "name": .string(step.name), "sentence": .string(step.sentence), "version": .string(version),
            "undo": JSONValue(step.undo),
        ]
    }

    func lines(style: TextStyle) -> [String] {
        var lines = [style.bold("\(from.printable) → \(to.printable)") + style.dim("  \(way)")]
        if let stage { lines.append("  \(style.green("•")) \(stage.sentence.printable)") }
        if isInferable { lines += diff.hashed.map { "  \(Self.mark($0, style)) \($0.sentence.printable)" } }
        lines += policies.map { "  \(style.green("•")) The policy \($0.printable) makes the objects." }
        for (step, version) in placedSteps {
            lines.append(
                "  \(style.green("▸")) \(step.name.printable)" + style.dim(" at \(version.printable)")
                    + ": \(step.sentence.printable)")
            if let undo = step.undo { lines.append("    " + style.dim(undo.printable)) }
        }
        lines.append("  " + style.dim(undo.sentence.printable))
        return lines
    }

    /// The way in which the edge is done, in a word or two.
    private var way: String {
        guard let stage else { return "inferred" }
        return isInferable ? "inferred, stage \(stage.name.printable)" : stage.name.printable
    }

    private static func mark(_ change: ModelChange, _ style: TextStyle) -> String {
        change.losesData ? style.red("!") : change.mayFail ? style.yellow("?") : style.green("•")
    }
}
