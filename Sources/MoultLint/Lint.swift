import MoultModel

/// The rules that are asked for, applied to a model.
package struct Lint: Sendable {
    package var profiles: Set<LintRule.Profile>
    /// Codes of rules to leave out.
    package var ignored: Set<String>
    /// By the code of a rule, in place of its own severity.
    package var severities: [String: Finding.Severity]
    /// The losses that the app has declared: no finding.
    package var acceptedLosses: AcceptedLosses

    package init(
        profiles: Set<LintRule.Profile> = [], ignored: Set<String> = [], severities: [String: Finding.Severity] = [:],
        acceptedLosses: AcceptedLosses = .none
    ) {
        self.profiles = profiles
        self.ignored = ignored
        self.severities = severities
        self.acceptedLosses = acceptedLosses
    }

    /// The rules that apply.
    package var rules: [LintRule] {
        LintRule.all.filter { rule in
            !ignored.contains(rule.code) && rule.profile.map(profiles.contains) ?? true
        }
    }

    /// Every finding, by severity, then in the order of the rules.
    ///
    /// - Parameter path: what a finding about no file names.
    package func findings(in subject: LintSubject, path: String) -> [LintFinding] {
        var places = LintPlaces(subject.versions, path: path, declarations: subject.declarations)
        return findings(
            rules.map { rule in
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
            }, &places)
    }

    /// Returns the matches of a check in each open version by itself. A released version stays as it is, so that its
    /// correction belongs in the next one.
    private func matches(_ check: (LintVersion) -> [LintMatch], in subject: LintSubject) -> [LintMatch] {
        subject.openVersions.reversed().flatMap { version in
            let matches = check(version)
            guard subject.isReleased(version.version) else { return matches }
            return matches.map { match in
                var match = match
                match.remedy = "\(version.name) is released, so add a new version and correct it there. \(match.remedy)"
                match.edit = nil
                return match
            }
        }
    }

    private func matches(of rule: LintRule, in subject: LintSubject) -> [LintMatch] {
        if let findings = subject.planFindings, PlanRules.judges(rule) {
            return PlanRules.matches(of: rule, in: findings)
        }
        switch rule.check {
        case .plan: return []
        case .model(let check): return check(subject)
        case .version(let check): return matches(check, in: subject)
        case .step(let check): return subject.openSteps.flatMap(check)
        case .release(let check): return subject.releases.flatMap { check($0, subject) }
        }
    }

    /// The match with what a plan says of the rows at its place.
    private func adding(_ findings: [Finding], of rule: LintRule, to match: LintMatch) -> LintMatch {
        let said = findings.filter { finding in
            guard finding.place == match.place, let other = finding.rule else { return false }
            return other == rule.code || rule.isOfLoss && LintRule.named(other)?.isOfLoss == true
        }
        var match = match
        for finding in said { match.message += " In the store: \(finding.message)" }
        return match
    }

    /// Whether a finding is about a loss that the app has declared.
    private func isDeclared(_ match: LintMatch, _ rule: LintRule) -> Bool {
        guard rule.isOfLoss, let entity = match.entity else { return false }
        return acceptedLosses.contains(
            MigrationLoss(match.member == nil ? .rows : .values, .removed, entity: entity, property: match.member))
    }

    /// The references of model files that cannot be read because of them; empty if the cause is another.
    package func brokenReferences(inModelAt path: String) -> [LintFinding] {
        guard let rule = rules.first(where: { $0.code == LintRule.brokenReference.code }) else { return [] }
        var places = LintPlaces([], path: path)
        return findings([(rule, BrokenReferences.matches(inModelAt: path))], &places)
    }

    private func findings(
        _ matches: [(rule: LintRule, matches: [LintMatch])], _ places: inout LintPlaces
    ) -> [LintFinding] {
        var seen: Set<[String]> = []
        var found: [LintFinding] = []
        let edits = Dictionary(
            grouping: matches.flatMap(\.matches).filter { $0.edit != nil }, by: \.element
        ).mapValues { $0.compactMap(\.edit) }
        for (rule, matches) in matches {
            for match in matches {
                // The newest version stands for the older ones that say the same.
                let isOfOneVersion = if case .version = rule.check { true } else { false }
                let key = [
                    rule.code, isOfOneVersion ? "" : match.version, match.entity ?? "", match.member ?? "",
                    match.message,
                ]
                guard seen.insert(key).inserted, !isDeclared(match, rule) else { continue }
                var joined = match
                joined.severity = severities[rule.code] ?? match.severity
                // Whichever of several start tags is pasted, it has every correction.
                joined.edit = match.edit?.joined(with: edits[match.element] ?? [])
                found.append(places.finding(joined, of: rule))
            }
        }
        return found.enumerated().sorted { left, right in
            left.element.severity == right.element.severity
                ? left.offset < right.offset : left.element.severity > right.element.severity
        }.map(\.element)
    }
}
