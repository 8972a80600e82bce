import MoultModel
import MoultPlan

extension ResolvedPlan {
    /// The models that an app works with must be those of one of the versions, otherwise its stores are of none.
    mutating func checkDrift(of schema: Schema) {
        guard versions.count == schemas.count, let newest = versions.last,
            let current = try? schema.modelVersion(),
            !versions.contains(where: { $0.hashes.isCompatible(with: current.hashes) })
        else { return }
        var differences: [String] = []
        if let correspondence = try? Correspondence(from: newest, to: current) {
            differences = ModelDiff(correspondence).changes.map(\.sentence)
        }
        report(
            "models-drifted", newest.name,
            "The container's models match no version. Changed since \(newest.name), the newest: "
                + "\(differences.joined(separator: " "))",
            "Leave released versions as they are, and add one of these models to the plan.")
    }
}
