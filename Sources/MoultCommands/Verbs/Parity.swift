import MoultReport
import MoultSystem

extension Verb {
    static let parity = Verb(
        "parity", "Print the results of a comparison with Apple's frameworks on a Mac, as a table.",
        discussion: """
            REPORT is the file that moult-parity writes (Documentation/Parity.md). The table is Markdown. Exits with 1 if
            something differs.
            """,
        operands: [report], examples: ["moult parity parity.json"]
    ) { invocation, console in
        let path = try invocation.required(report)
        let found = try ParityReport(POSIXSystem().read(path, limit: 64 << 20, as: .usage), place: path)
        console.print(found.document) { _ in found.lines }
        return found.isEqual ? .done : .findings
    }

    private static let report = Operand("REPORT", "The JSON file that moult-parity has written.")
}
