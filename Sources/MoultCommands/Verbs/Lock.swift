import MoultEngine
import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem

extension Verb {
    static let lock = Verb(
        "lock", "Pin every version of a model in moult.lock, so that a released one cannot change unnoticed.",
        discussion: """
            Run it when you release a version, and commit moult.lock. The file also records the order of the versions
            and the current one. If a locked version has changed, the command is refused. If that version was never
            released, --again locks it again.
            An app's own tool that provides the model keeps the lock in the folder in which the tool runs.
            With --check nothing is written, and the exit code is 1 if the model and the lock differ.
            """,
        operands: [.model],
        options: [
            .checking("the model and the lock file differ, or if there is no lock file", before: "Write nothing. "),
            again, .order,
        ],
        examples: ["moult lock Forum.xcdatamodeld", "moult lock Forum.xcdatamodeld --check"]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        let path = ModelLock.path(besideModelAt: bundle.path)
        var findings = bundle.lock?.check(bundle.versions, of: bundle.path) ?? []
        if invocation[.check] {
            if let lock = bundle.lock {
                if let locked = lock.currentName(of: bundle.path), locked != bundle.currentName {
                    findings.append(.otherCurrent(locked, bundle.currentName, path))
                }
            } else {
                findings.append(.noLockFile(path))
            }
        } else {
            if let fault = bundle.currentFault { throw fault }
            if !invocation[again] { try refuseChanges(findings, path) }
            var lock = bundle.lock ?? ModelLock()
            try lock.pin(bundle)
            try UnfinishedPath.replace([(path, Array(lock.contents.utf8))], .byUmask, POSIXSystem())
            findings = []
        }
        console.print([
            "format": 1, "path": .string(path), "versions": JSONValue(bundle.versions.map(\.name)),
            "findings": .array(findings.map(\.document)),
        ]) { style in
            if !findings.isEmpty { return findings.flatMap { $0.lines(style: style) } }
            let count = Quantity.count(bundle.versions.count, "version")
            return [
                invocation[.check] ? "\(count), all unchanged." : "Locked \(count) in \(path.printable)."
            ]
        }
        return findings.isEmpty ? .done : .findings
    }

    private static let again = Option.flag("again", "Lock a version again even if it has changed since it was locked.")

    private static func refuseChanges(_ findings: [Finding], _ path: String) throws {
        let changes = findings.filter { $0.severity > .note }
        guard !changes.isEmpty else { return }
        throw MigrationError(
            .lockFileMismatch, changes.map(\.message).joined(separator: " "), place: path,
            remedy: "Make the change in a new version; or pass --again if the version was never released.")
    }
}

extension Option {
    static let check = checking("there is something to report")

    /// `--check` of a verb that says when it exits with 1.
    static func checking(_ condition: String, before: String = "") -> Option {
        flag("check", "\(before)Exit with 1 if \(condition).")
    }
}

extension Finding {
    fileprivate static func otherCurrent(_ locked: String, _ current: String?, _ place: String) -> Finding {
        Finding(
            code: "current-version-not-locked", severity: .note, place: place,
            message: "The current version is \(current ?? "not named"); the lock file has \(locked).",
            remedy: "Run moult lock when the version is released.")
    }

    fileprivate static func noLockFile(_ path: String) -> Finding {
        Finding(
            code: "model-not-locked", severity: .warning, place: path, message: "There is no lock file.",
            remedy: "Run moult lock when a version is released.")
    }
}
