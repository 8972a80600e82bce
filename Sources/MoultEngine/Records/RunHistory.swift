import MoultModel
import MoultSystem

/// All runs on a store, oldest first; written once each, never changed.
package struct RunHistory: Sendable {
    package let sidecar: Sidecar
    private let system: any System

    package init(_ sidecar: Sidecar, _ system: any System = POSIXSystem()) {
        self.sidecar = sidecar
        self.system = system
    }

    package func append(_ record: StoreRun) throws {
        var record = record
        // Read in another working folder.
        record.backups = record.backups.map { (try? system.resolve($0)) ?? $0 }
        let isFirst = try !system.exists(sidecar.runs)
        // A line that a dying process left unfinished would take this one with it.
        let start = try isFirst || endsWithLine() ? "" : "\n"
        try system.append(Array((start + record.json.compact + "\n").utf8), to: sidecar.runs, sidecar.rights)
        try system.synchronise(sidecar.runs)
        // Else a power cut could take the name, and with it the history of a run whose journal is gone.
        if isFirst { try system.synchronise(sidecar.folder) }
    }

    /// Whether the last line is whole.
    private func endsWithLine() throws -> Bool {
        var last = UInt8(ascii: "\n")
        let size = try system.status(of: sidecar.runs)?.size ?? 0
        if size > 0 { try system.readPieces(of: sidecar.runs, from: size - 1) { last = $0.last ?? last } }
        return last == UInt8(ascii: "\n")
    }

    /// The records that can be read; ``contents()`` says whether these are all.
    package func records() throws -> [StoreRun] { try contents().records }

    /// The records that can be read, and what cannot: lines that a dying process left unfinished, that were damaged
    /// since, or that a later version of Moult has written.
    package func contents() throws -> (records: [StoreRun], unreadable: Unreadable?) {
        guard try system.exists(sidecar.runs) else { return ([], nil) }
        let lines = try system.read(sidecar.runs).split(separator: UInt8(ascii: "\n")).map { line in
            (try? JSONValue(parsing: Array(line), place: sidecar.runs, code: .metadataInvalid)).flatMap(StoreRun.init)
        }
        let count = lines.count { $0 == nil }
        let isLast = lines.last.map { $0 == nil } ?? false
        return (lines.compactMap { $0 }, count == 0 ? nil : Unreadable(count: count, isLast: isLast))
    }

    /// Lines of a history that cannot be read.
    package struct Unreadable: Sendable, Equatable {
        package let count: Int
        /// Whether the last line is one of them, so that it is not known what was done last.
        package let isLast: Bool

        package var sentence: String {
            "\(Quantity.count(count, "record")) of the history of runs cannot be read"
                + (isLast ? ", the last one among them: it is not known what was done last." : ".")
        }
    }
}
