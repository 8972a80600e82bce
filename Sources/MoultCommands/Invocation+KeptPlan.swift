import MoultReport
import MoultSystem

extension Invocation {
    /// The plan that `--plan` names, if it was given.
    func keptPlan() throws -> KeptPlan? {
        try self[value: .plan].map { try KeptPlan(json: try POSIXSystem().read($0), place: $0) }
    }
}
