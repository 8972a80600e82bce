/// The part of a plan about work that can wait, where somebody asked for that.
package struct Deferral: Sendable, Hashable {
    /// The reasons why nothing can wait, so that all is done at once; empty where work can wait.
    package let reasons: [String]
    /// The tasks that wait, as far as they are known before the migration; their bytes are measured afterwards.
    package let tasks: [DeferredTask]
    /// Sentences about work that does not wait although it takes time with the size of the store.
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
