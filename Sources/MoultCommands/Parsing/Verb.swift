/// One verb of the command line: what it takes, what its help says, and what it does.
package struct Verb: Sendable {
    package typealias Run = @Sendable (Invocation, Console) async throws -> ExitCode

    package let name: String
    /// One sentence for the list of verbs.
    package let summary: String
    /// The text of the help beyond the summary.
    package let discussion: String
    package let operands: [Operand]
    package let options: [Option]
    /// Whole command lines that work as they stand, given `forum.sqlite` and `Forum.xcdatamodeld`.
    package let examples: [String]
    /// The verbs below this one, as in `moult backup list`.
    package let subverbs: [Verb]
    /// Whether it only groups others; then `run` is never called.
    package let isGroup: Bool
    package let run: Run

    package init(
        _ name: String, _ summary: String, discussion: String = "", operands: [Operand] = [], options: [Option] = [],
        examples: [String], subverbs: [Verb] = [], run: @escaping Run
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.operands = operands
        // A verb may have its own help for one of them.
        let common: [Option] = [.config, .json, .help]
        self.options = options + common.filter { shared in !options.contains { $0.name == shared.name } }
        self.examples = examples
        self.subverbs = subverbs
        isGroup = false
        self.run = run
    }

    /// A verb that only groups others.
    package init(_ name: String, _ summary: String, discussion: String = "", subverbs: [Verb]) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        operands = []
        options = [.help]
        examples = subverbs.flatMap(\.examples)
        self.subverbs = subverbs
        isGroup = true
        run = { _, _ in .wrongUsage }
    }

    /// The verbs that do something, this one or those below it, each as it is typed.
    package var leaves: [(words: [String], verb: Verb)] {
        (isGroup ? [] : [([name], self)]) + subverbs.map { ([name, $0.name], $0) }
    }
}
