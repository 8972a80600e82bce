import Moult
import MoultModel
import MoultReport
import MoultTools

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
        let listing = try invocation.keeper().quarantine(limit: try invocation.number(limit) ?? 1_000)
        console.print(listing.document) { listing.lines(style: $0) }
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
        guard let entry = try entry(invocation[number], invocation.keeper()) else {
            console.print(["format": 1, "id": nil]) { _ in ["The quarantine is empty."] }
            return .done
        }
        let document = try entry.document
        let lines = try entry.lines(style: console.output.style)
        console.print(.object([.init("format", 1)] + (document.members ?? []))) { _ in lines }
        return .done
    }

    private static func entry(_ number: String?, _ keeper: StoreKeeper) throws -> QuarantinedObject? {
        guard let number else { return try keeper.quarantined() }
        if let id = Int64(number), let entry = try keeper.quarantined(id) { return entry }
        throw MigrationError(
            .usage, "The quarantine has no object \(number).", place: keeper.store,
            remedy: "\(.listQuarantine) shows the numbers.")
    }
}
