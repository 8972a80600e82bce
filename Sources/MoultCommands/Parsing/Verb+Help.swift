import MoultReport

extension Verb {
    /// The help of this verb. `path` is the verb as it is typed, such as `backup list`.
    package func help(path: String, style: TextStyle) -> [String] {
        var lines = [summary, "", "\(style.bold("Usage:")) \(usage(path: path))"]
        if !discussion.isEmpty { lines += [""] + Program.named(discussion).split(separator: "\n").map(String.init) }
        lines += Self.section("Arguments", operands.map { ($0.usage, $0.help) }, style)
        lines += Self.section("Verbs", subverbs.map { ($0.name, $0.summary) }, style)
        lines += Self.section("Options", options.map { ($0.usage, $0.help) }, style)
        if !examples.isEmpty {
            lines +=
                ["", style.bold(examples.count == 1 ? "Example:" : "Examples:")]
                + examples.map { "  " + Program.named($0) }
        }
        return lines
    }

    private func usage(path: String) -> String {
        let tail = isGroup ? ["VERB"] : operands.map(\.usage) + ["[options]"]
        return ([Program.name, path] + tail).joined(separator: " ")
    }

    package static func section(_ title: String, _ rows: [(String, String)], _ style: TextStyle) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable([.left(""), .left("")])
        for (name, help) in rows { table.add("  " + name, help) }
        return ["", style.bold(title + ":")] + table.lines(style: style)
    }
}
