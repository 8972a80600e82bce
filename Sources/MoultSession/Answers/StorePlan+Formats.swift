import MoultBasics
import MoultEngine
import MoultModel
import MoultStore

extension StorePlan {
    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("store", .string(store)), .init("from", .string(from)),
            .init("to", .string(to)), .init("versions", JSONValue(versionNames)),
            .init("edges", .array(edges.map(\.document))), .init("passes", JSONValue(passes)),
            .init("stopsAtEachVersion", .bool(stopsAtEachVersion)), .init("losesData", .bool(losesData)),
            .init("losses", .array(losses.map(\.document))),
            .init(
                "entities",
                .array(
                    rowCounts.inByteOrder { $0.key }.map {
                        ["name": .string($0.key), "rows": .integer($0.value)]
                    })),
            .init("tables", .array(tables.map(\.document))), .init("bytes", .integer(bytes)),
            .init("findings", .array(findings.map(\.planDocument))), .init("binding", binding?.document ?? .null),
            .init("deferral", deferral?.document ?? .null), .init("longestUnit", longestWork?.document ?? .null),
            .init("seconds", seconds.map(JSONValue.double) ?? .null),
            .init("space", .array(space.map(\.document))),
        ]
        if let refusal { members.append(.init("error", refusal.document["error"] ?? .null)) }
        if let statements { members.append(.init("statements", .array(statements.map(\.document)))) }
        return .object(members)
    }

    /// The plan as JSON, on one line, with the members that Documentation/CommandLine.md describes.
    public var json: String { document.compact }

    /// Reads a saved plan: ``json``, or the output of the command line's plan.
    ///
    /// - Throws: `usage` for a text that is not a plan.
    public init(json: String) throws { try self.init(json: Array(json.utf8), place: "the plan") }

    /// - Parameter place: the place that the bytes came from, for errors.
    /// - Throws: `usage` for a text that is not a plan.
    package init(json: [UInt8], place: String) throws {
        let json = try JSONValue(parsing: json, place: place, code: .usage)
        guard json["format"]?.integer == 1, let edges = json["edges"]?.array, let from = json["from"]?.string,
            let to = json["to"]?.string
        else {
            throw MigrationError(
                .usage, "The text is not a plan of format 1.", place: place,
                remedy: "Give the JSON of a plan, or the output of \(.plan, .json).")
        }
        (self.from, self.to, self.place) = (from, to, place)
        self.edges = edges.map(Edge.init)
        store = json["store"]?.string ?? ""
        versionNames = json.texts("versions")
        passes = json["passes"]?.integer.flatMap(Int.init(exactly:)) ?? 0
        stopsAtEachVersion = json["stopsAtEachVersion"]?.bool ?? false
        losesData = json["losesData"]?.bool ?? false
        losses = json.list("losses").compactMap(Loss.init)
        rowCounts = json.list("entities").reduce(into: [:]) {
            if let name = $1["name"]?.string { $0[name] = $1["rows"]?.integer ?? 0 }
        }
        tables = json.list("tables").map(Table.init)
        bytes = json["bytes"]?.integer ?? 0
        findings = json.list("findings").map(Finding.init)
        binding = json["binding"].flatMap(BoundPlan.Binding.init)
        deferral = json["deferral"].flatMap(DeferredWork.init)
        longestWork = json["longestUnit"].flatMap(MigrationUnit.init)
        seconds = json["seconds"]?.double
        space = json.list("space").map(SpaceRequirement.Part.init)
        refusal = json["error"].flatMap(MigrationError.init)
        statements = json["statements"]?.array?.map(Statement.init)
        (spaceSentence, obstacle, undeclaredLoss) = (nil, nil, nil)
    }
}

extension StorePlan: Hashable, Codable {
    /// Whether two plans are equal as JSON.
    public static func == (left: Self, right: Self) -> Bool { left.document == right.document }

    /// Hashes the plan as JSON.
    public func hash(into hasher: inout Hasher) { hasher.combine(document) }

    /// Encodes ``json`` as one string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }

    /// Decodes a plan from the string of its JSON.
    public init(from decoder: any Decoder) throws {
        try self.init(json: try decoder.singleValueContainer().decode(String.self))
    }
}

// MARK: - Parts

extension StorePlan.Edge {
    fileprivate var document: JSONValue {
        [
            "from": .string(from), "to": .string(to), "inferred": .bool(isInferred), "stage": JSONValue(stage),
            "losesData": .bool(losesData), "mayFail": .bool(mayFail), "sentences": JSONValue(changes.map(\.sentence)),
            "steps": .array(
                steps.map {
                    [
                        "name": .string($0.name), "sentence": .string($0.sentence), "version": .string($0.version),
                        "undo": JSONValue($0.undo),
                    ]
                }),
            "policies": JSONValue(policies), "undo": .string(undo), "code": JSONValue(code),
        ]
    }

