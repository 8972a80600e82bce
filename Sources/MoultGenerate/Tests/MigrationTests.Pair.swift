import MoultModel
import MoultPlan

extension MigrationTests.Pair {
    /// Creates the pair of a version and a later one, with what the way between them keeps.
    ///
    /// - Throws: `question` or `cannotInfer` if the way is not known.
    package init(
        _ versions: ModelVersions, from: Int, to: Int, answers: Answers = .none, registered: [RegisteredStage] = []
    ) throws(MigrationError) {
        let path = try MigrationPath(versions, from: from, to: to, answers: answers, registered: registered)
        let carried = try CarriedData(along: path)
        self.from = versions.versions[from].name
        self.to = versions.versions[to].name
        places = carried.entities.map { [$0.place] + $0.propertyPlaces }
        code = carried.code
    }
}

extension CarriedData.Entity {
    fileprivate var place: String { old == new ? old : "\(old) as \(new)" }

    fileprivate var propertyPlaces: [String] {
        properties.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, former in
            let (before, after) = ("\(old).\(former)", "\(new).\(name)")
            return before == after ? before : "\(before) as \(after)"
        }
    }
}
