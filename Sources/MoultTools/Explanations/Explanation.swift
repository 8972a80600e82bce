import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan

/// The explanation of a code that Moult prints: a rule of lint, an error or a finding.
///
/// All explanations come from tables: those of the rules, which also make the pages of the rules, and those of errors
/// and findings. A code without an entry fails a test.
package struct Explanation: Sendable {
    /// A list of codes that belong together.
    package struct Group: Sendable, Hashable {
        /// One word, such as `OPEN` or `doctor`.
        package let name: String
        /// A sentence about what the codes have in common.
        package let title: String
    }

    package let code: String
    package let group: Group
    /// A few words for a rule; for other codes the first sentence of the meaning.
    package let title: String
    package let meaning: String
    /// The reason why it matters.
    package let why: String
    package let remedy: Remedy
    /// The exit status of the command line, for an error.
    package var exitCode: Int32?
    /// Core Data's own name and number, for an error that has one.
    package var coreData: (constant: String, number: Int)?
    /// The rule with its severity, profile and examples, for a rule.
    package var rule: LintRule?
    /// The code of the rule of lint that reports the same from the models alone, for a finding.
    package var ruleCode: String?

    init(_ code: String, _ group: Group, _ meaning: String, _ why: String, _ remedy: Remedy, title: String? = nil) {
        (self.code, self.group, self.meaning, self.why) = (code, group, meaning, why)
        self.remedy = remedy
        self.title = title ?? meaning.firstSentence
        ruleCode =
            LintRule.named(code) == nil
            ? Finding.ruleCode(code) ?? LintRule.all.first { $0.gaps.map(\.rawValue).contains(code) }?.code : nil
    }

    private init(_ rule: LintRule) {
        self.init(
            rule.code, Group(name: rule.category.rawValue, title: rule.category.sentence), rule.meaning, rule.onDevice,
            Remedy(rule.remedy), title: rule.title)
        self.rule = rule
    }

    /// Every explanation, in the order of the list.
    package static let all: [Explanation] = {
        let own = storeFindings + planFindings + modelFindings + schemaGaps
        let known = Set(own.map(\.code))
        return LintRule.all.map(Explanation.init) + errors + own
            + (Finding.codesOfRules + ModelChange.Kind.allCases.map(\.rawValue)).unique().filter { !known.contains($0) }
            .map(Explanation.init(ofChange:))
    }()

    /// The groups, in the order of the list.
    package static var groups: [Group] { all.map(\.group).unique() }

    /// Returns the explanations that a word stands for: a code, Core Data's name or number of an error, or a group.
    /// Letter case does not matter.
    package static func named(_ word: String) -> [Explanation] {
        let word = word.lowercased()
        let exact = all.filter { $0.code.lowercased() == word }
        if !exact.isEmpty { return exact }
        return all.filter {
            $0.coreData.map { "\($0.number)" == word || $0.constant.lowercased() == word } ?? false
                || $0.group.name.lowercased() == word
        }
    }

    /// Creates the explanation of a change between two versions, which plans, `diff` and `lint` report.
    private init(ofChange code: String) {
        let kind = ModelChange.Kind(rawValue: code)
        let rule = Finding.ruleCode(code).flatMap(LintRule.named)
        let sentence = kind.map { "\($0.explained) between two versions." }
        self.init(
            code, kind == nil ? .plan : .change, [sentence, rule?.meaning].compactMap(\.self).joined(separator: " "),
            rule?.onDevice
                ?? "The list of changes says whether the version hash changes, so that Core Data migrates for it.",
            rule.map { Remedy($0.remedy) }
                ?? "\(.difference) shows the place, and \(.lint, .anyModel) what the change breaks.",
            title: sentence ?? rule?.title)
    }
}

extension Explanation.Group {
    static let doctor = Self(name: "doctor", title: "What doctor finds around a store, and in its runs.")
    static let store = Self(name: "store", title: "What validate, doctor and inspect find in a store.")
    static let plan = Self(name: "plan", title: "What plan, migrate and doctor report before a migration.")
    static let change = Self(name: "change", title: "What changed between two versions.")
    static let model = Self(name: "model", title: "What is noticed when a model or its lock file is read.")
    static let mapping = Self(name: "mapping", title: "What is noticed in a mapping model.")
    static let swiftData = Self(name: "swiftdata", title: "What is wrong with a SwiftData plan or its models.")
}

extension Finding {
    /// Returns the code of the rule of lint that reports the same as a finding with this code; nil if there is none.
    fileprivate static func ruleCode(_ code: String) -> String? {
        Finding(code: code, severity: .note, place: "", message: "").rule
    }

    /// The codes of findings for which a rule of lint has the explanation.
    fileprivate static var codesOfRules: [String] { LintRule.all.flatMap { codes(ofRule: $0.code) } }
}

extension ModelChange.Kind {
    /// The change in words, without an end.
    fileprivate var explained: String {
        let subject = "aeio".contains(noun.first ?? "-") ? "An \(noun)" : "A \(noun)"
        for end in ["added", "removed", "renamed"] where rawValue.hasSuffix("-\(end)") { return "\(subject) is \(end)" }
        if rawValue.hasSuffix("-moved") { return "\(subject) moves to another entity" }
        if self == .entityLeft { return "An entity leaves a configuration" }
        return "The \(noun) changes"
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

extension String {
    /// The text up to its first full stop that ends a sentence.
    fileprivate var firstSentence: String { firstRange(of: ". ").map { self[..<$0.lowerBound] + "." } ?? self }
}
