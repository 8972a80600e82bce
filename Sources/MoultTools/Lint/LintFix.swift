import Moult
import MoultBasics
import MoultEngine

/// The corrections that lint writes into a model's files, each tried out before it is written.
package struct LintFix: Sendable {
    /// A corrected start tag, with the findings that it repairs.
    struct Correction: Sendable {
        let findings: [LintFinding]
        /// The path of the file, and the line of the tag.
        let file: String
        let line: Int
        let old: String
        let new: String

        var first: LintFinding? { findings.first }
    }

    /// A finding whose correction was not made.
    struct LeftOut: Sendable {
        let finding: LintFinding
        /// The file and line, and the place in the model.
        let location: String
        let reason: String
    }

    let model: String
    let corrections: [Correction]
    /// The findings with a correction that was not made.
    let leftOut: [LeftOut]
    /// The old and the new contents of each file that changes.
    private let files: [(path: String, old: [UInt8], new: [UInt8])]

    /// Tries out the corrections, and writes nothing.
    init(_ target: LintTarget) throws {
        model = target.bundle.path
        var trial = LintTrial(target)
        try trial.correct()
        (corrections, leftOut) = (trial.corrections, trial.leftOut)
        files = trial.files
    }

    var changesFiles: Bool { !files.isEmpty }

    /// Writes the corrected files.
    ///
    /// - Throws: `fileNotReadable` if a file has changed meanwhile; any error from writing.
    func write() throws {
        let system = POSIXSystem()
        for (path, old, _) in files where try system.read(path) != old {
            throw MigrationError(
                .fileNotReadable, "The file has changed meanwhile. Nothing was written.", place: path,
                remedy: "Run the command again.")
        }
        for (path, _, new) in files { try StagedPath.replace([(path, new)], .like(path), system) }
    }

    // MARK: Output

    var document: JSONValue {
        [
            "model": .string(model),
            "corrected": .array(
                corrections.map { correction in
                    [
                        "rules": JSONValue(correction.findings.map(\.rule.code)),
                        "version": .string(correction.first?.version ?? ""),
                        "entity": JSONValue(correction.first?.entity),
                        "property": JSONValue(correction.first?.member), "file": .string(correction.file),
                        "line": JSONValue(correction.line), "old": .string(correction.old),
                        "new": .string(correction.new),
                    ]
                }),
            "notCorrected": .array(
                leftOut.map { left in
                    [
                        "rule": .string(left.finding.rule.code), "version": .string(left.finding.version),
                        "place": .string(left.finding.place), "reason": .string(left.reason),
                    ]
                }),
        ]
    }

    func lines(style: TextStyle, isPreview: Bool) -> [String] {
        let made = corrections.flatMap { correction -> [String] in
            let codes = correction.findings.map(\.rule.code).joined(separator: ", ")
            let title = isPreview ? "would correct" : "corrected"
            let place = "\(correction.file):\(correction.line): \(correction.first?.place ?? "")"
            return [
                "\(style.green(title)) [\(codes)]", "  " + style.dim("at: \(place.printable)"),
                "  " + style.red("- \(correction.old.printable)"), "  " + style.green("+ \(correction.new.printable)"),
                "",
            ]
        }
        let others = leftOut.map(\.reason).unique().flatMap { reason -> [String] in
            let left = leftOut.filter { $0.reason == reason }
            let places = left.prefix(10).map { "  [\($0.finding.rule.code)] " + style.dim($0.location.printable) }
            let more = left.count > 10 ? ["  and \(left.count - 10) more"] : []
            return ["\(style.yellow("not corrected")): \(reason.printable)"] + places + more + [""]
        }
        return made + others
    }
}
