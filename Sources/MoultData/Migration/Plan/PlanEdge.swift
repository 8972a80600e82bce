import MoultModel
import MoultPlan

/// The part of a plan between two neighbouring versions.
struct PlanEdge {
    /// The position of the older version.
    let older: Int
    /// The numbers of the stages in the plan, from 1, for messages.
    var stages: [(number: Int, stage: MigrationStage)] = []

    var isLightweight: Bool { stages.allSatisfy { if case .lightweight = $0.stage { true } else { false } } }

    var transforms: [ModelTransform] {
        stages.compactMap { if case .transform(let transform) = $0.stage { transform } else { nil } }
    }

    /// The code before and after the change.
    var code: (will: ((ModelContext) throws -> Void)?, did: ((ModelContext) throws -> Void)?) {
        for case (_, .custom(_, _, let will, let did)) in stages { return (will, did) }
        return (nil, nil)
    }

    var isCustom: Bool { stages.contains { if case .custom = $0.stage { true } else { false } } }
}
