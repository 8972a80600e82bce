import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

/// The result of pinning the versions of models in their lock files, or of checking them against these.
package struct LockReport: ToolAnswer {
    /// The result for one model.
    private struct Model: Sendable {
        let model: String
        let lock: String
        let versions: [String]
        let findings: [Finding]
        /// The versions that differ from the locked ones, and those that are missing.
        private let replaced: [String]
        private let removed: [String]

        init(_ bundle: ModelBundle, findings: [Finding]) {
            model = bundle.path
            lock = ModelLock.path(besideModelAt: bundle.path)
            versions = bundle.versions.map(\.name)
            self.findings = findings
            let current = Dictionary(
                bundle.versions.map { ($0.name, ModelLock.Version($0)) }, uniquingKeysWith: { first, _ in first })
            let locked = bundle.lock?.versions(of: bundle.path) ?? []
            replaced = locked.filter { version in current[version.name].map { $0 != version } ?? false }.map(\.name)
            removed = locked.map(\.name).filter { current[$0] == nil }
        }

        /// Sentences, with a leading space, about the versions that the lock had otherwise; empty if there are none.
        var changes: String {
            [(replaced, "Replaced"), (removed, "Removed")].map { names, what in
                names.isEmpty ? "" : " \(what) in it: \(names.joined(separator: ", "))."
            }.joined()
        }
    }

    private let models: [Model]
    private let isCheck: Bool

    package var findings: [Finding] { models.flatMap(\.findings) }

    /// Checks models against their lock files, without writing.
    package init(checking bundles: [ModelBundle]) {
        isCheck = true
        models = bundles.map { bundle in
            guard let lock = bundle.lock else {
                return Model(bundle, findings: [.noLockFile(ModelLock.path(besideModelAt: bundle.path))])
            }
            var findings = lock.check(bundle.versions, of: bundle.path)
            if let locked = lock.currentName(of: bundle.path), locked != bundle.currentName {
                findings.append(
                    .otherCurrent(locked, bundle.currentName, ModelLock.path(besideModelAt: bundle.path)))
            }
            return Model(bundle, findings: findings)
        }
    }

    /// Pins every version of models. Nothing is written if one of the models is refused, or if lint finds errors in a
    /// version that is new to its lock. These are then the findings.
    ///
    /// - Parameters:
    ///   - again: whether to lock a version again that has changed since it was locked.
    ///   - lint: returns what lint finds in a model.
    /// - Throws: `lockFileMismatch` if such a version exists and `again` is false; `modelInvalid` if the current
    ///   version of a model is unknown; any error from `lint`.
    package init(locking bundles: [ModelBundle], again: Bool, lint: (ModelBundle) throws -> LintResult) throws {
        isCheck = false
        try Self.checkPlaces(of: bundles)
        for bundle in bundles { if let fault = bundle.currentFault { throw fault } }
        let refused = bundles.map { bundle in
            (bundle, (bundle.lock?.check(bundle.versions, of: bundle.path) ?? []).filter { $0.severity > .note })
        }.filter { !$0.1.isEmpty }
        if !again, let first = refused.first?.0 {
            let isOne = bundles.count == 1
            let reasons = refused.map { bundle, changes in
                (isOne ? "" : "\(bundle.path): ") + changes.map(\.message).joined(separator: " ")
            }
            let commands = refused.map { bundle, _ in Remedy("\(.lock, .path(bundle.path), .again)") }
            throw MigrationError(
                .lockFileMismatch, reasons.joined(separator: " "), place: ModelLock.path(besideModelAt: first.path),
                remedy: isOne
                    ? "Make the change in a new version; or pass \(option: .again) if the version was never released."
                    : "Make the change in a new version; or, if the version was never released, run "
                        + commands.dropFirst().reduce(commands[0]) { "\($0), and \($1)" } + ".")
        }
        models = try bundles.map { bundle in
            // The first lock is the baseline: its versions were released before.
            guard let locked = bundle.lock?.versions(of: bundle.path) else { return Model(bundle, findings: []) }
            let new = Set(bundle.versions.map(\.name)).subtracting(locked.map(\.name))
            let errors = new.isEmpty ? [] : try lint(bundle).errors(inVersions: new)
            return Model(bundle, findings: errors.isEmpty ? [] : [.errors(errors, in: bundle)])
        }
        guard findings.isEmpty else { return }
        for bundle in bundles { try Self.pin(bundle) }
    }

    /// - Throws: `usage` for one version of a bundle, whose lock file is next to the bundle.
    static func checkPlaces(of bundles: [ModelBundle]) throws {
        for bundle in bundles {
            guard let whole = ModelBundle.bundle(aroundVersionAt: bundle.path) else { continue }
            throw MigrationError(
                .usage, "This is one version of \(whole). Nothing was written.", place: bundle.path,
                remedy: "Lock the whole model: \(.lock, .path(whole))")
        }
    }

    /// Writes the lock file.
    static func pin(_ bundle: ModelBundle, _ system: any System = POSIXSystem()) throws {
        let path = ModelLock.path(besideModelAt: bundle.path)
        try StagedPath.replace([(path, try contents(pinning: bundle))], .byUmask, system)
    }

    /// Returns the contents of the lock file with a bundle pinned.
    static func contents(pinning bundle: ModelBundle) throws -> [UInt8] {
        // Models in one folder share the file, which may have changed since the bundle was read.
        var lock = try ModelLock(besideModelAt: bundle.path) ?? ModelLock()
        try lock.pin(bundle)
        return Array(lock.contents.utf8)
    }

    package var document: JSONValue {
        let findings = JSONValue.Member("findings", .array(self.findings.map(\.document)))
        guard models.count != 1 else {
            return .object(
                [
                    .init("format", 1), .init("path", .string(models[0].lock)),
                    .init("versions", JSONValue(models[0].versions)),
                ] + [findings])
        }
        let documents: [JSONValue] = models.map { model in
            [
                "model": .string(model.model), "path": .string(model.lock), "versions": JSONValue(model.versions),
                "findings": .array(model.findings.map(\.document)),
            ]
        }
        return .object([.init("format", 1), .init("models", .array(documents)), findings])
    }

    package func lines(style: TextStyle) -> [String] {
        models.flatMap { model -> [String] in
            let name = models.count == 1 ? "" : "\(model.model.printable): "
            if !model.findings.isEmpty {
                return (name.isEmpty ? [] : [name]) + model.findings.flatMap { $0.lines(style: style) }
            }
            guard isCheck || findings.isEmpty else { return ["\(name)Not locked, because another model is refused."] }
            let count = Quantity.count(model.versions.count, "version")
            let locked = "Locked \(count) in \(model.lock.printable).\(model.changes.printable)"
            return [name + (isCheck ? "\(count), all unchanged." : locked)]
        }
    }
}

