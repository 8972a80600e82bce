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
            let more =
                others == 0
                ? ""
                : " There \(others == 1 ? "is" : "are") \(Quantity.count(others, "other fault"))."
            throw MigrationError(
                .unsupported, "\(fault.message)\(more)", place: fault.origin?.description ?? fault.name,
                remedy: fault.remedy)
        }
        self.version = version.name
        merged = path
        guard let path else {
            doubts = Self.doubts(requirements, keeping: CloudKitSchema())
            uncertain = doubts.map(\.text)
            (text, gaps, impossible) = (Self.mark(doubts) + CloudKitSchemaFile(requirements.schema).text, [], [])
            return
        }
        var file = try CloudKitSchemaFile(contentsOf: path)
        gaps = requirements.gaps(in: file.schema).filter(\.isImpossible)
        impossible = gaps.map(\.message)
        doubts = Self.doubts(requirements, keeping: file.schema)
        uncertain = doubts.map(\.text)
        file.schema = requirements.adding(to: file.schema)
        text = Self.mark(doubts) + file.text
    }

    /// Returns the doubts about what is added to a schema: those about fields that it has are settled.
    private static func doubts(
        _ requirements: CloudKitRequirements, keeping known: CloudKitSchema
    ) -> [CloudKitRequirements.Doubt] {
        let open = requirements.schema.typesInOrder.flatMap { type in
            requirements.fieldsOfUnknownEncryption(in: type)
                .filter { known.types[type.name]?.fields[$0] == nil }.map { "\(type.name).\($0)" }
        }
        let shown = Array(open.prefix(3)) + (open.count > 3 ? ["\(open.count - 3) more"] : [])
        let encryption =
            open.isEmpty
            ? []
            : [
                CloudKitRequirements.Doubt(
                    place: "",
                    sentence: "\(CloudKitGap.encryptionUnknown) Not encrypted here: "
                        + "\(shown.listed()). A deployed field keeps its encryption for ever, so use the source of the "
                        + "model.")
            ]
        let others = requirements.unknowns.filter { $0.code != .encryptionUnknown }.map {
            CloudKitRequirements.Doubt(place: "", sentence: "\($0.claim) \($0.remedy.text())")
        }
        return encryption + others
            + requirements.doubts.filter { doubt in
                let parts = doubt.place.split(separator: ".", maxSplits: 1).map(String.init)
                return parts.count < 2 || known.types[parts[0]]?.fields[parts[1]] == nil
            }
    }

    /// Returns the first line of a text whose encryption is not known; the server forgets comments.
    private static func mark(_ doubts: [CloudKitRequirements.Doubt]) -> String {
        doubts.filter(\.place.isEmpty).map { "// Uncertain: \($0.sentence)\n" }.joined()
    }

    /// The text of the schema.
    public var description: String { text }
    /// The JSON that `moult cloudkit schema --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        [
            "format": 1, "version": .string(version), "merged": JSONValue(merged), "schema": .string(text),
            "uncertain": .array(
                doubts.map { ["field": $0.place.isEmpty ? .null : .string($0.place), "message": .string($0.sentence)] }),
            "findings": .array(gaps.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The lines about gaps and doubts, for which the text has no place.
    package var notes: [String] {
        gaps.map { "\($0.message) \($0.remedy.text())" } + uncertain.map { "Uncertain: \($0)" }
    }
}

extension CloudKitRequirements.Doubt {
    /// The place and the sentence.
    fileprivate var text: String { place.isEmpty ? sentence : "\(place): \(sentence)" }
}

extension CloudKitGap {
    /// The gap as JSON.
    fileprivate var document: JSONValue {
        [
            "code": .string(code.rawValue), "field": .string(name), "message": .string(message),
            "remedy": .string(remedy.text()),
        ]
    }
}
