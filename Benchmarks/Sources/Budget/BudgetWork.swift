import MoultBasics
import MoultEngine
import MoultModel

/// One run, or one call with a budget, in a process of its own; prints one line of JSON.
enum BudgetWork {
    static func run(_ kind: String, _ store: String, _ budget: Double?) throws {
        let begun = Clock.now
        guard let kind = BudgetKind(rawValue: kind) else {
            throw MigrationError(.usage, "There is no kind \(kind).", remedy: "See BudgetKind.")
        }
        let prepared = try kind.prepared(store, continuesEarlierCall: budget != nil)
        guard let budget else {
            let longest = prepared.longestUnit
            var fields = [JSONValue.Member("longest", .double(longest?.seconds ?? 0))]
            fields.append(.init("sentence", .string(longest?.sentence ?? "")))
            // With the columns in the order that calls with a budget leave, so that the two stores can be compared.
            guard let migration = try prepared.choosing(.normalised).migration() else { return }
            let outcome = try Migrator().run(migration, on: store)
            fields.append(.init("seconds", .double(Clock.now - begun)))
            fields += outcome.seconds.map { .init($0.phase.rawValue, .double($0.seconds)) }
            return show(fields)
        }
        do {
            switch try Migrator().run(prepared, within: .seconds(budget), since: begun.nanoseconds) {
            case .paused(let pause): show("paused", since: begun, pause.next)
            case .nothingToDo: show("finished", since: begun)
            case .finished(let outcome, _):
                show(
                    "finished", since: begun, "", outcome.seconds.map { .init($0.phase.rawValue, .double($0.seconds)) })
            }
        } catch let error as MigrationError where error.code == .budgetTooSmall {
            show("refused", since: begun, error.message)
        }
    }

    private static func show(
        _ result: String, since begun: Double, _ next: String = "", _ phases: [JSONValue.Member] = []
    ) {
        show(
            [
                .init("seconds", .double(Clock.now - begun)), .init("result", .string(result)),
                .init("next", .string(next)),
            ] + phases)
    }

    private static func show(_ fields: [JSONValue.Member]) {
        print(JSONValue.object(fields + [.init("peak", .integer(ChildWork.peakMemory))]).compact)
    }
}

extension Double {
    /// Seconds of the clock that only goes forward, as it counts.
    fileprivate var nanoseconds: UInt64 { UInt64(Swift.max(0, self * 1e9)) }
}
