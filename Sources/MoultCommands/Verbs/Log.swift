import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let log = Verb(
        "log", "Print the log of a store: the events of each run, with their times.", operands: [.store],
        examples: ["moult log forum.sqlite"]
    ) { invocation, console in
        let lines = try invocation.keeper().log()
        console.print(["format": 1, "lines": JSONValue(lines)]) { _ in
            lines.isEmpty ? ["The log is empty."] : lines.map(\.printable)
        }
        return .done
    }
}
