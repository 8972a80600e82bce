import MoultBasics
import MoultModel
import MoultPlan

/// A check of a model by the selected rules.
package struct Lint: Sendable {
    package var profiles: Set<LintRule.Profile>
    /// The codes of rules to leave out.
    package var ignored: Set<String>
    /// The severities that replace those of the rules, by the code of the rule.
    package var severities: [String: Finding.Severity]
    /// The losses that the app has declared, which are not reported.
    package var acceptedLosses: AcceptedLosses
    /// The places at which rules do not apply.
    package var exceptions: [LintException]
    /// The codes of the rules that the project's configuration turns off.
    package var turnedOff: [String] = []
    /// Whether remedies name the path of the model, because there are several.
    package var namesModels = false
    /// The codes of the only rules to apply; nil for all.
    package var only: Set<String>?
    /// The use case that the findings are of.
    var use = Remedy.Use.lint
    /// The schema of CloudKit's Production environment; nil for none.
    package var schema: LintSchema?

    package init(
        profiles: Set<LintRule.Profile> = [], ignored: Set<String> = [], severities: [String: Finding.Severity] = [:],
        acceptedLosses: AcceptedLosses = .none, exceptions: [LintException] = []
    ) {
        (self.profiles, self.ignored) = (profiles, ignored)
        (self.severities, self.acceptedLosses, self.exceptions) = (severities, acceptedLosses, exceptions)
    }

    /// The rules that apply to every model.
    package var rules: [LintRule] { rules(profiles) }

    /// Returns the rules that apply to a model: those of the profile `cloudkit` also if the model says that its store is
    /// mirrored, or if it is the only one that a schema can be of.
    func rules(for subject: LintSubject) -> [LintRule] {
        let isMirrored = subject.isUsedWithCloudKit || subject.schema != nil && !namesModels
        return rules(isMirrored ? profiles.union([.cloudkit]) : profiles)
    }

    private func rules(_ profiles: Set<LintRule.Profile>) -> [LintRule] {
        LintRule.all.filter { rule in
            !ignored.contains(rule.code) && only?.contains(rule.code) != false
                && rule.profile.map(profiles.contains) ?? true
        }
    }

    /// Returns all findings, sorted by severity and then in the order of the rules. Those with an exception name it.
    ///
    /// - Parameter path: the path to name in a finding without a file.
    package func findings(in subject: LintSubject, path: String) -> [LintFinding] {
        var places = LintPlaces(subject.versions, path: path, declarations: subject.declarations)
        return findings(
            rules(for: subject).map { rule in
                let matches = matches(of: rule, in: subject).map { adding(subject.rowFindings, of: rule, to: $0) }
                guard subject.planFindings != nil else { return (rule, matches) }
                return (
                    rule,
                    matches.map { match in
                        var match = match
                        match.remedy = match.remedy.inCode
                        return match
                    }
                )
            }, &places, exceptedIn: LintExceptionPlaces(subject, path: path))
    }

    /// Returns the matches of a check in each open version.
    private func matches(
        _ check: (LintVersion) -> [LintMatch], in subject: LintSubject, asErrors: Bool
    ) -> [LintMatch] {
        subject.openVersions.reversed().flatMap { subject.released(check($0), of: $0.version, asErrors: asErrors) }
    }

    private func matches(of rule: LintRule, in subject: LintSubject) -> [LintMatch] {
        if let findings = subject.planFindings, PlanRules.judges(rule) {
            return PlanRules.matches(of: rule, in: findings)
        }
        switch rule.check {
        case .plan: return []
        case .model(let check): return check(subject)
        case .version(let check): return matches(check, in: subject, asErrors: rule.severity == .error)
        case .step(let check): return subject.edited(subject.openSteps.flatMap(check))
        case .release(let check): return matches(check, inReleasesOf: subject)
        case .schema(let check): return subject.schema.map { check($0, subject) } ?? []
        }
    }

    /// Returns the matches of a check against every release. What both the lock file and a revision show is one match,
    /// with the changes that the revision's model shows and the remedy of the lock file.
    private func matches(
        _ check: (LintRelease, LintSubject) -> [LintMatch], inReleasesOf subject: LintSubject
    ) -> [LintMatch] {
        var found: [LintMatch] = []
        for release in subject.releases {
            for match in check(release, subject) {
                guard let same = found.firstIndex(where: { $0.version == match.version && $0.subject == match.subject })
                else {
                    found.append(match)
                    continue
                }
                var joined = match
                joined.remedy = found[same].remedy
                found[same] = joined
            }
        }
        return found
    }

    /// Returns the match, with the findings of a plan about the rows at the same place.
    private func adding(_ findings: [Finding], of rule: LintRule, to match: LintMatch) -> LintMatch {
        let said = findings.filter { finding in
            guard finding.place == match.place, let other = finding.rule else { return false }
            return other == rule.code || rule.isOfLoss && LintRule.named(other)?.isOfLoss == true
        }
        var match = match
        for finding in said { match.message += " In the store: \(finding.message)" }
        return match
    }

    /// Whether a match is about a loss that the app has declared.
    private func isDeclared(_ match: LintMatch, _ rule: LintRule) -> Bool {
        guard rule.isOfLoss, let entity = match.entity else { return false }
        return acceptedLosses.contains(
            MigrationLoss(match.member == nil ? .rows : .values, .removed, entity: entity, property: match.member))
    }

    /// Returns findings for the broken references that make a model unreadable; empty if it is unreadable for another
    /// reason.
    package func brokenReferences(inModelAt path: String) -> [LintFinding] {
        guard let rule = rules.first(where: { $0.code == LintRule.brokenReference.code }) else { return [] }
        var places = LintPlaces([], path: path)
        return findings(
            [(rule, BrokenReferences.matches(inModelAt: path))], &places,
            exceptedIn: LintExceptionPlaces(ofModelAt: path))
    }

    private func findings(
        _ matches: [(rule: LintRule, matches: [LintMatch])], _ places: inout LintPlaces,
        exceptedIn scope: LintExceptionPlaces
    ) -> [LintFinding] {
        var seen: Set<[String]> = []
        var found: [LintFinding] = []
        let edits = Dictionary(
            grouping: matches.flatMap { rule, matches in
                matches.filter { $0.edit != nil && exceptions.first(for: $0, of: rule, in: scope) == nil }
            }, by: \.element
        ).mapValues { $0.compactMap(\.edit) }
        for (rule, matches) in matches {
            for match in matches {
                // The newest version represents older ones with the same finding.
                let key = [
                    rule.code, rule.isOfOneVersion ? "" : match.version, match.entity ?? "", match.member ?? "",
                    match.message,
                ]
                guard seen.insert(key).inserted, !isDeclared(match, rule) else { continue }
                var joined = match
                joined.severity = severities[rule.code] ?? match.severity
                if namesModels { joined.remedy = match.remedy.naming(places.path) }
                // Each start tag contains all corrections of its element, so that it does not matter which one is
                // pasted.
                joined.edit = match.edit?.joined(with: edits[match.element] ?? [])
                found.append(
                    places.finding(joined, of: rule, excepted: exceptions.first(for: match, of: rule, in: scope)))
            }
        }
        return found.enumerated().sorted { left, right in
            left.element.severity == right.element.severity
                ? left.offset < right.offset : left.element.severity > right.element.severity
        }.map(\.element)
    }
}

