import Synchronization

/// A receiver of the start and the end of a store's migration.
///
/// A store that already has the right version is not reported. ``MigrationHistory`` keeps the same record for every
/// store.
public protocol MigrationLogging: Sendable {
    func logMigrationStart(from: String, to: String)
    /// - Parameter duration: the measured time in seconds.
    func logMigrationSuccess(from: String, to: String, duration: TimeInterval)
    /// Called after a successful migration that has lost data.
    func logMigrationLosses(from: String, to: String, losses: [MigrationLoss])
    /// Called after a failed migration. The store is unchanged.
    func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error)
}

extension MigrationLogging {
    /// Logs nothing.
    public func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {}
}

/// A logger that prints the events of migrations on standard error, one line each.
public final class MigrationLogger: MigrationLogging {
    /// The shared logger, which the code of a stage can use to report its own steps.
    public static let shared = MigrationLogger()

    private init() {}

    private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    /// Prints that a migration has started.
    public func logMigrationStart(from: String, to: String) { log("Migration \(from) → \(to) begins.") }

    /// Prints how long a migration took, in seconds.
    public func logMigrationSuccess(from: String, to: String, duration: TimeInterval) {
        log("Migration \(from) → \(to) succeeded in \(duration) s.")
    }

    /// Prints the losses of a migration, one line each.
    public func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {
        for loss in losses { log("Migration \(from) → \(to): \(loss.sentence)") }
    }

    /// Prints why a migration failed. The store is unchanged.
    public func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error) {
        log("Migration \(from) → \(to) failed after \(duration) s: \(error)")
    }
}

/// Reports the opening of a store to a logger.
final class LoggedOpening: Sendable {
    private let logger: any MigrationLogging
    private let begun = Mutex<(from: String, to: String, at: ContinuousClock.Instant)?>(nil)

    init(_ logger: any MigrationLogging) { self.logger = logger }

    func begin(from: String, to: String) {
        begun.withLock { $0 = (from, to, .now) }
        logger.logMigrationStart(from: from, to: to)
    }

    /// - Parameter losses: returns the losses of the last migration; called only after a migration.
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
                logger.logMigrationFailure(from: begun.from, to: begun.to, duration: begun.at.secondsAgo, error: error)
            }
            throw error
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var secondsAgo: TimeInterval { duration(to: .now) / .seconds(1) }
}
