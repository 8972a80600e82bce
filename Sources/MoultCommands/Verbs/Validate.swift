import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore

extension Verb {
    static let validate = Verb(
        "validate", "Read a whole store and report every fault in it.",
        discussion: """
            Pages, tables, entity numbers, references and their inverses, required values, uniqueness, external files.
            Exits with 0 where the store is sound, 1 with findings, 4 where it cannot be read.
            """,
        operands: [.store], options: [.model, full, .order],
        examples: ["moult validate forum.sqlite --model Forum.xcdatamodeld"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let versions = try invocation.versions(console)
        let hashes = try StoreProbe.read(store) { try StoreSnapshot($0.connection).hashes }
        guard let position = versions.position(matching: hashes) else {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: hashes))
        }
        let version = versions.versions[position]
        let audit = try StoreAudit(store, model: version.model, full: invocation[full])
        let counts = audit.rowCounts.sorted { $0.key.precedesInByteOrder($1.key) }
        console.print([
            "format": 1, "sound": .bool(audit.isSound), "version": .string(version.name),
            "entities": .array(counts.map { ["name": .string($0.key), "rows": .integer($0.value)] }),
            "findings": .array(audit.findings.map(\.document)),
        ]) { style in
            let total = Int(clamping: counts.reduce(0) { $0 + $1.value })
            let verdict = audit.isSound ? style.green("sound") : style.red("not sound")
            return audit.findings.flatMap { $0.lines(style: style) } + [
                "The store is \(verdict): version \(version.name.printable), \(Quantity.count(total, "object")) in "
                    + "\(Quantity.count(counts.count, "entity", plural: "entities"))."
            ]
        }
        return audit.isSound ? .done : .findings
    }

    private static let full = Option.flag("full", "Compare every index with its table too, which takes longer.")
}
