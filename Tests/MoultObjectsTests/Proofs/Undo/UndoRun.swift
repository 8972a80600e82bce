import MoultModel
import TestSupport

@testable import MoultObjects

/// Random operations of which some are undone and redone, with saves in between: the context must hold what the reference
/// held then.
final class UndoRun {
    private static let kinds: Set<Operation.Kind> = [
        .insert, .setAttribute, .setToOne, .clearToOne, .add, .remove, .insertAt, .move, .setToMany, .delete, .save,
        .forget, .obtainPermanentIDs, .refresh, .refreshAll, .fetch, .fetchBySQL, .look,
    ]

    private let run: OperationRun
    private let operations: [Operation]
    private var registered: [ChangeStep] = []
    /// What the reference held before the first change of the present step.
    private var stepBefore: Reference?
    /// Steps with what the reference held before each.
    private var undoable: [(step: ChangeStep, before: Reference)] = []
    private var redoable: [(step: ChangeStep, before: Reference)] = []
    private(set) var undone = 0

    init(seed: UInt64, count: Int) throws {
        run = try OperationRun(seed: seed)
        operations = Operation.random(count, seed: seed).filter { Self.kinds.contains($0.kind) }
        try run.context.recordChanges { [unowned self] in registered.append($0) }
    }

    func start() throws {
        for (number, operation) in operations.enumerated() {
            do {
                try perform(operation)
                let dice = operation.numbers[4] % 12
                if dice == 0 { try undo(operation.number(3, below: 8)) }
                if dice == 1 { try redo(operation.number(3, below: 8)) }
                if dice == 2 {
                    try undo(2)
                    try run.save()
                    try redo(1)
                }
            } catch {
                throw OperationRun.Mismatch(
                    description: "operation \(number): \(error)\n" + run.log.suffix(40).joined(separator: "\n"))
            }
        }
        try undo(undoable.count)
        try run.save()
        try redo(redoable.count)
        try run.context.recordChanges(nil)
        try run.settleAll()
        try run.reopen()
        try run.checkFile()
    }

    /// Several operations may make one step.
    private func perform(_ operation: Operation) throws {
        let before = run.current
        stepBefore = stepBefore ?? before
        try run.perform(operation)
        // A save, and what reads anew, ends a step by itself.
        if !registered.isEmpty { try takeStep() }
        if operation.numbers[5] % 3 > 0 { try endStep() }
    }

    private func endStep() throws {
        guard let before = stepBefore else { return }
        try run.context.processPendingChanges()
        if !registered.isEmpty { return try takeStep() }
        guard run.current.differences(from: before).isEmpty else {
            throw OperationRun.Mismatch(description: "a change was not recorded")
        }
        stepBefore = nil
    }

    private func takeStep() throws {
        guard registered.count == 1, let step = registered.popLast(), let before = stepBefore else {
            throw OperationRun.Mismatch(description: "\(registered.count) steps where there is one")
        }
        undoable.append((step, before))
        redoable = []
        stepBefore = nil
    }

    private func undo(_ count: Int) throws {
        try endStep()
        for (step, before) in (0..<count).compactMap({ _ in undoable.popLast() }) {
            redoable.append(try takeBack(step, to: before, "undo"))
        }
    }

    private func redo(_ count: Int) throws {
        try endStep()
        for (step, before) in (0..<count).compactMap({ _ in redoable.popLast() }) {
            undoable.append(try takeBack(step, to: before, "redo"))
        }
    }

    private func takeBack(_ step: ChangeStep, to reference: Reference, _ verb: String) throws
        -> (ChangeStep, Reference)
    {
        let before = run.current
        run.note(verb)
        _ = try run.context.takeBack(step)
        undone += 1
        run.current = reference
        run.handles = run.handles.filter { reference.records[$0.key] != nil }
        try run.compare("after \(verb)")
        guard let reverse = registered.popLast(), registered.isEmpty else {
            throw OperationRun.Mismatch(description: "\(verb) registered no single step")
        }
        return (reverse, before)
    }
}
