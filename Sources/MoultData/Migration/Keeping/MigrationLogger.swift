import Synchronization

/// Is told of the migration of a store when it begins and when it has ended, one way or the other.
///
/// Nothing is told of a store that is of the right version already. ``MigrationHistory`` keeps the same without anybody
/// asking for it.
public protocol MigrationLogger: Sendable {
    func logMigrationStart(from: String, to: String)
    /// - Parameter duration: measured, in seconds.
    func logMigrationSuccess(from: String, to: String, duration: TimeInterval)
    /// The store is as it was.
    func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error)
}

/// Tells a logger what happens while a store is opened.
final class LoggedOpening: Sendable {
    private let logger: any MigrationLogger
    private let begun = Mutex<(from: String, to: String, at: ContinuousClock.Instant)?>(nil)

    init(_ logger: any MigrationLogger) { self.logger = logger }

    func begin(from: String, to: String) {
        begun.withLock { $0 = (from, to, .now) }
        logger.logMigrationStart(from: from, to: to)
    }

    func run<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            if let begun = begun.withLock({ $0 }) {
                logger.logMigrationSuccess(from: begun.from, to: begun.to, duration: begun.at.secondsAgo)
            }
            return result
        } catch {
            if let begun = begun.withLock({ $0 }) {
                logger.logMigrationFailure(
                    from: begun.from, to: begun.to, duration: begun.at.secondsAgo, error: error)
            }
            throw error
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var secondsAgo: TimeInterval { duration(to: .now) / .seconds(1) }
}
