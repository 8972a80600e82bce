import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

/// A trial of corrections on copies of a model's files.
struct LintTrial {
    /// The key of a start tag: version, entity, property.
    typealias Element = [String]
    private typealias Candidate = (element: Element, findings: [LintFinding], edit: LintMatch.Edit)

    private let target: LintTarget
    /// The versions that were not released.
    private let open: Set<String>
    private let originals: [String: [UInt8]]
    /// The contents of each version that may change.
    private var contents: [String: [UInt8]] = [:] {
        didSet { for (name, bytes) in contents where bytes != oldValue[name] { trees[name] = try? ModelTree(bytes) } }
    }
    /// The XML of these contents.
    private var trees: [String: ModelTree] = [:]
    private(set) var corrections: [LintFix.Correction] = []
    private(set) var leftOut: [LintFix.LeftOut] = []
    /// The findings that the corrections so far have repaired.
    private var claimed: Set<[String]> = []

    init(_ target: LintTarget) {
        self.target = target
        let system = POSIXSystem()
        let open = target.unreleasedVersions
        self.open = open
        let files = target.bundle.files.filter { name, path in
            open.contains(name) && path.hasSuffix("/contents")
                && (try? system.isLink(path)) == false
        }
        originals = files.compactMapValues { try? system.read($0) }
        contents = originals
        trees = originals.compactMapValues { try? ModelTree($0) }
    }

    /// The files that have changed.
    var files: [(path: String, old: [UInt8], new: [UInt8])] {
        contents.inByteOrder { $0.key }.compactMap { name, bytes in
            guard let path = target.bundle.files[name], let old = originals[name], old != bytes else { return nil }
            return (path, old, bytes)
        }
    }

    /// Makes corrections until none is left that repairs its findings. A correction can bring up the same finding in an
    /// older version.
    ///
    /// - Throws: any error from copying the model.
    mutating func correct() throws {
        var findings = target.findings
        for _ in 0..<8 {
            let candidates = candidates(findings)
            let before = Set(findings.map(\.key))
            let accepted = try accepted(candidates, after: [], before)
            guard !accepted.isEmpty else { break }
            corrections += accepted.compactMap(correction)
            claimed.formUnion(accepted.flatMap(\.findings).map(\.claim))
            contents = changed(by: accepted)
            findings = try self.findings(in: contents)
        }
        let known = Set(findings.map(\.key))
        for finding in findings where finding.exception == nil && finding.xml != nil {
            // The finding may be of a copy.
            let file = target.bundle.files[finding.version] ?? finding.file
            let place = "\(file)\(finding.line.map { ":\($0)" } ?? ""): \(finding.place)"
            let reason = reason(for: finding, known)
            leftOut.append(LintFix.LeftOut(finding: finding, location: place, reason: reason))
        }
    }

    /// - Parameter known: the keys of all findings that are left.
    private func reason(for finding: LintFinding, _ known: Set<[String]>) -> String {
        guard let edit = finding.edit else { return "" }
        if target.releases.isEmpty, !open.contains(finding.version) {
            return "Nothing says whether \(finding.version) was released."
        }
        if contents[finding.version] == nil {
            return "\(finding.version) was released, or is no file that Moult edits."
        }
        return edit.choice ?? outcome(of: finding, known)
    }

    /// Returns a sentence about the findings that the correction alone would leave or lead to.
    private func outcome(of finding: LintFinding, _ known: Set<[String]>) -> String {
        guard let edit = finding.edit else { return "" }
        let candidate: Candidate = (finding.element, [finding], edit)
        if changes(of: candidate).isEmpty { return "The file has the correction already, or not this element." }
        guard let after = try? findings(in: changed(by: [candidate])) else {
            return "With the correction, the model could not be read."
        }
        if after.contains(where: { $0.claim == finding.claim }) {
            return "The correction alone would leave this finding."
        }
        let others = after.filter { !known.contains($0.key) }.map { "[\($0.rule.code)] at \($0.place)" }
        return others.isEmpty
            ? "The correction alone would not hold with the others."
            : "The correction alone would lead to another finding: \(others.joined(separator: ", "))."
    }

    /// The start tags to correct, with all corrections of each.
    private func candidates(_ findings: [LintFinding]) -> [Candidate] {
        let fixable = findings.filter { finding in
            contents[finding.version] != nil && finding.exception == nil && finding.edit?.choice == nil
                && finding.edit != nil
        }
        return Dictionary(grouping: fixable, by: \.element).sorted { left, right in
            left.key.lexicographicallyPrecedes(right.key) { $0.precedesInByteOrder($1) }
        }.compactMap { element, findings in
            let edits = findings.compactMap(\.edit)
            return edits.first.map { (element, findings, $0.joined(with: edits)) }
        }
    }

