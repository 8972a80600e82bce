/// What a plan says of work that can wait, where somebody asked for that.
package struct Deferral: Sendable, Hashable {
    /// Why nothing can wait, so that all is done at once; empty where it can.
    package let reasons: [String]
    /// What waits, as far as it is known before the migration; its bytes are measured afterwards.
    package let tasks: [DeferredTask]
    /// What does not wait although it takes time with the size of the store, in sentences.
    package let notes: [String]

    package var isPossible: Bool { reasons.isEmpty }

    /// - Parameter reasons: at least one.
    package init(impossible reasons: [String]) {
        self.reasons = reasons
        (tasks, notes) = ([], [])
    }

    /// - Parameter bytes: of the store.
    init(_ lowering: DeferredLowering, bytes: Int64) {
        reasons = lowering.obstacles + (lowering.slowness(bytes: bytes).map { [$0] } ?? [])
        tasks = reasons.isEmpty ? lowering.tasks : []
        notes = lowering.notes
    }
}
