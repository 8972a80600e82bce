import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

/// The result of pinning the versions of a model in its lock file, or of checking them against it.
package struct LockReport: ToolAnswer {
    private let path: String
    private let versions: [String]
    package let findings: [Finding]
    private let isCheck: Bool

    /// Checks a model against its lock file, without writing.
    package init(checking bundle: ModelBundle) {
        path = ModelLock.path(besideModelAt: bundle.path)
        versions = bundle.versions.map(\.name)
        isCheck = true
        guard let lock = bundle.lock else {
            findings = [.noLockFile(path)]
            return
        }
        var findings = lock.check(bundle.versions, of: bundle.path)
        if let locked = lock.currentName(of: bundle.path), locked != bundle.currentName {
            findings.append(.otherCurrent(locked, bundle.currentName, path))
        }
        self.findings = findings
    }

    /// Pins every version of a model.
    ///
    /// - Parameter again: whether to lock a version again that has changed since it was locked.
    /// - Throws: `lockFileMismatch` if such a version exists and `again` is false; `modelInvalid` if the current
    ///   version of the model is unknown.
    package init(locking bundle: ModelBundle, again: Bool) throws {
        path = ModelLock.path(besideModelAt: bundle.path)
        versions = bundle.versions.map(\.name)
        (findings, isCheck) = ([], false)
        if let fault = bundle.currentFault { throw fault }
        let changes = (bundle.lock?.check(bundle.versions, of: bundle.path) ?? []).filter { $0.severity > .note }
        guard again || changes.isEmpty else {
            throw MigrationError(
                .lockFileMismatch, changes.map(\.message).joined(separator: " "), place: path,
                remedy: "Make the change in a new version; or pass \(option: .again) if the version was never released."
            )
        }
        try Self.pin(bundle)
    }

    /// Writes the lock file.
    static func pin(_ bundle: ModelBundle) throws {
        var lock = bundle.lock ?? ModelLock()
        try lock.pin(bundle)
        let path = ModelLock.path(besideModelAt: bundle.path)
        try StagedPath.replace([(path, Array(lock.contents.utf8))], .byUmask, POSIXSystem())
    }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path), "versions": JSONValue(versions),
            "findings": .array(findings.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        if !findings.isEmpty { return findings.flatMap { $0.lines(style: style) } }
        let count = Quantity.count(versions.count, "version")
        return [isCheck ? "\(count), all unchanged." : "Locked \(count) in \(path.printable)."]
    }
}

extension Finding {
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
