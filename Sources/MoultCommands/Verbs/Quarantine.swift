import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    static let quarantine = Verb(
        "quarantine", "List the objects that runs moved out of a store, show one, or put them back.",
        discussion: """
            Migration policies, fixes of rules and repairs move objects that cannot stay in the store to the quarantine,
            a database next to the store. Fixes and repairs that would move more than a quarter of an entity's objects,
            and more than twelve, are refused unless you give --allow-large-quarantine.
            """,
        subverbs: [listQuarantine, showQuarantine, restoreQuarantine])

    private static let listQuarantine = Verb(
        "list", "List the objects in the quarantine, oldest first.", operands: [.store], options: [limit],
        examples: ["moult quarantine list forum.sqlite"]
    ) { invocation, console in
        let quarantine = try invocation.migrator.quarantine(of: try invocation.required(Operand.store))
        let most = try invocation.number(limit) ?? 1_000
        var count = 0
        var documents: [JSONValue] = []
        var table = TextTable([
            .right("id"), .left("time"), .left("entity"), .right("key"), .left("by"), .left("reason"),
        ])
        try quarantine.forEachEntry { entry in
            count += 1
            if count > most { return }
            if console.isJSON {
                // The whole objects would not fit: quarantine show has them.
                documents.append(entry.summary)
            } else {
                table.add(
                    "\(entry.id)", entry.time, entry.object.entity, "\(entry.object.key)", entry.object.origin,
                    entry.object.reason)
            }
        }
        console.print(["format": 1, "count": JSONValue(count), "quarantined": .array(documents)]) { style in
            let more = count > most ? ["… and \(Quantity.count(count - most)) more: see --limit."] : []
            return count == 0 ? ["The quarantine is empty."] : table.lines(style: style) + more
        }
        return .done
    }

    private static let limit = Option.value("limit", "N", "The maximum number to list; default 1000.")
    private static let number = Operand(
        "ID", "The number that quarantine list shows; by default the newest object.", isOptional: true,
        completes: .nothing)

    private static let showQuarantine = Verb(
        "show", "Show one object with all its values.", operands: [.store, number],
        examples: ["moult quarantine show forum.sqlite"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let quarantine = try invocation.migrator.quarantine(of: store)
        guard let entry = try entry(of: quarantine, invocation[number], store) else {
            console.print(["format": 1, "id": nil]) { _ in ["The quarantine is empty."] }
            return .done
        }
        let document = try entry.document
        let lines = try entry.lines(style: console.output.style)
        console.print(.object([.init("format", 1)] + (document.members ?? []))) { _ in lines }
        return .done
    }

    private static func entry(of quarantine: Quarantine, _ number: String?, _ store: String) throws
        -> Quarantine.Entry?
    {
        guard let number else { return try quarantine.newest() }
        if let id = Int64(number), let entry = try quarantine.entry(id) { return entry }
        throw MigrationError(
            .usage, "The quarantine has no object \(number).", place: store,
            remedy: "moult quarantine list shows the numbers.")
    }
}

extension Quarantine.Entry {
    fileprivate var summary: JSONValue {
        [
            "id": .integer(id), "run": .string(run), "time": .string(time), "entity": .string(object.entity),
            "pk": .integer(object.key), "reason": .string(object.reason), "by": .string(object.origin),
        ]
    }
}
