import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

extension Verb {
    static let log = Verb(
        "log", "Print the log of a store: the events of each run, with their times.", operands: [.store],
        examples: ["moult log forum.sqlite"]
    ) { invocation, console in
        let log = MigrationLog(try invocation.sidecar(of: try invocation.required(Operand.store)))
        let lines = try log.read().split(separator: "\n").map(String.init)
        console.print(["format": 1, "lines": JSONValue(lines)]) { _ in
            lines.isEmpty ? ["The log is empty."] : lines.map(\.printable)
        }
        return .done
    }
}
