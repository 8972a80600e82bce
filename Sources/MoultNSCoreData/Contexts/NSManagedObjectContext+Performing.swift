import Dispatch
import MoultCoreData

extension NSManagedObjectContext {
    /// When a block runs.
    public enum ScheduledTaskType: Sendable {
        case immediate
        case enqueued
    }

    /// Runs a block in the context's turn, later and on another thread.
    public func perform(_ block: @escaping () -> Void) {
        let block = UncheckedBlock(run: block)
        base.perform { [self] in run(block.run) }
    }

    /// Runs a block in the context's turn, on this thread, and returns when it is done.
    public func performAndWait<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try base.performAndWait { () throws(Failure) -> Result in try run(block) }
    }

    /// Runs a block in the context's turn, off the caller's thread.
    public func perform<Result, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let block = UncheckedBlock { () -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try block())
            } catch {
                return .failure(error)
            }
        }
        let done = await withCheckedContinuation { continuation in
            base.perform { [self] in
                continuation.resume(returning: UncheckedBlock { [result = run(block.run)] in result })
            }
        }
        return try done.run().get()
    }

    /// The context whose block is running.
    @TaskLocal static var current: NSManagedObjectContext?

    /// Runs a block, and announces its changes at its end, as at the end of an event.
    private func run<Result, Failure: Error>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        turns += 1
        defer { turns -= 1 }
        let result = try Self.$current.withValue(self) { () -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try block())
            } catch {
                return .failure(error)
            }
        }.get()
        if hasChanges { processPendingChanges() }
        if turns == 1 { base.endUndoEvent() }
        return result
    }
}

/// A block that goes to the context's thread, as Core Data lets any.
private struct UncheckedBlock<Result>: @unchecked Sendable {
    let run: () -> Result
}
