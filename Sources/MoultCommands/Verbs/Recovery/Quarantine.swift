import Moult
import MoultBasics

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
        return console.print(listing.document) { listing.lines(style: $0) }
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
            return console.print(["format": 1, "id": nil]) { _ in ["The quarantine is empty."] }
        }
        let document = try entry.document
        let lines = try entry.lines(style: console.output.style)
        return console.print(.object([.init("format", 1)] + (document.members ?? []))) { _ in lines }
    }

    private static func entry(_ number: String?, _ keeper: StoreKeeper) throws -> QuarantinedObject? {
        guard let number else { return try keeper.quarantined() }
        if let id = Int64(number), let entry = try keeper.quarantined(id) { return entry }
        throw MigrationError(
            .usage, "The quarantine has no object \(number).", place: keeper.store,
            remedy: "\(.listQuarantine) shows the numbers.")
    }

    static let restoreQuarantine = Verb(
        "restore", "Put objects from the quarantine back into their store.",
        discussion: """
            An object is put back if it fits the version that the store has now: with its key if that is free, and with
            its links if their destinations exist and belong to no other object. What does not fit stays in the
            quarantine, and the reason is printed. A restore works as a migration does: backed up, changed on a copy,
            verified, then committed. --dry-run does all of this on a copy that is not kept. Exits with 1 if an object
            had to stay.
            """,
        operands: [.store, entryNumber], options: [.model, everything, run, .dryRun, .backups, .order],
        examples: [
            "moult quarantine restore forum.sqlite --all --model Forum.xcdatamodeld --dry-run",
            "moult quarantine restore forum.sqlite --all --model Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let objects = try invocation.objectsToRestore()
        let keeper = try invocation.keeper { try invocation.versions(console) }
        let report = try ProgressDisplay.during(console) {
            try keeper.restore(quarantined: objects, isRehearsal: invocation[.dryRun], $0)
        }
        console.print(report.document) { report.lines(style: $0) }
        return report.refused.isEmpty ? .done : .findings
    }

    fileprivate static let entryNumber = Operand(
        "ID", "The number that quarantine list shows.", isOptional: true, completes: .nothing)
    fileprivate static let everything = Option.flag("all", "Put back every object that fits.")
    fileprivate static let run = Option.value(
        "run", "RUN", "Put back the objects that this run moved to the quarantine.")
}

extension Invocation {
    fileprivate func objectsToRestore() throws -> QuarantineSelection {
        let (number, run) = (self[Verb.entryNumber], self[value: Verb.run])
        let ways = [number != nil, self[Verb.everything], run != nil].count { $0 }
        guard ways == 1 else { throw wrong("Name what to put back: a number, --run RUN, or --all.") }
        if let run { return .run(run) }
        guard let number else { return .all }
        guard let id = Int64(number) else { throw wrong("\(number) is not a number in the quarantine.") }
        return .objects([id])
    }
}
