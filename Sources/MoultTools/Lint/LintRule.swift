import MoultBasics
import MoultPlan

/// A lint rule: its meaning and effect, its remedy, and the function that finds matches.
///
/// All rules are in one table, ``all``. The findings, the help in SARIF, the documentation and the tests come from it.
package struct LintRule: Sendable {
    /// A category of rules, by what breaks if a finding is ignored.
    package enum Category: String, Sendable, CaseIterable {
        case open = "OPEN"
        case infer = "INFER"
        case data = "DATA"
        case sync = "SYNC"
        case code = "CODE"
        case shape = "SHAPE"
    }

    /// A set of rules that applies only to apps that ask for it.
    package enum Profile: String, Sendable, CaseIterable {
        case cloudkit
        case `extension`
    }

    /// The stable code, such as `OPEN001`.
    package let code: String
    package let severity: Finding.Severity
    /// The profile of the rule; nil for a rule that applies to every app.
    package let profile: Profile?
    /// A noun phrase, such as "Released version edited".
    package let title: String
    /// An explanation of what the rule finds and why it matters.
    package let meaning: String
    /// The effect that a user of the app would see.
    package let onDevice: String
    /// The general remedy; each finding has a specific one.
    package let remedy: String
    package let failing: LintExample
    package let corrected: LintExample
    let check: Check
    /// The kinds of gaps in a schema of CloudKit that the rule reports; empty for other rules.
    let gaps: [CloudKitGap.Code]

    /// A check, by the part of a model that it examines.
    enum Check: Sendable {
        /// All versions of a model.
        case model(@Sendable (LintSubject) -> [LintMatch])
        /// A single version.
        case version(@Sendable (LintVersion) -> [LintMatch])
        /// A version and the next one.
        case step(@Sendable (LintStep) -> [LintMatch])
        /// The model, compared with a release.
        case release(@Sendable (LintRelease, LintSubject) -> [LintMatch])
        /// The model, compared with the schema in CloudKit's Production environment.
        case schema(@Sendable (LintSchema, LintSubject) -> [LintMatch])
        /// A finding that the plan of an app's own tool reports itself.
        case plan
    }

    init(
        _ code: String, _ severity: Finding.Severity, _ title: String, profile: Profile? = nil, meaning: String,
        onDevice: String, remedy: String, failing: LintExample, corrected: LintExample, check: Check,
        gaps: [CloudKitGap.Code] = []
    ) {
        (self.code, self.severity, self.title, self.profile) = (code, severity, title, profile)
        (self.meaning, self.onDevice, self.remedy) = (meaning, onDevice, remedy)
        (self.failing, self.corrected, self.check, self.gaps) = (failing, corrected, check, gaps)
    }

    package var category: Category { Category.allCases.first { code.hasPrefix($0.rawValue) } ?? .shape }

    /// Whether the rule's findings are losses, which an app can declare.
    var isOfLoss: Bool { ["DATA001", "DATA002", "DATA003", "DATA004", "DATA005", "DATA012"].contains(code) }

    /// Every rule, in the order of the categories and codes.
    package static let all: [LintRule] = open + infer + data + sync + deployed + code + shape

    /// Returns the rule with a code, ignoring case.
    package static func named(_ code: String) -> LintRule? { all.first { $0.code == code.uppercased() } }
}

/// A small model for the documentation of a rule: versions as XML, and the released versions.
package struct LintExample: Sendable {
    package struct Version: Sendable, Equatable {
        package let name: String
        /// The XML between `<model>` and `</model>`; nil for a folder without contents.
        package let xml: String?

        package init(_ name: String, _ xml: String?) {
            self.name = name
            self.xml = xml
        }

        /// The whole file.
        package var contents: String? { xml.map { "<model>\n\($0)\n</model>\n" } }
    }

    package let versions: [Version]
    /// The name of the current version; nil for the last one.
    package let current: String?
    /// The versions at the time of the release; empty if the rule does not compare.
    package let released: [Version]
    /// The name of the current version at the release; nil for the last one.
    package let releasedCurrent: String?
    /// Whether the bundle names its current version, if it has several.
    package let isMarked: Bool
    /// The recorded answers to questions about the versions.
    package private(set) var answers: [Answer] = []
    /// The source of a SwiftData plan, for a rule about plans; nil for a rule about models.
    package let swift: String?
    /// The schema in CloudKit's Production environment; nil if the rule does not compare with one.
    package private(set) var schema: String?

    package init(
        _ versions: [Version], current: String? = nil, released: [Version] = [], releasedCurrent: String? = nil,
        isMarked: Bool = true
    ) {
        (self.versions, self.current, self.isMarked) = (versions, current, isMarked)
        (self.released, self.releasedCurrent) = (released, releasedCurrent)
        swift = nil
    }

    /// Creates an example from a part of a SwiftData plan.
    package init(swift: String) {
        (versions, released) = ([], [])
        (current, releasedCurrent, isMarked) = (nil, nil, true)
        self.swift = swift
    }

    /// Creates an example with one version.
    package init(_ xml: String) { self.init([Version("App", xml)]) }

    /// Creates an example with one version and the schema in CloudKit's Production environment.
    package init(_ xml: String, schema: String) {
        self.init(xml)
        self.schema = schema
    }

    /// Creates an example with a version and the next one.
    package init(from older: String, to newer: String, answers: [Answer] = []) {
        self.init([Version("App", older), Version("App 2", newer)])
        self.answers = answers
    }
}

// Entities of the examples.
extension LintRule {
    static func post(_ property: String) -> String { "<entity name=\"Post\">\n    \(property)\n</entity>" }
    static let title = post("<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>")
    static let user = "<entity name=\"User\"/>\n"
}

extension LintRule {
    /// Whether the rule looks at each version by itself.
    var isOfOneVersion: Bool { if case .version = check { true } else { false } }
    /// Whether the rule compares with releases.
    var isOfReleases: Bool { if case .release = check { true } else { false } }
    /// Whether the rule compares with a schema of CloudKit.
    var isOfSchema: Bool { if case .schema = check { true } else { false } }
}
