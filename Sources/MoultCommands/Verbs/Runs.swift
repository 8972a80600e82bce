import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let runs = Verb(
        "runs", "List the runs on a store, oldest first: versions, result, backup and losses.",
        discussion: """
            A run is one execution of a verb that changes the store, such as migrate, rollback or repair. Exits with 1 if a
            record of the history cannot be read.
            """,
        operands: [.store],
        examples: ["moult runs forum.sqlite", "moult runs forum.sqlite --json"]
    ) { invocation, console in
        let listing = try invocation.keeper().runs()
        console.print(listing.document) { listing.lines(style: $0) }
        return listing.unreadable == nil ? .done : .findings
    }
}
