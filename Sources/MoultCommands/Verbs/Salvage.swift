import MoultCare
import MoultEngine
import MoultModel
import MoultReport
import MoultStore

extension Verb {
    static let salvage = Verb(
        "salvage", "Copy everything readable from a damaged store into a new store.",
        discussion: """
            For a store that SQLite calls malformed and that has no backup. The damaged store is not changed. The new
            store has the tables of the model and every row that can be read, with the keys and the UUID of the old
            store. What could not be read is listed by table and key. Rows and columns for which the model has no place
            are kept in NEW.aside.sqlite. Exits with 1 if something is missing in NEW. Then run moult repair NEW
            --dry-run to find references to lost rows. The first line says which version the store is of, and how that is
            known. Without --model, the model inside the damaged store is used if it can be read.
            """,
        operands: [.store, Operand("NEW", "The path of the new store; nothing may exist there.")],
        options: [.model, sourceVersion, .order],
        examples: [
            "moult salvage forum.sqlite saved.sqlite",
            "moult salvage forum.sqlite saved-again.sqlite --model Forum.xcdatamodeld --version Forum",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(Operand("NEW", ""))
        try StoreProbe.checkKind(store)
        let versions = try invocation.versionsIfKnown(console)
        if versions == nil, invocation[value: sourceVersion] != nil {
            throw invocation.wrong("--version names a version of a model: name the model with --model.")
        }
        let named = try invocation[value: sourceVersion].flatMap { name in
            try versions.map { try invocation.version(named: name, in: $0) }
        }
        let report = try StoreSalvage(named, among: versions)
            .run(store, into: path, isCancelled: Interruption.heard)
        // The new store has a model of its own, which the one that was named need not know.
        let model = report.evidence == .model ? nil : invocation[value: .model]
        let option = model.map { " --model \($0.shellQuoted)" } ?? ""
        let next = "\(Program.name) repair \(path.shellQuoted)\(option)"
        console.print(report.document) { report.lines(next: next, style: $0) }
        return report.isWhole ? .done : .findings
    }

    private static let sourceVersion = Option.value(
        "version", "NAME",
        "The store's version; by default the one that its metadata, or the model inside it, name. If neither can be read, "
            + "the version of the model that places the most rows is used.")
}

extension SalvageReport {
    fileprivate var document: JSONValue {
        [
            "format": 1, "store": .string(store), "version": .string(version), "versionBy": .string(evidence.word),
            "tried": .array(evidence.trials.map { ["version": .string($0.version), "rows": .integer($0.rows)] }),
            "whole": .bool(isWhole),
            "read": .bool(isEverythingRead), "rows": .integer(rows), "externalFiles": JSONValue(externalFiles),
            "notes": JSONValue(notes), "remarks": JSONValue(remarks), "tables": .array(tables.map(\.document)),
            "unplaced": .array(
                unplaced.map { one in
                    [
                        "table": .string(one.table), "reason": .string(one.reason.rawValue),
                        "detail": JSONValue(one.detail), "rows": .integer(one.rows),
                    ]
                }),
            "missingData": .array(missingData.map(\.document)),
            "aside": JSONValue(aside),
            "pages": [
                "count": JSONValue(pages.count), "size": JSONValue(pages.size), "read": JSONValue(pages.read),
                "free": JSONValue(pages.free), "damaged": pages.damaged.document,
                "unexplained": JSONValue(pages.unexplained), "missing": JSONValue(pages.missing),
            ],
        ]
    }

    /// - Parameter next: the command that looks for what leads to rows that are lost.
    fileprivate func lines(next: String, style: TextStyle) -> [String] {
        var table = TextTable([
            .left("table"), .right("rows"), .right("by index"), .right("in part"), .left("keys that could not be read"),
        ])
        for one in tables {
            let lost = one.isMissing ? "no such table" : one.lost.text
            table.add(one.name, "\(one.rows)", one.listed.map { "\($0)" } ?? "", "\(one.partialRows)", lost)
        }
        let verdict =
            switch (isEverythingRead, unplaced.isEmpty) {
            case (true, true): style.green("Everything was read")
            case (true, false): style.yellow("Everything was read, and not everything has a place in this version")
            case (false, _): style.yellow("Not everything could be read")
            }
        let damaged = pages.damaged.isEmpty ? "" : ", damaged: \(pages.damaged.text)"
        let missing = pages.missing == 0 ? "" : ", missing: \(pages.missing)"
        return (reason.map { [$0.printable] } ?? []) + table.lines(style: style) + notes + missingData.map(\.sentence)
            + remarks + unplaced.map(\.sentence)
            + [
                "\(Quantity.count(pages.count, "page")): \(Quantity.count(pages.read)) read, "
                    + "\(Quantity.count(pages.free)) free\(damaged)\(missing)."
            ]
            + (aside.map { ["What has no place is kept in \($0.printable)."] } ?? []) + [
                "\(verdict): \(Quantity.count(Int(clamping: rows), "row")) of version \(version.printable) in "
                    + "\(store.printable). The damaged store is unchanged.",
                "Next: \(next) --dry-run",
            ]
    }
}

extension SalvageReport.Evidence {
    fileprivate var word: String {
        switch self {
        case .named: "name"
        case .metadata: "metadata"
        case .model: "model"
        case .rows: "rows"
        }
    }

    fileprivate var trials: [SalvageReport.Trial] { if case .rows(let trials) = self { trials } else { [] } }
}

extension SalvageReport.Table {
    /// Each of these keys was read: their number is that of rows.
    fileprivate var partialRows: Int64 { partial.reduce(0) { $0 + $1.upperBound - $1.lowerBound + 1 } }

    fileprivate var document: JSONValue {
        [
            "name": .string(name), "rows": .integer(rows), "partial": .integer(partialRows),
            "partialKeys": partial.document, "lost": lost.document,
            "listed": listed.map(JSONValue.integer) ?? .null, "counter": counter.map(JSONValue.integer) ?? .null,
            "cause": JSONValue(cause), "missing": .bool(isMissing),
        ]
    }
}

extension SalvageReport.MissingData {
    fileprivate var document: JSONValue {
        [
            "entity": .string(entity), "property": .string(property), "objects": .integer(objects),
            "keys": keys.document,
        ]
    }

    fileprivate var sentence: String {
        let objects = Quantity.count(objects, "object keeps", plural: "objects keep")
        return "\(objects) \("\(entity).\(property)".printable) in a file that is missing or cannot be read: "
            + "keys \(keys.text)."
    }
}

extension SalvageReport.Unplaced {
    fileprivate var sentence: String {
        let rows = Quantity.count(Int(clamping: rows), "row")
        let (table, detail) = (table.printable, (detail ?? "").printable)
        return switch reason {
        case .table: "\(table): the version has no such table; \(rows)."
        case .entity: "\(table): the version has no entity \(detail); \(rows)."
        case .column: "\(table): the version has no column \(detail); \(rows) with a value."
        case .rule: "\(table): a rule of the version refuses \(rows), such as a uniqueness constraint."
        case .page: "\(rows) cannot be assigned to a table."
        }
    }
}

extension [ClosedRange<Int64>] {
    fileprivate var document: JSONValue {
        .array(map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) })
    }

    fileprivate var text: String {
        let shown = prefix(5).map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)"
        }
        return shown.joined(separator: ", ") + (count > 5 ? ", … (\(count) ranges)" : "")
    }
}
