import MoultModel
import MoultReport
import MoultTools

/// The reader of the output went away, as `| head` does.
private struct NoReader: Error {}

extension Verb {
    static let dump = Verb(
        "dump", "Print every object of a store with its values, ordered by entity and key.",
        discussion: """
            With --json, each object is printed on a line of its own. Without --model, the model inside the store is
            used.
            """,
        operands: [.store], options: [.model, entity, withSubentities, .order, jsonLines],
        examples: [
            "moult dump forum.sqlite --entity User --json",
            "moult dump forum.sqlite --model Forum.xcdatamodeld --entity User --with-subentities",
        ]
    ) { invocation, console in
        let versions = try invocation.versionsIfKnown(console) ?? ModelVersions(versions: [])
        let style = console.output.style
        do {
            try StoreProbe.forEachObject(
                of: invocation[value: entity], includingSubentities: invocation[withSubentities],
                in: try invocation.required(Operand.store), versions: versions
            ) { row in
                console.isJSON ? console.line(row.document.compact) : console.lines(row.lines(style: style))
                if console.outputError != nil { throw NoReader() }
            }
        } catch is NoReader {
            return .done
        }
        return .done
    }

    private static let entity = Option.value("entity", "NAME", "Print only the objects of this entity.")
    private static let withSubentities = Option.flag("with-subentities", "Include the objects of its sub-entities.")
    private static let jsonLines = Option.flag(
        Option.json.name, "Print one JSON document per object, one per line, for scripts.")
}
