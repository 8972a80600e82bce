import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let salvage = Verb(
        "salvage", "Read what can still be read of a damaged store into a new one.",
        discussion: """
            For a store that SQLite calls malformed and that has no backup. The damaged store is not changed. The new
            one has the tables of the model, and every row that can be read, with the keys and the UUID of the old one;
            what could not be read is listed by table and key. Exits with 1 where something is missing. Afterwards see
            moult repair NEW --dry-run for what leads to rows that are lost. Without --model the model inside the damaged
            store is taken, where it can still be read.
            """,
        operands: [.store, Operand("NEW", "The path of the new store; nothing may be there.")],
        options: [.model, sourceVersion, .order],
        examples: [
            "moult salvage forum.sqlite saved.sqlite",
            "moult salvage forum.sqlite saved-again.sqlite --model Forum.xcdatamodeld --version Forum",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(Operand("NEW", ""))
        let version = try version(of: store, invocation, console)
        let report = try StoreSalvage(version).run(store, into: path)
        let option = invocation[value: .model].map { " --model \($0.shellQuoted)" } ?? ""
        let next = "\(Program.name) repair \(path.shellQuoted)\(option)"
        console.print(report.document) { report.lines(next: next, style: $0) }
        return report.isWhole ? .done : .findings
    }

    /// The version that was named, else the one that the store says, else the current one; nil for the model inside the
    /// damaged store.
    private static func version(
        of store: String, _ invocation: Invocation, _ console: Console
    ) throws -> ModelVersion? {
        guard let versions = try invocation.versionsIfKnown(console) else {
            guard invocation[value: sourceVersion] == nil else {
                throw invocation.wrong("--version names a version of a model: name the model with --model.")
            }
            return nil
        }
        return try invocation[value: sourceVersion].map { try invocation.version(named: $0, in: versions) }
            ?? known(store, versions) ?? invocation.version(sourceVersion, in: versions)
    }

    /// What the store says of itself, where that can still be read.
    private static func known(_ store: String, _ versions: ModelVersions) -> ModelVersion? {
        try? versions.version(ofStore: store)
    }

    private static let sourceVersion = Option.value(
        "version", "NAME", "The store's version, where it cannot say so itself; the current one by default.")
}

extension SalvageReport {
    fileprivate var document: JSONValue {
        [
            "format": 1, "store": .string(store), "version": .string(version), "whole": .bool(isWhole),
            "rows": .integer(rows), "externalFiles": JSONValue(externalFiles), "notes": JSONValue(notes),
            "tables": .array(
                tables.map { table in
                    [
                        "name": .string(table.name), "rows": .integer(table.rows), "partial": .integer(table.partial),
                        "lost": .array(
                            table.lost.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
                        "cause": JSONValue(table.cause), "cutShort": .bool(table.isCutShort),
                    ]
                }),
        ]
    }

    /// - Parameter next: the command that looks for what leads to rows that are lost.
    fileprivate func lines(next: String, style: TextStyle) -> [String] {
        var table = TextTable([.left("table"), .right("rows"), .right("in part"), .left("keys that could not be read")])
        for one in tables {
            let shown = one.lost.prefix(5).map {
                $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)"
            }
            let more = one.lost.count > 5 ? ", … (\(one.lost.count) ranges)" : ""
            table.add(
                one.name, "\(one.rows)", "\(one.partial)",
                shown.joined(separator: ", ") + more + (one.isCutShort ? " (given up)" : ""))
        }
        let verdict = isWhole ? style.green("Everything was read") : style.yellow("Not everything could be read")
        return table.lines(style: style) + notes + [
            "\(verdict): \(Quantity.count(Int(clamping: rows), "row")) of version \(version.printable) in "
                + "\(store.printable). The damaged store is as it was.",
            "Next: \(next) --dry-run",
        ]
    }
}
