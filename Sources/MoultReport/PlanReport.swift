import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

/// A prepared migration in words, and as the JSON that people keep.
package struct PlanReport: Sendable {
    private let prepared: PreparedMigration
    /// The statements, where somebody wants to see them.
    private let script: StoreScript?
    private let losses: [ForeseenLoss]
    private let refusal: MigrationError?
    private let needs: RunNeeds?
    private let withValues: Bool

    /// - Parameters:
    ///   - losses: as the migration foresees them.
    ///   - refusal: what the migration would be refused with.
    ///   - needs: the time and the room of the run; nil if it cannot begin.
    ///   - withValues: whether the statements have the store's metadata, and the literals of an app's own objects.
    package init(
        _ prepared: PreparedMigration, script: StoreScript? = nil, losses: [ForeseenLoss] = [],
        refusal: MigrationError? = nil, needs: RunNeeds? = nil, withValues: Bool = false
    ) {
        self.needs = needs
        self.withValues = withValues
        self.prepared = prepared
        self.script = script
        self.losses = losses
        self.refusal = refusal
    }

    private var plan: MigrationPlan { prepared.plan }
    private var ways: [TableWay] { (try? prepared.tableWays) ?? [] }
    private var findings: [Finding] {
        prepared.storeFindings + plan.findings + (prepared.bound?.rowFindings ?? [])
            + losses.compactMap(\.finding)
    }
    private var rowCounts: [(key: String, value: Int64)] {
        (prepared.bound?.rowCounts ?? [:]).sorted { $0.key.precedesInByteOrder($1.key) }
    }

    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("store", .string(prepared.store)), .init("from", .string(plan.from.name)),
            .init("to", .string(plan.to.name)), .init("versions", JSONValue(plan.versionNames)),
            .init("edges", .array(plan.edges.map(\.document))), .init("passes", JSONValue(plan.passes.count)),
            .init("stopsAtEachVersion", .bool(prepared.stopsAtEachVersion)),
            .init("losesData", .bool(!plan.losses.isEmpty || !losses.isEmpty)),
            .init("losses", .array(losses.map(\.document))),
            .init("entities", .array(rowCounts.map { ["name": .string($0.key), "rows": .integer($0.value)] })),
            .init("tables", .array(ways.map(\.document))), .init("bytes", .integer(prepared.size)),
            .init("findings", .array(findings.map(\.planDocument))),
            .init("binding", prepared.bound?.binding.document ?? .null),
            .init("deferral", prepared.deferral?.document ?? .null),
            .init("longestUnit", prepared.longestUnit?.document ?? .null),
            .init("seconds", needs.map { .double($0.seconds) } ?? .null),
            .init("space", .array(needs?.space.parts.map(\.document) ?? [])),
        ]
        if let refusal { members.append(.init("error", refusal.document["error"] ?? .null)) }
        if let script {
            members.append(.init("statements", .array(script.statements.map { $0.document(withValues: withValues) })))
        }
        return .object(members)
    }

    package func lines(style: TextStyle) -> [String] {
        if plan.isEmpty {
            return ["The store is already of version \(plan.to.name.printable). There is nothing to do."]
        }
        let total = Int(clamping: rowCounts.reduce(0) { $0 + $1.value })
        let passes = plan.passes.count == 1 ? "one pass" : "\(plan.passes.count) passes"
        let stops = prepared.stopsAtEachVersion ? ", each version a commit of its own" : ""
        var lines = [
            style.bold(plan.versionNames.map(\.printable).joined(separator: " → ")),
            "\(Quantity.count(total, "row")), \(Quantity.bytes(Int(clamping: prepared.size))), \(passes)\(stops).",
        ]
        for edge in plan.edges {
            lines += [""] + edge.lines(style: style)
        }
        let changed = ways.filter { $0.kind != .unchanged }
        if !changed.isEmpty { lines += [""] + changed.map(\.sentence.printable) }
        if let deferral = prepared.deferral { lines += [""] + deferral.lines(style: style) }
        // A deferred change is one transaction; the pieces of the rest are those of moult finish, which are named above.
        if prepared.deferral?.isPossible != true, let unit = prepared.longestUnit {
            lines += [
                "",
                "The longest piece that cannot be interrupted takes about \(Quantity.duration(unit.seconds)): "
                    + unit.sentence.printable,
            ]
        }
        if let needs {
            let room = SpaceRequirement.sentence(needs.volumes, of: "It").map { " \($0)" } ?? ""
            lines += ["", "The migration takes about \(Quantity.duration(needs.seconds)) in all.\(room)"]
        }
        let notable = findings.filter { $0.severity > .note }
        if !notable.isEmpty { lines += [""] + notable.flatMap { $0.lines(style: style, rule: $0.rule) } }
        if let script {
            lines.append("")
            for statement in script.statements {
                let sql = withValues ? statement.sql : statement.sqlWithoutValues
                lines += [style.dim("-- \(statement.sentence.printable)"), sql.printableLines + ";"]
            }
        }
        return lines
    }
}

extension Finding {
    /// The finding with the rule of lint that says the same.
    var planDocument: JSONValue {
        guard case .object(let members) = document else { return .null }
        return .object(members + [.init("rule", JSONValue(rule))])
    }
}

extension TableWay {
    fileprivate var document: JSONValue {
        ["name": .string(table), "way": .string(kind.rawValue), "sentence": .string(sentence)]
    }
}

extension ForeseenLoss {
    fileprivate var document: JSONValue {
        guard case .object(let members) = loss.document else { return .null }
        return .object(
            members.filter { $0.key != "sentence" } + [
                .init("sentence", .string(sentence)), .init("stage", JSONValue(stage)),
                .init("fate", .string(fate.rawValue)),
                .init("remedy", JSONValue(remedy)),
            ])
    }
}

extension StoreScript.Statement {
    fileprivate func document(withValues: Bool) -> JSONValue {
        [
            "sql": .string(withValues ? sql : sqlWithoutValues), "sentence": .string(sentence),
            "rows": .integer(rows.progress),
        ]
    }
}

extension MigrationUnit {
    fileprivate var document: JSONValue { ["sentence": .string(sentence), "seconds": .double(seconds)] }
}

extension BoundPlan.Binding {
    package var document: JSONValue {
        [
            "uuid": .string(storeUUID), "checksum": .string(checksum.base64),
            "catalogue": .string(catalogueDigest.base64), "framework": JSONValue(framework),
        ]
    }
}
