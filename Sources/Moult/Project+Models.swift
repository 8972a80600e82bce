import MoultModel
import MoultPlan
import MoultReport

extension Project {
    /// Says what changed between two versions.
    ///
    /// - Parameters:
    ///   - from: the name of the older version.
    ///   - to: the name of the newer version.
    /// - Throws: `noPath` for a version that does not exist; `usage` if a recorded answer fits no question.
    public func difference(from: String, to: String) throws -> ModelDifference {
        let (older, newer) = (try version(named: from), try version(named: to))
        return ModelDifference(try DiffReport(from: older, to: newer, answers: answers))
    }

    private func version(named name: String) throws -> ModelVersion {
        versions.versions[try versions.target(named: name)].named(name)
    }
}

/// The changes between two versions.
public struct ModelDifference: Sendable, CustomStringConvertible {
    private let report: DiffReport

    init(_ report: DiffReport) { self.report = report }

    /// The name of the older version.
    public var from: String { report.names.from }
    /// The name of the newer version.
    public var to: String { report.names.to }
    /// Changes that change the version hash, so that a store has to be migrated; one sentence each.
    public var changes: [String] { report.hashed }
    /// Changes that Core Data does not notice; one sentence each.
    public var unnoticedChanges: [String] { report.unhashed }
    /// Whether the mapping can be inferred.
    public var isInferable: Bool { report.isInferable }
    /// The text that `moult diff` prints.
    public var description: String { report.lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult diff --json` prints, on one line.
    public var json: String { report.document.compact }
}
