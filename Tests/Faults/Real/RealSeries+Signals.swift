import Foundation
import MoultBasics
import MoultModel
import MoultTesting

/// Processes that are killed, that are stopped, and that meet each other.
extension RealSeries {
    /// The lock of the dead one holds nobody up: the trial goes on with the next run.
    func kill(after delay: Double) throws -> RecoveryCheck.Outcome {
        let worker = try Worker(ground)
        sleep(delay)
        let wasAlive = worker.isRunning
        worker.kill()
        let outcome = try RecoveryCheck(ground).outcome(of: .died)
        if case .kept = outcome, !wasAlive { return .untouched }
        return outcome
    }

    /// While it is stopped, another run is refused with its number, or had nobody to wait for; when it goes on, one of
    /// the two has done the work.
    func stop(after delay: Double) throws -> RecoveryCheck.Outcome {
        let worker = try Worker(ground)
        sleep(delay)
        Foundation.kill(worker.identifier, SIGSTOP)
        defer { if worker.isRunning { Foundation.kill(worker.identifier, SIGCONT) } }
        guard worker.isRunning else { return .untouched }
        let other = Result { try ground.faultCase.run(ground.store, POSIXSystem()) }
        let left = try ground.state()
        switch other {
        case .success:
            if left.rows != ground.states.last?.rows {
                throw Broken(words: "the other run succeeded without a new store")
            }
        case .failure(let error as MigrationError) where error.code == .locked:
            guard error.message.contains("\(worker.identifier)") else {
                throw Broken(words: "the stopped process \(worker.identifier) is not named: \(error)")
            }
            if !ground.states.contains(where: { $0.rows == left.rows }) {
                throw Broken(words: "beside a stopped process the store is neither old nor new")
            }
        case .failure(let error): throw Broken(words: "beside a stopped process: \(error)")
        }
        Foundation.kill(worker.identifier, SIGCONT)
        let ending = try worker.end()
        // One that had planned before the other's work ends with a refusal, over the new store.
        if case .failed(let error as Worker.Failure) = ending, error.isRefusal, case .success = other {
            return try RecoveryCheck(ground).outcome(of: .died)
        }
        return try RecoveryCheck(ground).outcome(of: ending)
    }

    /// Of three processes at once any does it; the others are refused or have nothing to do.
    func together() throws -> RecoveryCheck.Outcome {
        let workers = try (0..<3).map { _ in try Worker(ground) }
        var hasOne = false
        for worker in workers {
            switch try worker.end() {
            case .succeeded: hasOne = true
            case .failed(let error as Worker.Failure) where error.isRefusal: break
            case .failed(let error): throw Broken(words: "one of three ends with \(error)")
            case .died: throw Broken(words: "one of three dies")
            }
        }
        return try RecoveryCheck(ground).outcome(of: hasOne ? .succeeded : .died)
    }
}
