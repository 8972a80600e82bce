import Moult
import MoultBasics
import MoultModel
import MoultPlan

/// The CloudKit schema that the mirroring of a model needs, as the framework initialises it.
public struct CloudKitSchemaReport: Sendable, CustomStringConvertible, ToolAnswer {
    /// The name of the version.
    public let version: String
    /// The text of the schema, in the order and the columns of an export (`.ckdb`).
    public let text: String
    /// The parts of the schema that no known export confirms; one sentence each.
    public let uncertain: [String]
    /// The fields that the model needs with another type than Production has; one sentence each. The text keeps
    /// Production's.
    public let impossible: [String]
    /// The path of the schema that was kept; nil for none.
    public let merged: String?

    private let doubts: [CloudKitRequirements.Doubt]
    private let gaps: [CloudKitGap]

    /// - Parameters:
    ///   - configuration: the configuration that is mirrored; nil for the one that the model marks.
    ///   - isShared: whether the app shares records.
    ///   - path: the schema of Production, of which everything is kept; nil for none.
    /// - Throws: `usage` for a configuration that the model does not have; `unsupported` for a model that no schema can
    ///   hold; any error from reading the schema.
    package init(
        _ version: ModelVersion, configuration: String? = nil, isShared: Bool = false, merging path: String? = nil
    ) throws {
        let requirements = try CloudKitRequirements(
            version.model, configuration: configuration, isShared: isShared)
        if let fault = requirements.faults.first {
            let others = requirements.faults.count - 1
            let more = others == 0 ? "" : " \(Quantity.count(others, "other fault")) of this kind."
            throw MigrationError(
                .unsupported, "\(fault.message)\(more)", place: fault.origin?.description ?? fault.name,
                remedy: fault.remedy)
        }
        self.version = version.name
        merged = path
        doubts = requirements.doubts
        uncertain = doubts.map { "\($0.place): \($0.sentence)" }
        guard let path else {
            (text, gaps, impossible) = (CloudKitSchemaFile(requirements.schema).text, [], [])
            return
        }
        var file = try CloudKitSchemaFile(contentsOf: path)
        gaps = requirements.gaps(in: file.schema).filter(\.isImpossible)
        impossible = gaps.map(\.message)
        file.schema = file.schema.adding(requirements.schema)
        text = file.text
    }

    /// The text of the schema.
    public var description: String { text }
    /// The JSON that `moult cloudkit schema --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        [
            "format": 1, "version": .string(version), "merged": JSONValue(merged), "schema": .string(text),
            "uncertain": .array(doubts.map { ["field": .string($0.place), "message": .string($0.sentence)] }),
            "findings": .array(gaps.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The lines about gaps and doubts, for which the text has no place.
    package var notes: [String] {
        gaps.map { "\($0.message) \($0.remedy)" } + uncertain.map { "Uncertain: \($0)" }
    }
}

extension CloudKitGap {
    /// The gap as JSON.
    fileprivate var document: JSONValue {
        [
            "code": .string(code.rawValue), "field": .string(name), "message": .string(message),
            "remedy": .string(remedy),
        ]
    }
}
