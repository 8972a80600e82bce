import MoultTools

extension Verb {
    static let schemaBump = Verb(
        "bump", "Propose the next semantic version of a model from what has changed.",
        discussion: """
            Compares the last two versions, or those that --from and --to name. A major change removes, renames or
            restricts something. A minor change only adds. A patch leaves the version hashes unchanged. The number of a
            version is its identifier (Core Data Model Identifier in Xcode), such as 1.2.0. If the identifier is not
            such a number, the name of the version is used. With --check, exits with 1 if the newer version has a number
            that is lower than the proposed one, or has none.
            """,
        operands: [.model], options: [from, to, lower, .answers, .order],
        examples: [
            "moult schema bump Forum.xcdatamodeld",
            "moult schema bump Forum.xcdatamodeld --from Forum --to \"Forum 2\"",
        ]
    ) { invocation, console in
        // Versions with equal hashes are a patch, and not one version.
        let proposal = try VersionProposal(
            invocation.operandBundle(console), from: invocation[value: from], to: invocation[value: to],
            answers: invocation.answers())
        console.print(proposal)
        return invocation[.check] && proposal.isTooLow ? .findings : .done
    }

    private static let lower = Option.checking(
        "the newer version has a number that is lower than the proposed one, or has none")
    private static let from = Option.value("from", "VERSION", "The older version; by default the last but one.")
    private static let to = Option.value("to", "VERSION", "The newer version; by default the last.")
}
