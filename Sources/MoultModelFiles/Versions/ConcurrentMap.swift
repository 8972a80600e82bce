import Dispatch
import Synchronization

extension Array where Element: Sendable {
    /// The results of `transform` in the order of the elements, computed on all cores; the first error in that order.
    func concurrentMap<Result: Sendable>(_ transform: @Sendable (Element) throws -> Result) throws -> [Result] {
        let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: count) { position in
            let result = Swift.Result { try transform(self[position]) }
            results.withLock { $0[position] = result }
        }
        let done = results.withLock { $0 }
        return try indices.compactMap { try done[$0]?.get() }
    }
}
