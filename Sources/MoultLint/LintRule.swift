import MoultModel

/// One rule: what it finds, who is affected, what to do, and the function that finds it.
///
/// The rules are one table, ``all``. The findings, the help in SARIF, the documentation and the tests come from it.
package struct LintRule: Sendable {
    /// A category of rules, by who or what breaks if a finding is ignored.
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

    /// Stable, such as `OPEN001`.
    package let code: String
    package let severity: Finding.Severity
    /// Nil for a rule that applies to every app.
    package let profile: Profile?
    /// A noun phrase, such as "Released version edited".
    package let title: String
    /// An explanation of what the rule finds and why it matters.
    package let meaning: String
    /// The effect that a user of the app would see.
    package let onDevice: String
    /// The action to take, in general; each finding says it for its own place.
    package let remedy: String
    package let failing: LintExample
    package let corrected: LintExample
    let check: Check

    /// A check, by the part of a model that it looks at.
    enum Check: Sendable {
        /// The versions of a model as a list.
        case model(@Sendable (LintSubject) -> [LintMatch])
        /// One version, by itself.
        case version(@Sendable (LintVersion) -> [LintMatch])
        /// A version and the next one.
        case step(@Sendable (LintStep) -> [LintMatch])
        /// The model, compared with what was released.
        case release(@Sendable (LintRelease, LintSubject) -> [LintMatch])
        /// The plan of an app's own tool, which has found it already.
        case plan
    }

    init(
        _ code: String, _ severity: Finding.Severity, _ title: String, profile: Profile? = nil, meaning: String,
        onDevice: String, remedy: String, failing: LintExample, corrected: LintExample, check: Check
    ) {
        self.code = code
        self.severity = severity
        self.title = title
        self.profile = profile
        self.meaning = meaning
        self.onDevice = onDevice
        self.remedy = remedy
        self.failing = failing
        self.corrected = corrected
        self.check = check
    }

    package var category: Category {
        Category.allCases.first { code.hasPrefix($0.rawValue) } ?? .shape
    }

    /// Whether its findings are losses, which an app can declare.
    var isOfLoss: Bool { ["DATA001", "DATA002", "DATA003", "DATA004", "DATA005", "DATA012"].contains(code) }

    /// The page of the rule, relative to the folder of the documentation.
    package var page: String { "Lint/\(code).md" }
}

extension LintRule {
    /// Every rule, in the order of the categories and codes.
    package static let all: [LintRule] = open + infer + data + sync + code + shape

    /// The rule of that code, in any case of letters.
    package static func named(_ code: String) -> LintRule? {
        all.first { $0.code == code.uppercased() }
    }
}

extension LintRule.Category {
    /// A sentence that says who or what breaks.
    package var sentence: String {
        switch self {
        case .open: "A store of a released version may no longer open."
        case .infer: "Moult does not infer the migration between two versions."
        case .data: "A migration may lose values or rows, or may be refused because of them."
        case .sync: "Another device, process or app version that shares the data may fail."
        case .code: "Swift source that uses the model may no longer compile or run."
        case .shape: "The model itself is wrong, or is likely to cause trouble."
        }
    }
}
