import MoultReport
import MoultTools

extension Verb {
    static let status = Verb(
        "status", "Show which version a store is of, and how far it is behind.",
        discussion: """
            Exits with 0 if the store is current or behind (1 if behind with --check), 3 if it is ahead or of no known
            version, and 4 if it is not a Core Data store. Without --model, the store is compared with the model inside
            it, which shows whether the two agree.
            """,
        operands: [.store], options: [.model, compared, .checking("the store is behind"), .order],
        examples: [
            "moult status forum.sqlite --model Forum.xcdatamodeld",
            "moult status forum.sqlite --model Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsOnTheWay(console) }
        let report = try keeper.status(aimingAt: invocation[value: .target])
        console.print(report.document) { report.lines(style: $0) }
        switch report.state {
        case .current: return .done
        case .behind: return invocation[.check] ? .findings : .done
        case .ahead, .unknown: return .refused
        case .notCoreData: return .unusable
        }
    }

    private static let compared = Option.value(
        Option.target.name, "VERSION",
        "The version to compare the store with; by default the model's current version, or the newest if none is "
            + "marked as current.")
}
