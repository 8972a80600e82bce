import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The steps that have run, to be undone in reverse order when anything after them fails.
///
/// The store itself needs no undo, because it has not been changed. Effects of steps outside it do.
final class StepUndoLog {
    private struct Entry {
        let step: Pass.Step
        let path: String
        let external: ExternalStorage
    }

    private var entries: [Entry] = []
    private let store: String
    private let system: any System

    init(store: String, system: any System) {
        self.store = store
        self.system = system
    }

    func begin(_ step: Pass.Step, on copy: WorkingCopy) {
        entries.append(
            Entry(
                step: step, path: copy.path,
                external: ExternalStorage(ofWorkingCopy: copy.path, of: store)))
    }

    /// Whether a copy must stay because a step on it may have to be undone.
    func needs(_ path: String) -> Bool { entries.contains { $0.path == path && $0.step.action.canBeUndone } }

    /// Returns the error for a failed step, with the step's name. Returns a cancellation unchanged; a lack of space
    /// keeps its code.
    func failure(of step: Pass.Step, _ error: any Error) -> any Error {
        let known = error as? MigrationError
        let own: [MigrationError.Code] = [
            .cancelled, .rulesBroken, .quarantineTooLarge, .lossNotAccepted, .verificationFailed,
        ]
        if let known, own.contains(known.code) { return error }
        return MigrationError(
            known?.code == .insufficientStorage ? .insufficientStorage : .stageFailed,
            "The \(step.title) failed: \(known?.message ?? "It threw \(type(of: error)).")",
            place: known.flatMap { $0.place.isEmpty ? nil : $0.place } ?? step.name,
            remedy: known?.advice ?? "Correct this and run the migration again. The store is unchanged.",
            cause: known.map { "\($0.code)\($0.cause.map { ": \($0)" } ?? "")" } ?? "\(error)")
    }

    /// Undoes every step that has begun, last first, once all working copies are closed.
    ///
    /// - Returns: the outcome for each step; empty if no step has an undo.
    func undo(log: (String) -> Void = { _ in }) -> [Outcome] {
        let begun = entries.reversed()
        entries = []
        return begun.compactMap { entry in
            guard entry.step.action.canBeUndone else { return nil }
            let outcome = Outcome(step: entry.step.name, error: Result { try undo(entry) }.failure)
            log(outcome.sentence)
            return outcome
        }
    }

    struct Outcome {
        let step: String
        let error: (any Error)?

        var sentence: String {
            guard let error else { return "The step \(step) was undone." }
            return
                "The undo of \(step) failed: \((error as? MigrationError)?.message ?? "It threw \(type(of: error)).")"
        }
    }

    private func undo(_ entry: Entry) throws {
        let connection = try Connection(entry.path, mode: .readWrite)
        defer { connection.close() }
        // The old store of a pass may be gone by now.
        try entry.step.action.undo(
            CodeContext(
                connection: connection, source: entry.path, external: entry.external, system: system,
                report: { _, _ in }, isCancelled: { false }))
    }
}

extension StepUndoLog {
    /// Returns the error that a run ends with: the cause, and the result of every undo.
    func undoing(after error: any Error, log: (String) -> Void = { _ in }) -> any Error {
        let outcomes = undo(log: log)
        guard !outcomes.isEmpty else { return error }
        var told =
            error as? MigrationError
            ?? MigrationError(
                .stageFailed, "The run failed: it threw \(type(of: error)).", place: store,
                remedy: "The store is unchanged.", cause: "\(error)")
        told.message += outcomes.map { " \($0.sentence)" }.joined()
        // The app's own error may contain a row's value: put it in the error, but do not record it.
        let causes = outcomes.compactMap { outcome in
            outcome.error.flatMap { $0 is MigrationError ? nil : "The undo of \(outcome.step): \($0)" }
        }
        if !causes.isEmpty { told.cause = ([told.cause].compactMap(\.self) + causes).joined(separator: " ") }
        let failed = outcomes.filter { $0.error != nil }.map(\.step)
        if !failed.isEmpty {
            told.advice += " Undo by hand what \(failed.joined(separator: " and ")) did outside the store."
        }
        return told
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
