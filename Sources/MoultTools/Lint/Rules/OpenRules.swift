import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan

/// The rules about released versions and the order of versions.
enum OpenRules {
    static func edited(_ release: LintRelease, _ subject: LintSubject) -> [LintMatch] {
        release.versions.compactMap { released in
            guard case .edited(let version) = release.fate(of: released, in: subject.versions) else { return nil }
            let changes = changes(released, version).filter(\.isHashed)
            let changed = differing(released, version, \.hash)
            let what = changes.isEmpty ? list(changed, released, version) + "." : sentences(changes)
            return about(
                released,
                LintMatch(
                    version.name, changes.first?.entity ?? changed.first, changes.first?.member,
                    "The version \(released.name) differs from the released one in \(release.source), so stores of it "
                        + "are no longer recognised: \(what)",
                    remedy: release.undo))
        }
    }

    static func editedUnhashed(_ release: LintRelease, _ subject: LintSubject) -> [LintMatch] {
        release.versions.compactMap { released in
            guard case .editedUnhashed(let version) = release.fate(of: released, in: subject.versions) else {
                return nil
            }
            let changes = changes(released, version)
            let changed = differing(released, version, \.fingerprint).joined(separator: ", ")
            let parts = changed.isEmpty ? "its configurations, composites, fetch requests or identifier" : changed
            let what = changes.isEmpty ? parts + "." : sentences(changes)
            return about(
                released,
                LintMatch(
                    version.name, changes.first?.entity, changes.first?.member,
                    "The version \(released.name) differs from the released one in \(release.source) in parts that the "
                        + "version hash leaves out: \(what)",
                    remedy:
                        "Stores of it still open, and no migration applies the edit to them. Make the edit in a new "
                        + "version if it has to reach every store."))
        }
    }

    static func deleted(_ release: LintRelease, _ subject: LintSubject) -> [LintMatch] {
        release.versions.compactMap { released in
            guard case .missing = release.fate(of: released, in: subject.versions) else { return nil }
            return about(
                released,
                LintMatch(
                    "", nil, nil,
                    "The released version \(released.name) in \(release.source) is missing. Its stores cannot be "
                        + "migrated.",
                    remedy: "Restore \(released.name). Keep each version for as long as a store of it may exist."))
        } + (release.missingLock.map { [lockMissing($0, release)] } ?? [])
    }

    private static func lockMissing(_ path: String, _ release: LintRelease) -> LintMatch {
        var match = LintMatch(
            "", nil, nil,
            "\(path) has the model in \(release.source), and is missing or does not have it now. Later edits of the "
                + "released versions would go unnoticed.",
            remedy: "Restore the lock file from version control.")
        match.subject = path
        return match
    }

    /// Returns a match about a released version, which is reported once even if several sources have the version.
    private static func about(_ released: LintRelease.Version, _ match: LintMatch) -> LintMatch {
        var match = match
        match.subject = released.name
        return match
    }

    static func movedBack(_ release: LintRelease, _ subject: LintSubject) -> [LintMatch] {
        guard let was = release.currentName, let becomes = subject.currentName,
            let released = release.versions.first(where: { $0.name == was }),
            let newest = subject.versions.lastIndex(where: { $0.checksum == released.checksum }),
            let current = subject.versions.firstIndex(where: { $0.name == becomes }), current < newest,
            subject.versions[current].checksum != released.checksum
        else { return [] }
        return [
            LintMatch(
                becomes, nil, nil,
                "The current version is \(becomes), but \(was) was current in \(release.source). "
                    + "Stores of \(was) do not open with it.",
                remedy:
                    "Make \(subject.versions[newest].name) the current version again, or add a new version after it.")
        ]
    }

    static func notCurrent(_ subject: LintSubject) -> [LintMatch] {
        guard let current = subject.currentName, let newest = subject.versions.last, newest.name != current,
            let version = subject.versions.first(where: { $0.name == current }), version.checksum != newest.checksum
        else { return [] }
        return [
            LintMatch(
                newest.name, nil, nil,
                "The current version is \(current), but the last version is \(newest.name). New stores do not get it.",
                remedy: "If \(newest.name) is the newest, make it the current version in Xcode (File inspector, Model "
                    + "Version, Current). If a version was renamed, give it its name back, or give the order of the "
                    + "versions with \(option: .order(nil)).")
        ]
    }

    static func outOfOrder(_ release: LintRelease, _ subject: LintSubject) -> [LintMatch] {
        let checksums = Set(release.versions.map(\.checksum))
        let last = subject.versions.lastIndex { checksums.contains($0.checksum) }
        guard let last else { return [] }
        let names = Set(release.versions.map(\.name))
        return subject.versions[..<last].filter { version in
            // An edited version is reported separately.
            !checksums.contains(version.checksum) && !names.contains(version.name)
        }.map { version in
            LintMatch(
                version.name, nil, nil,
                "The new version \(version.name) comes before the released version \(subject.versions[last].name). "
                    + "A store of the later one counts as ahead of it.",
                remedy:
                    "Rename \(version.name) so that it sorts last, or give the order with \(option: .order(nil)) and run "
                    + "\(.lock, .anyModel), which records it.")
        }
    }

