import MoultModel
import MoultSystem

/// The log of a store: `[time] sentence` lines, only ever added to.
package struct MigrationLog: Sendable {
    package let sidecar: Sidecar
    private let system: any System

    package init(_ sidecar: Sidecar, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    /// Never fails a run: what cannot be logged is not logged.
    package func append(_ message: String) {
        // The names of a store are in it, and people read it with cat.
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").printable
        try? system.append(
            Array("[\(system.now.iso8601WithMilliseconds)] \(line)\n".utf8), to: sidecar.log, sidecar.rights)
    }

    /// Adds a sentence that ends with an error. What an app's own code says in its errors is left out, because it may
    /// be a value of a row: the log has the type of the error in its place.
    package func append(_ message: String, _ error: any Error) { append("\(message)\(Self.words(of: error))") }

    static func words(of error: any Error) -> String {
        guard var known = error as? MigrationError else { return "\(type(of: error))" }
        if [.policyFailed, .stageFailed, .migrationFailed].contains(known.code) { known.cause = nil }
        return "\(known)"
    }

    /// The whole log; empty where there is none.
    package func read() throws -> String {
        guard try system.exists(sidecar.log) else { return "" }
        return String(decoding: try system.read(sidecar.log), as: UTF8.self)
    }
}
