import Moult
import MoultBasics
import MoultPlan

/// The answer to a question about codes: the explanation of one, or the list of all.
package struct Explanations: ToolAnswer {
    private let found: [Explanation]
    /// Whether each code is explained, and not only listed.
    private let areFull: Bool

    /// Creates the list of all codes.
    package init() { (found, areFull) = (Explanation.all, false) }

    /// Creates the explanation of what a word stands for, or the list of a group.
    ///
    /// - Throws: `usage` for a word that stands for nothing, with the nearest code.
    package init(of word: String) throws {
        found = Explanation.named(word)
        areFull = !found.contains { $0.group.name.lowercased() == word.lowercased() }
        guard found.isEmpty else { return }
        let codes = Explanation.all.map(\.code) + Explanation.groups.map(\.name)
        let near = Suggestion.sentence(for: word, among: codes)
        throw MigrationError.wrongRequest("\(word) is no code of a rule, an error or a finding.\(near)")
    }

    package var document: JSONValue {
        guard areFull else {
            return [
                "format": 1,
                "groups": .array(
                    groups.map { group, codes in
                        [
                            "group": .string(group.name), "title": .string(group.title),
                            "codes": .array(codes.map { ["code": .string($0.code), "title": .string($0.title)] }),
                        ]
                    }),
            ]
        }
        return ["format": 1, "explanations": .array(found.map(\.document))]
    }

    private var groups: [(group: Explanation.Group, codes: [Explanation])] {
        Explanation.groups.compactMap { group in
            let codes = found.filter { $0.group == group }
            return codes.isEmpty ? nil : (group, codes)
        }
    }

    package func lines(style: TextStyle) -> [String] {
        guard !areFull else { return Array(found.map { $0.lines(style: style) }.joined(separator: [""])) }
        return Array(
            groups.map { group, codes in
                var table = TextTable([.left(""), .left("")])
                for code in codes { table.add("  " + code.code, code.title) }
                return ["\(style.bold(group.name))  \(group.title)"] + table.lines(style: style)
            }.joined(separator: [""]))
    }
}

extension Explanation {
    /// The sentence about the exit status of the command line; nil for a code that is not of an error or a rule.
    private var status: String? {
        switch exitCode {
        case 2?: "Exit status 2: wrong usage."
        case 3?: "Exit status 3: refused. Nothing was changed, and a decision is needed."
        case 4?: "Exit status 4: not a usable store or model."
        case 5?: "Exit status 5: failed. The store is as it was."
        case let other?: "Exit status \(other): a bug in Moult."
        case nil:
            rule == nil
                ? nil
                : "Exit status of lint: 1 for a finding at the level that fails, which is an error if no other is named."
        }
    }

    /// The line under the title: severity, profile, Core Data's error, related codes.
    private var facts: [String] {
        var facts: [String] = []
        if let rule {
            facts.append("Severity: \(rule.severity.rawValue).")
            if let profile = rule.profile { facts.append("Only with the profile \(profile.rawValue).") }
            let codes = Finding.codes(ofRule: code)
            if !rule.gaps.isEmpty {
                facts.append("Its findings have the code \(rule.gaps.map(\.rawValue).listed("or")).")
            }
            if !codes.isEmpty { facts.append("In a plan, it has the code \(codes.listed("or")).") }
        }
        if let coreData { facts.append("Core Data's error: \(coreData.constant), \(coreData.number).") }
        if let ruleCode {
            let isGap = LintRule.named(ruleCode)?.gaps.map(\.rawValue).contains(code) == true
            facts.append(isGap ? "Its rule is \(ruleCode)." : "Lint reports it from the models alone, as \(ruleCode).")
        }
        if let status { facts.append(status) }
        return facts
    }

    fileprivate func lines(style: TextStyle) -> [String] {
        var lines = [meaning.hasPrefix(title) ? style.bold(code) : style.bold("\(code): \(title)")]
        if !facts.isEmpty { lines.append(style.dim(facts.joined(separator: " "))) }
        lines += ["", meaning, "", style.bold("Why it matters"), why, "", style.bold("What to do"), remedy.text()]
        guard let rule else { return lines }
        let noun = rule.failing.swift == nil ? "model" : "plan"
        lines += ["", style.bold("A \(noun) with this finding")] + rule.failing.parts().flatMap(\.lines)
        lines += ["", style.bold("Without it")] + rule.corrected.parts(after: rule.failing).flatMap(\.lines)
        return lines
    }

    fileprivate var document: JSONValue {
        let error: JSONValue? = coreData.map { ["constant": .string($0.constant), "number": JSONValue($0.number)] }
        let exit = exitCode.map { JSONValue(Int($0)) } ?? .null
        let codes = rule.map { Finding.codes(ofRule: $0.code) } ?? []
        return [
            "code": .string(code), "group": .string(group.name), "title": .string(title), "meaning": .string(meaning),
            "why": .string(why), "remedy": .string(remedy.text()), "exit": exit, "coreData": error ?? .null,
            "severity": JSONValue(rule?.severity.rawValue), "profile": JSONValue(rule?.profile?.rawValue),
            "rule": JSONValue(ruleCode), "planCodes": JSONValue(codes),
        ]
    }
}

extension LintExample.Part {
    fileprivate var lines: [String] {
        guard let code else { return [title] }
        return [title + ":"] + code.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }
}