/// A match of a rule, before its place in a file is looked up.
struct LintMatch: Sendable {
    /// The name of the version; empty for the model as a whole.
    var version: String
    var entity: String?
    /// The name of the property, index or constraint.
    var member: String?
    var message: String
    var remedy: Remedy
    var edit: Edit?
    /// The severity, if it differs from the rule's.
    var severity: Finding.Severity?
    /// The released version that the match is about; empty for none.
    var subject = ""
    /// The file and line, if they are already known.
    var line: (file: String, line: Int)?
    /// The gap in a schema of CloudKit that the match is about; nil for other rules.
    var gap: CloudKitGap?

    /// The XML attributes to set on the element; nil removes one.
    struct Edit: Sendable {
        var attributes: [(name: String, value: String?)]
        /// A sentence about what only a person can decide, such as whether a property is new or renamed; nil if the
        /// edit is right in any case. Such an edit is shown, and never written; the start tags of other findings leave
        /// it out.
        var choice: String?

        init(_ attributes: (name: String, value: String?)..., choice: String? = nil) {
            (self.attributes, self.choice) = (attributes, choice)
        }

        /// Returns this edit, joined with those edits of the same element that do not contradict it.
        func joined(with others: [Edit]) -> Edit {
            var joined = self
            for change in others.filter({ $0.choice == nil }).flatMap(\.attributes)
            where !joined.attributes.contains(where: { $0.name == change.name }) {
                joined.attributes.append(change)
            }
            return joined
        }
    }

    init(
        _ version: String, _ entity: String? = nil, _ member: String? = nil, _ message: String, remedy: Remedy,
        edit: Edit? = nil
    ) {
        (self.version, self.entity, self.member) = (version, entity, member)
        (self.message, self.remedy, self.edit) = (message, remedy, edit)
    }

    /// The place in the form that findings of a plan use: `Entity.property`, `Entity`, or `Entity.a+b` for a
    /// constraint.
    var place: String { [entity, member?.replacing(", ", with: "+")].compactMap { $0 }.joined(separator: ".") }

    /// A key for the element of the match.
    var element: [String] { [version, entity ?? "", member ?? ""] }

    /// Splits `Entity.property` into its parts.
    static func parts(of place: String) -> (entity: String?, member: String?) {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first, parts.count > 1 ? parts[1] : nil)
    }
}

/// A finding of a rule with its place, ready to be printed.
package struct LintFinding: Sendable {
    package let rule: LintRule
    package let severity: Finding.Severity
    /// The name of the version; empty for the model as a whole.
    package let version: String
    package let entity: String?
    package let member: String?
    /// The path of the file; the path of the model if the place has none.
    package let file: String
    /// The line, from 1; nil for a file without lines, such as a compiled model.
    package let line: Int?
    package let message: String
    package let advice: Remedy
    /// The element with the correction, to paste; nil if there is none.
    package let xml: String?
    /// The correction of ``xml``; nil if there is none.
    let edit: LintMatch.Edit?
    /// The project's exception for this finding; nil if there is none.
    package let exception: LintException?
    /// The gap in a schema of CloudKit that the finding is about; nil for other rules.
    package let gap: CloudKitGap?

    /// The remedy, in the words of the current front end.
    package var remedy: String { advice.text() }

    /// The title of the rule, after the kind of the gap in a schema of CloudKit.
    var title: String { [gap?.code.rawValue, rule.title].compactMap(\.self).joined(separator: ": ") }

    /// The place of the finding: `Entity.property`, `Entity`, or the version.
    package var place: String {
        let parts = [entity, member].compactMap { $0 }
        return parts.isEmpty ? version : parts.joined(separator: ".")
    }

    /// An identifier of the finding, which is the same in a later run even if the line changes.
    package var fingerprint: String {
        // The message about a gap in a schema may name a commit.
        let facts = [rule.code, version, entity ?? "", member ?? "", gap?.message ?? message]
        return [UInt8](Digest.sha256(facts.joined(separator: "\u{0}").utf8).prefix(16)).hexadecimal
    }
}
