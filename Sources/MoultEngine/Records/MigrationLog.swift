import MoultSystem

/// The log of a store: `[time] sentence` lines, only ever added to (W-41).
package struct MigrationLog: Sendable {
    package let sidecar: Sidecar
    private let system: any System

    package init(_ sidecar: Sidecar, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    /// Never fails a run: what cannot be logged is not logged.
    package func append(_ message: String) {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? system.append(Array("[\(system.now.iso8601WithMilliseconds)] \(line)\n".utf8), to: sidecar.log)
    }

    /// The whole log; empty where there is none.
    package func read() throws -> String {
        guard try system.exists(sidecar.log) else { return "" }
        return String(decoding: try system.read(sidecar.log), as: UTF8.self)
    }
}
