import MoultLint
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultSystem

/// The differences between two versions, and between the archives of two compiled models.
package struct DifferenceReport: ToolAnswer {
    private let diff: DiffReport
    private let archives: ArchiveComparison?

    /// - Parameter files: the paths of the two models; unless both are compiled, only the versions are compared.
    /// - Throws: `usage` if a recorded answer fits no question; what reading the files throws.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers, files: (older: String, newer: String)?
    ) throws {
        diff = try DiffReport(from: older, to: newer, answers: answers)
        let system = POSIXSystem()
        if let files, files.older.hasSuffix(".mom"), files.newer.hasSuffix(".mom"), try system.exists(files.older),
            try system.exists(files.newer)
        {
            archives = try ArchiveComparison(try system.read(files.older), try system.read(files.newer))
        } else {
            archives = nil
        }
    }

    package var isEmpty: Bool { diff.isEmpty && archives?.differences.isEmpty != false }

    package var document: JSONValue {
        guard let archives, case .object(let members) = diff.document else { return diff.document }
        return .object(members + [.init("archives", archives.document)])
    }

    package func lines(style: TextStyle) -> [String] {
        diff.lines(style: style) + (archives.map { [""] + $0.lines } ?? [])
    }
}

extension ModelBundle {
    /// The model that `REV:PATH` names, and the revision as it is typed; nil for another text, such as the path of a file.
    ///
    /// - Throws: `usage` if there is no git, no repository or no such revision; `modelNotFound` if the commit has no such
    ///   model.
    package static func ofRevision(_ text: String) throws -> (bundle: ModelBundle, revision: String)? {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, try !POSIXSystem().exists(text) else { return nil }
        return (try GitRevision(exactly: parts[0], around: ".").model(at: parts[1]), parts[0])
    }
}

extension ArchiveComparison {
    fileprivate var document: JSONValue {
        [
            "equal": .bool(differences.isEmpty),
            "differences": .array(
                differences.map {
                    ["place": .string($0.place), "old": JSONValue($0.old), "new": JSONValue($0.new)]
                }),
        ]
    }

    fileprivate var lines: [String] {
        guard !differences.isEmpty else { return ["Object for object, the compiled models are equal."] }
        return ["Object for object, the compiled models differ in \(Quantity.count(differences.count, "value")):"]
            + differences.map { "  \($0.place.printable): \(Self.shown($0.old)) → \(Self.shown($0.new))" }
    }

    private static func shown(_ value: String?) -> String {
        guard let value else { return "none" }
        let text = value.printable
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}
