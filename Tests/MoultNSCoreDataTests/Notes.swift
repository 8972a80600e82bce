import MoultNSCoreData
import Synchronization
import TestSupport

/// The notifications of one name and sender while it lives.
final class Notes: @unchecked Sendable {
    private let kept = Mutex<[Notification]>([])
    private var observer: (any NSObjectProtocol)?

    init(_ name: Notification.Name, of sender: AnyObject?) {
        observer = NotificationCenter.default.addObserver(forName: name, object: sender, queue: nil) {
            [weak self] note in
            let box = Box(note: note)
            self?.kept.withLock { $0.append(box.note) }
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    var list: [Notification] {
        let all = kept.withLock { Box(notes: $0) }
        return all.notes
    }

    private struct Box: @unchecked Sendable {
        var note = Notification(name: Notification.Name(""))
        var notes: [Notification] = []
    }
}

extension SQLiteShell {
    static func rows(_ sql: String, of url: URL) throws -> [String] {
        try run(url.path, sql).split(separator: "\n").map(String.init)
    }
}
