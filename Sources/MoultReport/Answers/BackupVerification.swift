import MoultEngine
import MoultModel

/// The result of verifying backups: those that match their manifests, and the errors of the others.
package struct BackupVerification: Sendable {
    /// Each backup that was verified, with its error; nil if it is sound.
    package let checked: [(name: String, error: MigrationError?)]

    package init(_ checked: [(name: String, error: MigrationError?)]) { self.checked = checked }

    package var isSound: Bool { checked.allSatisfy { $0.error == nil } }

    package var document: JSONValue {
        let backups = checked.map { name, error in
            JSONValue.object(
                [.init("name", .string(name)), .init("sound", .bool(error == nil))]
                    + (error.map { [.init("error", $0.document["error"] ?? .null)] } ?? []))
        }
        return ["format": 1, "backups": .array(backups)]
    }

    package func lines(style: TextStyle) -> [String] {
        if checked.isEmpty { return ["There are no backups."] }
        return checked.flatMap { name, error in
            error.map { ["\(style.red("damaged")) \(name)"] + $0.lines(style: style) }
                ?? ["\(style.green("sound")) \(name)"]
        }
    }
}
