import MoultModel
import MoultTools

extension Verb {
    static let query = Verb(
        "query", "Run a SELECT over the views that moult views prints, and print the rows.",
        discussion: """
            The store is not changed: a statement that writes is refused. You can also query the tables of the store.
            A blob that holds JSON, a property list or an archive of known classes is printed as that value. Others are
            base64 in JSON, and x'…' in CSV and tables.
            """,
        operands: [.store, sql], options: [rowFormat, .exact, .model, .order, jsonRows],
        examples: [
            "moult query forum.sqlite \"SELECT name, count(*) AS posts FROM User JOIN Post ON Post.author = User.Z_PK GROUP BY 1\"",
            "moult query forum.sqlite \"SELECT * FROM Forum\" --format csv",
        ]
    ) { invocation, console in
        let name = console.isJSON ? "json" : invocation[value: rowFormat] ?? "table"
        guard let format = RowFormat(rawValue: name) else {
            throw invocation.wrong("--format takes table, csv, json or jsonl, not \(name).")
        }
        let versions = try invocation.versionsIfKnown(console)
        let output = RowOutput(style: console.output.style, line: console.line, exactly: console.exactly)
        let guarded = try RowPrinter.print(
            invocation.required(sql), of: invocation.required(Operand.store), versions: versions, format,
            isExact: invocation[.exact], output
        ) { console.outputError == nil }
        console.say(guarded: guarded)
        return .done
    }

    private static let sql = Operand("SQL", "One SELECT.", completes: .nothing)
    private static let rowFormat = Option.value(
        "format", "NAME", "table (the default), csv, json or jsonl.",
        completes: .words(RowFormat.allCases.map(\.rawValue)))
    private static let jsonRows = Option.flag(
        Option.json.name, "The same as --format json; takes precedence over --format.")
}

extension Option {
    static let exact = flag(
        "exact",
        "In CSV, leave strings that a spreadsheet would read as formulas unchanged. By default, they get a leading "
            + "apostrophe.")
}

extension Console {
    /// Says how many texts have an apostrophe in front.
    func say(guarded count: Int) {
        guard count > 0 else { return }
        say(
            "\(Quantity.count(count, "text")) that a spreadsheet would read as a formula "
                + "\(count == 1 ? "has" : "have") an apostrophe in front. --exact leaves such texts unchanged.")
    }
}
