import Moult
import MoultModel
import MoultReport
import Synchronization

/// Work on the store that takes a while: it goes on when the browser leaves.
final class Job: Sendable {
    /// The name of the work, such as `Rehearsal`.
    let title: String
    private let state = Mutex(State())
    private let work = Mutex<Task<Void, Never>?>(nil)
    private let stop = Mutex<(@Sendable () -> Void)?>(nil)

    struct State: Sendable {
        var fraction: Double?
        /// A description of what is being done.
        var words = "Starting"
        /// The result of the work, or the reason why it failed; nil while it runs.
        var outcome: HTML?
        var hasFailed = false
        /// Whether a disk has failed, possibly in the commit.
        var isUncertain = false
    }

    /// A run with progress.
    init<Report: Sendable>(
        _ title: String, _ task: StoreTask<Report>, outcome: @escaping @Sendable (Report) -> HTML
    ) {
        self.title = title
        stop.withLock { $0 = { task.cancel() } }
        begin { [self] in
            for await progress in task.progress {
                state.withLock { state in
                    state.fraction = progress.fraction
                    state.words = progress.words
                }
            }
            return outcome(try await task.report)
        }
    }

    /// Reading without progress.
    init(_ title: String, _ body: @escaping @Sendable () async throws -> HTML) {
        self.title = title
        begin(body)
    }

    private func begin(_ body: @escaping @Sendable () async throws -> HTML) {
        let task = Task { [self] in
            do {
                let outcome = try await body()
                state.withLock { $0.outcome = outcome }
            } catch {
                let words = errorWords(error)
                let isUncertain = (error as? MigrationError)?.code == .inputOutput
                state.withLock { ($0.outcome, $0.hasFailed, $0.isUncertain) = (words, true, isUncertain) }
            }
        }
        work.withLock { $0 = task }
    }

    var now: State { state.withLock { $0 } }
    var isRunning: Bool { now.outcome == nil }
    var canBeCancelled: Bool { stop.withLock { $0 != nil } }

    func cancel() { stop.withLock { $0 }?() }

    func end() async { await work.withLock { $0 }?.value }

    /// The progress of the work as JSON, which the page's script asks for again and again.
    var document: JSONValue {
        let now = now
        return [
            "fraction": now.fraction.map { .double($0) } ?? .null, "words": .string(now.words.printable),
            "isRunning": .bool(now.outcome == nil),
        ]
    }
}

extension RunProgress {
    fileprivate var words: String {
        var words = [message ?? phase.words]
        if totalRows > 0 { words.append("\(Quantity.count(rows)) of \(Quantity.count(totalRows, "row"))") }
        if let timeLeft, timeLeft > .zero { words.append("about \(Quantity.duration(timeLeft / .seconds(1))) left") }
        return words.joined(separator: " · ")
    }
}

extension RunProgress.Phase {
    fileprivate var words: String {
        switch self {
        case .lock: "Waiting for the store"
        case .backup: "Making the backup"
        case .copy: "Making the working copy"
        case .change: "Changing"
        case .verify: "Comparing the new store with the old one"
        case .commit: "Putting the new store in place"
        case .done: "Done"
        }
    }
}