    /// Returns the candidates that repair their findings and lead to no other, each tried out with those before it.
    private func accepted(
        _ candidates: [Candidate], after others: [Candidate], _ before: Set<[String]>
    ) throws -> [Candidate] {
        if candidates.isEmpty { return [] }
        if try areSound(candidates, after: others, before) { return candidates }
        guard candidates.count > 1 else { return [] }
        let middle = candidates.count / 2
        let first = try accepted(Array(candidates[..<middle]), after: others, before)
        return try first + accepted(Array(candidates[middle...]), after: others + first, before)
    }

    private func areSound(_ candidates: [Candidate], after others: [Candidate], _ before: Set<[String]>) throws -> Bool
    {
        guard candidates.allSatisfy({ !changes(of: $0).isEmpty }) else { return false }
        guard let found = try? findings(in: changed(by: others + candidates)) else { return false }
        let findings = candidates.flatMap(\.findings)
        guard claimed.union(findings.map(\.claim)).isDisjoint(with: found.map(\.claim)) else { return false }
        let severity = findings.map(\.severity).max() ?? .note
        // A new finding that can be corrected itself comes next.
        return !found.contains { finding in
            !before.contains(finding.key)
                && (finding.severity >= severity && finding.xml == nil || finding.rule.isOfLoss)
        }
    }

    // MARK: Files

    private func startTag(of element: Element) -> (tag: StartTag, element: XMLElement, bytes: [UInt8])? {
        guard let bytes = contents[element[0]], let tree = trees[element[0]],
            let found = tree.element(element[1], element[2].isEmpty ? nil : element[2]),
            // The lookup returns the entity for a property that the file does not have.
            found.attribute("name") == (element[2].isEmpty ? element[1] : element[2]),
            let tag = StartTag(of: found, in: bytes)
        else { return nil }
        return (tag, found, bytes)
    }

    private func changes(of candidate: Candidate) -> [StartTag.Change] {
        startTag(of: candidate.element)?.tag.changes(setting: candidate.edit.attributes) ?? []
    }

    private func changed(by candidates: [Candidate]) -> [String: [UInt8]] {
        Dictionary(grouping: candidates) { $0.element[0] }.reduce(into: contents) { contents, version in
            let changes = version.value.flatMap(changes)
            contents[version.key] = contents[version.key]?.applying(changes)
        }
    }

    private func correction(_ candidate: Candidate) -> LintFix.Correction? {
        guard let (tag, element, bytes) = startTag(of: candidate.element) else { return nil }
        let text = Array(bytes[tag.range])
        let changes = tag.changes(setting: candidate.edit.attributes).map { change in
            StartTag.Change(
                range: (change.range.lowerBound - tag.range.lowerBound)..<(change.range.upperBound
                    - tag.range.lowerBound),
                bytes: change.bytes)
        }
        return LintFix.Correction(
            findings: candidate.findings, file: target.bundle.files[candidate.element[0]] ?? "", line: element.line,
            old: String(decoding: text, as: UTF8.self), new: String(decoding: text.applying(changes), as: UTF8.self))
    }

    /// Returns the findings of a copy of the model with these contents.
    private func findings(in contents: [String: [UInt8]]) throws -> [LintFinding] {
        let system = POSIXSystem()
        let root = try system.resolve(target.bundle.path)
        let folder = try TemporaryFolder("fix", system)
        defer { folder.remove() }
        let model = Path.join(folder.path, Path.name(of: root))
        func copy(_ path: String, _ bytes: [UInt8]?) throws {
            let whole = try system.resolve(path)
            guard whole.hasPrefix(root + "/") else { return }
            let place = Path.join(model, String(whole.dropFirst(root.count + 1)))
            for parent in Path.parents(of: place, below: folder.path) where try !system.exists(parent) {
                try system.makeFolder(parent)
            }
            try system.write(try bytes ?? system.read(path), to: place)
        }
        for (name, path) in target.bundle.files { try copy(path, contents[name]) }
        let marker = Path.join(target.bundle.path, ".xccurrentversion")
        if try system.exists(marker) { try copy(marker, nil) }
        let order = target.bundle.versions.map(\.name)
        return try target.findings(in: ModelBundle(contentsOf: model, order: order))
    }
}

extension Path {
    /// Returns the folders between a folder and a path below it, outermost first.
    fileprivate static func parents(of path: String, below folder: String) -> [String] {
        var parents: [String] = []
        var place = Path.folder(of: path)
        while place.count > folder.count {
            parents.insert(place, at: 0)
            place = Path.folder(of: place)
        }
        return parents
    }
}

extension LintFinding {
    /// A key of the start tag that the finding is about.
    fileprivate var element: [String] { [version, entity ?? "", member ?? ""] }

    /// A key of what a correction of the finding repairs.
    fileprivate var claim: [String] { [rule.code] + element }

    /// A key that stays the same when a finding moves to another version because the newest one no longer has it.
    fileprivate var key: [String] {
        [rule.code, rule.isOfOneVersion ? "" : version, entity ?? "", member ?? ""]
    }
}
