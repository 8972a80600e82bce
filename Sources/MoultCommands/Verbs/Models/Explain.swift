import Moult
import MoultBasics
import MoultTools

extension Verb {
    static let explain = Verb(
        "explain", "Explain a code that Moult prints: a rule of lint, an error or a finding.",
        discussion: """
            Prints the meaning of the code, why it matters, what to do and the exit status. CODE may also be an error
            number of Core Data, such as 134130, or a group of codes. Without CODE, all codes are listed in groups.
            """,
        operands: [code],
        examples: ["moult explain OPEN001", "moult explain lossNotAccepted", "moult explain"]
    ) { invocation, console in
        guard let word = invocation[code] else { return console.print(Explanations()) }
        return console.print(try Explanations(of: word))
    }

    private static let code = Operand(
        "CODE", "The code, such as OPEN001, lossNotAccepted or dangling-reference, or a group such as OPEN.",
        isOptional: true, completes: .codes)
}