    fileprivate init(_ json: JSONValue) {
        (from, to, undo) = (json.text("from"), json.text("to"), json.text("undo"))
        (isInferred, stage) = (json["inferred"]?.bool ?? false, json["stage"]?.string)
        (losesData, mayFail) = (json["losesData"]?.bool ?? false, json["mayFail"]?.bool ?? false)
        changes = json.texts("sentences").map { StorePlan.Change(sentence: $0) }
        steps = json.list("steps").map {
            StorePlan.Step(
                name: $0.text("name"), sentence: $0.text("sentence"), version: $0.text("version"),
                undo: $0["undo"]?.string)
        }
        (policies, code) = (json.texts("policies"), json.texts("code"))
    }
}

extension StorePlan.Loss {
    fileprivate var document: JSONValue {
        let own = (loss.document.members ?? []).filter { $0.key != "sentence" }
        return .object(
            own + [
                .init("sentence", .string(sentence)), .init("stage", JSONValue(stage)), .init("fate", .string(fate)),
                .init("remedy", JSONValue(remedy)),
            ])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let loss = MigrationLoss(json) else { return nil }
        self.init(
            sentence: json.text("sentence"), remedy: json["remedy"]?.string, loss: loss,
            stage: json["stage"]?.string, fate: json.text("fate"))
    }
}

extension StorePlan.Table {
    fileprivate var document: JSONValue { ["name": .string(name), "way": .string(way), "sentence": .string(sentence)] }

    fileprivate init(_ json: JSONValue) {
        self.init(name: json.text("name"), way: json.text("way"), sentence: json.text("sentence"))
    }
}

extension StorePlan.Statement {
    fileprivate var document: JSONValue {
        ["sql": .string(sql), "sentence": .string(sentence), "rows": .integer(rows)]
    }

    fileprivate init(_ json: JSONValue) {
        self.init(sql: json.text("sql"), sentence: json.text("sentence"), rows: json["rows"]?.integer ?? 0)
    }
}

extension MigrationUnit {
    fileprivate var document: JSONValue { ["sentence": .string(sentence), "seconds": .double(seconds)] }

    fileprivate init?(_ json: JSONValue) {
        guard let seconds = json["seconds"]?.double else { return nil }
        self.init(sentence: json.text("sentence"), seconds: seconds)
    }
}

extension SpaceRequirement.Part {
    package var document: JSONValue {
        ["reason": .string(reason), "folder": .string(folder), "bytes": .integer(bytes)]
    }

    fileprivate init(_ json: JSONValue) {
        self.init(reason: json.text("reason"), folder: json.text("folder"), bytes: json["bytes"]?.integer ?? 0)
    }
}

extension BoundPlan.Binding {
    package var document: JSONValue {
        [
            "uuid": .string(storeUUID), "checksum": .string(checksum.base64),
            "catalogue": .string(catalogueDigest.base64), "framework": JSONValue(framework),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        guard let uuid = json["uuid"]?.string, let framework = json["framework"]?.integer.flatMap(Int.init(exactly:)),
            let checksum = json["checksum"]?.string.flatMap([UInt8].init(base64:)),
            let catalogue = json["catalogue"]?.string.flatMap([UInt8].init(base64:))
        else { return nil }
        self.init(storeUUID: uuid, checksum: checksum, catalogueDigest: catalogue, framework: framework)
    }
}

extension Finding {
    /// The finding with the lint rule that reports the same.
    package var planDocument: JSONValue { .object((document.members ?? []) + [.init("rule", JSONValue(rule))]) }

