import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultStore

extension Verb {
    static let status = Verb(
        "status", "Show which version a store is of, and how far it is behind.",
        discussion: """
            Exits with 0 if the store is current or behind (1 if behind with --check), 3 if it is ahead or of no known
            version, and 4 if it is not a Core Data store. Without --model, the store is compared with the model inside
            it, which shows whether the two agree.
            """,
        operands: [.store], options: [.model, .target, .check, .order],
        examples: [
            "moult status forum.sqlite --model Forum.xcdatamodeld",
            "moult status forum.sqlite --model Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let versions = try invocation.versionsOnTheWay(console)
        let report = try statusReport(of: store, versions, target: invocation[value: .target])
        console.print(report.document) { report.lines(style: $0).map(console.advised) }
        switch report.status {
        case .current: return .done
        case .behind: return invocation[.check] ? .findings : .done
        case .ahead, .unknown: return .refused
        case .notCoreData: return .unusable
        }
    }

    private static func statusReport(of store: String, _ versions: ModelVersions, target: String?) throws
        -> StatusReport
    {
        do {
            let (snapshot, recognition) = try StoreProbe.read(store) { probe in
                let snapshot = try StoreSnapshot(probe.connection)
                return (snapshot, try StoreRecognition(of: snapshot, in: versions, target: target))
            }
            let underWay = try Migrator().underWay(store)
            let isUnfinished = try underWay == nil && Migrator().isUnfinished(store)
            // Of a store that is of no version, or has another tool's work, the mark is all there is to say.
            let tasks = (try? Migrator().deferredTasks(of: store, versions: versions)) ?? []
            return try StatusReport(
                recognition, of: snapshot, in: versions, target: target, isRunUnfinished: isUnfinished,
                underWay: underWay,
                deferredTasks: tasks,
                leftOutside: try Migrator().leftOutside(store), paused: try Migrator().paused(store))
        } catch let error as MigrationError {
            guard let status = VersionStatus(error) else { throw error }
            return try StatusReport(status, in: versions, target: target)
        }
    }
}