    static func equalHashes(_ subject: LintSubject) -> [LintMatch] {
        var first: [[UInt8]: String] = [:]
        return subject.versions.compactMap { version in
            guard let earlier = first[version.checksum] else {
                first[version.checksum] = version.name
                return nil
            }
            // A released version cannot be changed any more.
            let isReleased = subject.releases.contains { release in
                release.versions.contains { $0.name == version.name && $0.checksum == version.checksum }
            }
            if isReleased { return nil }
            return LintMatch(
                version.name, nil, nil,
                "\(version.name) and \(earlier) have equal version hashes, so no migration happens between them.",
                remedy: "If nothing differs, remove \(version.name). If data has to change between them, set a hash "
                    + "modifier on an entity of \(version.name): \(markup: "versionHashModifier=\"2\"", "2").")
        }
    }

    static func currentMissing(_ subject: LintSubject) -> [LintMatch] {
        subject.readerFindings.filter { $0.code == "current-version-missing" }.map { finding in
            var match = LintMatch("", nil, nil, finding.message, remedy: finding.advice)
            match.line = (finding.place, 1)
            return match
        } + subject.releases.compactMap { noLongerNamed($0, subject) }.prefix(1)
    }

    /// Returns a match if the release named a current version of the bundle, and the bundle now has several and names
    /// none.
    private static func noLongerNamed(_ release: LintRelease, _ subject: LintSubject) -> LintMatch? {
        guard let current = release.currentName, release.versions.count > 1, subject.currentName == nil,
            subject.versions.count > 1,
            !subject.readerFindings.contains(where: { $0.code == "current-version-missing" })
        else { return nil }
        return LintMatch(
            "", nil, nil, "The bundle names no current version any more. In \(release.source) it was \(current).",
            remedy: "Restore the file .xccurrentversion of the bundle, or choose the current version in Xcode again.")
    }

    /// Returns a match for a bundle of several versions without a mark. If a release had one, that is reported instead.
    static func currentUnnamed(_ subject: LintSubject) -> [LintMatch] {
        guard subject.isUnmarked, subject.releases.allSatisfy({ noLongerNamed($0, subject) == nil }) else { return [] }
        return [
            LintMatch(
                "", nil, nil,
                "The bundle has \(Quantity.count(subject.versions.count, "version")), and no .xccurrentversion says which "
                    + "one is current. Moult takes \(subject.versions.last?.name ?? ""); Xcode may choose another one.",
                remedy: "Choose the current version in Xcode (File inspector, Model Version, Current), and commit the "
                    + "file .xccurrentversion.")
        ]
    }

    /// Returns a match for each folder of a version that was left out.
    static func withoutContents(_ subject: LintSubject) -> [LintMatch] {
        subject.readerFindings.filter { $0.code == ModelBundle.withoutContents }.map { finding in
            var match = LintMatch("", nil, nil, finding.message, remedy: finding.advice)
            match.line = (finding.place, 1)
            return match
        }
    }

    // MARK: Messages

    /// Returns the changes from a released version to the current one; none if the released model is not available.
    private static func changes(_ released: LintRelease.Version, _ version: LintVersion) -> [ModelChange] {
        released.model.flatMap { try? ModelDiff(from: $0, to: version.version) }?.changes ?? []
    }

    private static func sentences(_ changes: [ModelChange]) -> String {
        let shown = changes.prefix(3).map(\.sentence).joined(separator: " ")
        let others = changes.count - 3
        return others > 0 ? "\(shown) And \(Quantity.count(others, "more change"))." : shown
    }

    private static func differing(
        _ released: LintRelease.Version, _ version: LintVersion, _ part: (ModelLock.Entity) -> [UInt8]
    ) -> [String] {
        let now = ModelLock.Version(version.version).entities
        return released.entities.filter { name, entity in now[name].map { part($0) != part(entity) } ?? false }.keys
            .inByteOrder()
    }

    private static func list(_ changed: [String], _ released: LintRelease.Version, _ version: LintVersion) -> String {
        let now = Set(version.model.entities.map(\.name))
        let added = now.subtracting(released.entities.keys).inByteOrder()
        let removed = Set(released.entities.keys).subtracting(now).inByteOrder()
        let parts = [(changed, "changed"), (added, "added"), (removed, "removed")].compactMap { names, what in
            names.isEmpty ? nil : "\(names.joined(separator: ", ")) \(what)"
        }
        return parts.joined(separator: "; ")
    }
}

/// The rules that report the findings of a SwiftData plan about itself. The plan provides the findings, with remedies
/// in Swift; each is reported here under the code of a rule.
enum PlanRules {
    /// The rule for every finding about the plan as a whole.
    private static let whole = "OPEN011"
    private static let judged: Set<String> = [
        "OPEN007", "OPEN009", "OPEN010", whole, "DATA010", "INFER001", "INFER002", "INFER003", "INFER004", "INFER005",
        "INFER006", "INFER007", "INFER008",
    ]

    /// Whether the plan's own findings replace those of the rule, which examines only the models.
    static func judges(_ rule: LintRule) -> Bool { judged.contains(rule.code) }

    private static func code(of finding: Finding) -> String {
        finding.rule.flatMap { judged.contains($0) ? $0 : nil } ?? whole
    }

    static func matches(of rule: LintRule, in findings: [Finding]) -> [LintMatch] {
        findings.filter { code(of: $0) == rule.code }.map { finding in
            // The place of a finding about the plan itself is a stage or a version.
            let isOfModel = code(of: finding) != whole && !["stage-missing", "checksum-twice"].contains(finding.code)
            let (entity, member) = isOfModel ? LintMatch.parts(of: finding.place) : (nil, nil)
            var match = LintMatch(
                isOfModel ? "" : finding.place, entity, member, finding.message, remedy: finding.advice)
            match.severity = finding.severity
            return match
        }
    }
}