    fileprivate init(_ json: JSONValue) {
        self.init(
            code: json.text("code"), severity: json["severity"]?.string.flatMap(Severity.init) ?? .note,
            place: json.text("place"), message: json.text("message"), remedy: json.text("remedy"))
        keys = json.list("keys").compactMap(\.integer)
        values = json.texts("values")
    }
}

extension MigrationError {
    fileprivate init?(_ json: JSONValue) {
        guard let code = json["code"]?.string.flatMap(Code.init(named:)) else { return nil }
        self.init(
            code, json.text("message"), place: json.text("place"), remedy: json.text("remedy"),
            cause: json["cause"]?.string)
    }
}

extension StorePlan {
    package func lines(style: TextStyle) -> [String] {
        if isEmpty { return [Self.nothingToDo(at: to)] }
        let total = Int(clamping: rowCounts.values.reduce(0, +))
        let passes = passes == 1 ? "one pass" : "\(passes) passes"
        let stops = stopsAtEachVersion ? ", each version a commit of its own" : ""
        var lines = [
            style.bold(versionNames.map(\.printable).joined(separator: " → ")),
            "\(Quantity.count(total, "row")), \(Quantity.bytes(bytes)), \(passes)\(stops).",
        ]
        for edge in edges { lines += [""] + edge.lines(style: style) }
        let changed = tables.filter { $0.way != TableStrategy.Kind.unchanged.rawValue }
        if !changed.isEmpty { lines += [""] + changed.map(\.sentence.printable) }
        if let deferral { lines += [""] + deferral.lines(style: style) }
        // A deferred change is one transaction; the tasks of `moult finish` are listed above.
        if deferral?.isPossible != true, let longestWork {
            lines += [
                "",
                "The longest piece that cannot be interrupted with a time budget takes about "
                    + "\(Quantity.duration(longestWork.seconds)): \(longestWork.sentence.printable)",
            ]
        }
        if let seconds {
            let room = spaceSentence.map { " \($0)" } ?? ""
            lines += ["", "The migration takes about \(Quantity.duration(seconds)) in all.\(room)"]
        }
        let notable = findings.filter { $0.severity > .note }
        if !notable.isEmpty { lines += [""] + notable.flatMap { $0.lines(style: style, rule: $0.rule) } }
        if let statements {
            lines.append("")
            for statement in statements {
                lines += [style.dim("-- \(statement.sentence.printable)"), statement.sql.printableLines + ";"]
            }
        }
        return lines
    }

    /// Returns the line for a store that already has the target version.
    package static func nothingToDo(at version: String) -> String {
        "The store is already of version \(version.printable). There is nothing to do."
    }
}

extension StorePlan: CustomStringConvertible {
    /// The versions, then one line for each change, loss and finding.
    public var description: String {
        guard !isEmpty else { return Self.nothingToDo(at: to) }
        var lines = [versionNames.joined(separator: " → ")]
        for edge in edges {
            lines += ["\(edge.from) → \(edge.to)"] + edge.sentences.map { "  \($0)" } + ["  \(edge.undo)"]
        }
        lines += losses.map { "! \($0.sentence)" }
        lines += findings.filter { $0.severity > .note }.map { "\($0.severity.rawValue) [\($0.code)] \($0.message)" }
        if let refusal { lines += ["refused [\(refusal.code)] \(refusal.message)"] }
        return lines.map(\.printableLines).joined(separator: "\n")
    }
}

extension StorePlan.Edge {
    fileprivate func lines(style: TextStyle) -> [String] {
        var lines = [style.bold("\(from.printable) → \(to.printable)") + style.dim("  \(way)")]
        for change in changes where change.isStage || isInferred && change.isHashed {
            lines.append("  \(change.mark(style)) \(change.sentence.printable)")
        }
        lines += policies.map { "  \(style.green("•")) The policy \($0.printable) makes the objects." }
        for step in steps {
            lines.append(
                "  \(style.green("▸")) \(step.name.printable)" + style.dim(" at \(step.version.printable)")
                    + ": \(step.sentence.printable)")
            if let undo = step.undo { lines.append("    " + style.dim(undo.printable)) }
        }
        lines.append("  " + style.dim(undo.printable))
        return lines
    }

    /// The sentences of what matters to a store: the changes that change a version hash, the stage, and the app's code.
    package var weightySentences: [String] {
        changes.filter { $0.isStage || $0.isHashed }.map(\.sentence) + steps.map(\.sentence)
    }

    /// The sentences of the other changes, such as that of a renaming identifier.
    package var lightSentences: [String] { changes.filter { !$0.isStage && !$0.isHashed }.map(\.sentence) }

    /// A word or two for the way in which the edge is made. A stage of a SwiftData plan has no other name than its
    /// versions.
    private var way: String {
        guard let stage else { return "inferred" }
        let name = stage == "\(from) to \(to)" ? "" : " \(stage.printable)"
        return isInferred ? "inferred, stage\(name)" : name.isEmpty ? "stage" : stage.printable
    }
}

extension StorePlan.Change {
    fileprivate func mark(_ style: TextStyle) -> String {
        switch risk {
        case .losesData: style.red("!")
        case .mayFail: style.yellow("?")
        case .none: style.green("•")
        }
    }
}
