import MoultModel
import Synchronization

/// The files that this process has open as stores.
///
/// A probe opens and closes a store's files, at which this process would lose the locks that its connections to the
/// same store have: so what is open here is never probed.
final class OpenStores: Sendable {
    static let shared = OpenStores()

    private let counts = Mutex<[String: Int]>([:])

    func contains(_ path: String) -> Bool { counts.withLock { $0[path] != nil } }

    /// One store's entry; gone with it.
    final class Entry: Sendable {
        private let path: String

        init(_ path: String) {
            self.path = path
            OpenStores.shared.counts.withLock { $0[path, default: 0] += 1 }
        }

        deinit {
            OpenStores.shared.counts.withLock { counts in
                guard let count = counts[path] else { return }
                counts[path] = count > 1 ? count - 1 : nil
            }
        }
    }
}
