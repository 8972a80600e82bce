import Synchronization

/// Is told of the migration of a store when it begins and when it has ended, one way or the other.
///
/// Nothing is told of a store that is of the right version already. ``MigrationHistory`` keeps the same without anybody
/// asking for it.
public protocol MigrationLogging: Sendable {
    func logMigrationStart(from: String, to: String)
    /// - Parameter duration: measured, in seconds.
    func logMigrationSuccess(from: String, to: String, duration: TimeInterval)
    /// Told after the success of a migration that has lost something.
    func logMigrationLosses(from: String, to: String, losses: [MigrationLoss])
    /// The store is as it was.
    func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error)
}

extension MigrationLogging {
    /// Logs nothing.
    public func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {}
}

/// Prints the events of migrations on standard error, one line each.
public final class MigrationLogger: MigrationLogging {
    /// The one logger, also for code of a stage that reports its own steps.
    public static let shared = MigrationLogger()

    private init() {}

    private func log(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    /// Prints that a migration begins.
    public func logMigrationStart(from: String, to: String) { log("Migration \(from) → \(to) begins.") }

    /// Prints how long a migration took, in seconds.
    public func logMigrationSuccess(from: String, to: String, duration: TimeInterval) {
        log("Migration \(from) → \(to) succeeded in \(duration) s.")
    }

    /// Prints what a migration has lost, one line for each loss.
    public func logMigrationLosses(from: String, to: String, losses: [MigrationLoss]) {
        for loss in losses { log("Migration \(from) → \(to): \(loss.sentence)") }
    }

    /// Prints why a migration failed; the store is as it was.
    public func logMigrationFailure(from: String, to: String, duration: TimeInterval, error: any Error) {
        log("Migration \(from) → \(to) failed after \(duration) s: \(error)")
    }
}

/// Tells a logger what happens while a store is opened.
final class LoggedOpening: Sendable {
    private let logger: any MigrationLogging
    private let begun = Mutex<(from: String, to: String, at: ContinuousClock.Instant)?>(nil)

    init(_ logger: any MigrationLogging) { self.logger = logger }

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
                logger.logMigrationFailure(from: begun.from, to: begun.to, duration: begun.at.secondsAgo, error: error)
            }
            throw error
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var secondsAgo: TimeInterval { duration(to: .now) / .seconds(1) }
}
