import Foundation

/// Counts from any thread.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0
    var value: Int { lock.withLock { number } }
    func count() { lock.withLock { number += 1 } }
}
