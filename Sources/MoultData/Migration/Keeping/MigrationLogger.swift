import Synchronization

/// Is told of the migration of a store when it begins and when it has ended, one way or the other.
///
/// Nothing is told of a store that is of the right version already. ``MigrationHistory`` keeps the same without anybody
/// asking for it.
public protocol MigrationLogger: Sendable {
    func logMigrationStart(from: String, to: String)
    /// - Parameter duration: measured, in seconds.
    func logMigrationSuccess(from: String, to: String, duration: TimeInterval)
    /// Told after the success of a migration that has lost something.
    func logMigrationLosses(from: String, to: String, losses: [MigrationLoss])
    /// The store is as it was.
    func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error)
}

extension MigrationLogger {
    /// Logs nothing.
    public func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {}
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

    /// - Parameter losses: what the last migration has lost; asked for after a migration.
    func run<Result>(losses: () -> [MigrationLoss], _ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            if let begun = begun.withLock({ $0 }) {
                logger.logMigrationSuccess(from: begun.from, to: begun.to, duration: begun.at.secondsAgo)
                let losses = losses()
                if !losses.isEmpty { logger.logMigrationLosses(from: begun.from, to: begun.to, losses: losses) }
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
