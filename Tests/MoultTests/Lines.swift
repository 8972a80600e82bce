import Moult
import Synchronization

/// Keeps the lines of a log.
final class Lines: Sendable {
    private let lines = Mutex<[LogLine]>([])

    var all: [LogLine] { lines.withLock { $0 } }
    func add(_ line: LogLine) { lines.withLock { $0.append(line) } }
}
