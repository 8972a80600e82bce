import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

/// From which store to which a mirror goes at present, and by what mapping.
struct MirrorRoute: Sendable {
    /// The path of the store that apps write to.
    let primary: String
    /// The path of the store that follows.
    let replica: String
    let from: ModelVersion
    let to: ModelVersion
    /// The one mapping of the way; nil if it takes more than that.
    let mapping: ResolvedMapping?
    /// The reason why only the whole store can be followed and not single objects, in a sentence; nil if they can.
    let obstacle: String?
    /// Whether what the mapping does not fill stays as it is: on the way back.
    let keepsUnfilled: Bool

    /// The way from the first store to the second.
    ///
    /// - Throws: `unsupported` where a version lacks the configuration that the stores hold.
    init(_ plan: MigrationPlan, hasRules: Bool, store: String, second: String, as part: StorePart) throws {
        (primary, replica) = (store, second)
        (from, to) = (try plan.from.restricted(to: part), try plan.to.restricted(to: part))
        keepsUnfilled = false
        guard let pass = plan.passes.first, plan.passes.count == 1, case .mapping(let mapping) = pass.work else {
            self.mapping = nil
            obstacle = "The migration takes \(plan.passes.count) passes."
            return
        }
        self.mapping = mapping.restricted(from: from.model, to: to.model)
        obstacle =
            if let step = pass.steps.first {
                "The step \(step.name) may change any object."
            } else if hasRules {
                "The rules of this program may change any object."
            } else {
                nil
            }
    }

    /// The way back.
    init(_ reversal: MirrorReversal, of forward: MirrorRoute) {
        (primary, replica) = (forward.replica, forward.primary)
        (from, to) = (forward.to, forward.from)
        mapping = reversal.mapping
        obstacle = nil
        keepsUnfilled = true
    }
}