extension ModelBundle {
    /// Returns the path of the bundle that contains the version at a path; nil for a version that is in none.
    package static func bundle(aroundVersionAt path: String) -> String? {
        guard path.hasSuffix(".xcdatamodel") || path.hasSuffix(".xcdatamodel/") else { return nil }
        let folder = Path.folder(of: path.hasSuffix("/") ? String(path.dropLast()) : path)
        if folder.hasSuffix(".xcdatamodeld") { return folder }
        // The working folder may be the bundle.
        guard folder == ".", let whole = try? POSIXSystem().resolve("."), whole.hasSuffix(".xcdatamodeld") else {
            return nil
        }
        return whole
    }
}

extension Finding {
    /// Returns the finding about the errors of lint in versions that are new to the lock.
    fileprivate static func errors(_ errors: [LintFinding], in bundle: ModelBundle) -> Finding {
        let versions = errors.map(\.version).unique().joined(separator: ", ")
        let places = errors.map { "[\($0.rule.code)] at \($0.place)" }.unique().joined(separator: ", ")
        return Finding(
            code: "version-with-errors", severity: .error, place: bundle.path,
            message: "Nothing was locked: lint finds errors in the new \(versions), and would no longer report them: "
                + "\(places).",
            remedy: "Correct what \(.lint, .path(bundle.path)) finds. An exception in moult.json, with its reason, "
                + "keeps a finding as it is.")
    }

    fileprivate static func otherCurrent(_ locked: String, _ current: String?, _ place: String) -> Finding {
        Finding(
            code: "current-version-not-locked", severity: .note, place: place,
            message: "The current version is \(current ?? "not named"); the lock file has \(locked).",
            remedy: "Run \(.lock) when the version is released.")
    }

    fileprivate static func noLockFile(_ path: String) -> Finding {
        Finding(
            code: "model-not-locked", severity: .warning, place: path, message: "There is no lock file.",
            remedy: "Run \(.lock) when a version is released.")
    }
}
