import MoultModel
import MoultSystem
import Synchronization

/// Plans a fleet: finds its stores, looks at each, and writes the manifest as it proceeds, so that memory does not grow
/// with what was found but for a few dozen bytes of each store, which say that it is listed.
package struct FleetPlan {
    package struct Summary: Sendable {
        package var groups: [FleetGroup] = []
        package var stores = 0
        /// Files that were looked at.
        package var files = 0
        /// Names that led to a store that was listed already.
        package var repeated = 0
        /// The number of stores that an earlier call had looked at.
        package var resumed = 0
        package var seconds: Double = 0
        /// The errors about what could not be looked at, up to 20 of them.
        package var missed: [MigrationError] = []
        package var missedCount = 0
    }

    private let manifest: FleetManifest
    private let look: StoreLook
    private let outlook: (inout FleetGroup) throws -> Void
    private let isCancelled: () -> Bool

    /// - Parameter outlook: says what happens to the stores of a group.
    package init(
        _ manifest: FleetManifest, look: StoreLook, outlook: @escaping (inout FleetGroup) throws -> Void,
        isCancelled: @escaping () -> Bool = { false }
    ) {
        (self.manifest, self.look, self.outlook, self.isCancelled) = (manifest, look, outlook, isCancelled)
    }

    /// - Parameters:
    ///   - roots: folders, files, patterns.
    ///   - lists: files with a path on each line.
    ///   - earlier: the lines that an earlier call has written, which are not looked at again; nil for none.
    ///   - print: takes each line.
    /// - Throws: `cancelled` between two stores; what `print` throws.
    package func run(
        _ roots: [String], lists: [String] = [], continuing earlier: String? = nil,
        print: @escaping ([UInt8]) throws -> Void
    ) throws -> Summary {
        let start = POSIXSystem().monotonicNanoseconds
        var (summary, seen) = (Summary(), Set<FileIdentity>())
        var writer = try FleetManifest.Writer(manifest, print: print)
        if let earlier {
            try FleetManifest.forEachLine(of: earlier) { line in
                let json = try JSONValue(parsing: Array(line), place: earlier, code: .metadataInvalid)
                guard let entry = FleetEntry(json) else { return }
                seen.insert(entry.identity)
                writer.skip(entry, line)
            }
            summary.resumed = writer.count
        }
        var batch: [StoreFinder.Candidate] = []
        func flush() throws {
            if isCancelled() { throw Self.cancelled }
            for (candidate, found) in zip(batch, Self.looks(look, at: batch)) {
                summary.files += 1
                switch found {
                case .success(nil): continue
                case .success(let entry?):
                    guard seen.insert(entry.identity).inserted else {
                        summary.repeated += 1
                        continue
                    }
                    try writer.add(entry)
                case .failure(let error): summary.miss(error, candidate.path)
                }
            }
            batch.removeAll(keepingCapacity: true)
        }
        var missed: [MigrationError] = []
        let finder = StoreFinder { candidate in
            batch.append(candidate)
            if batch.count == Self.batchSize { try flush() }
        } miss: {
            missed.append($0)
        }
        try finder.find(roots)
        for list in lists { try finder.find(listed: list) }
        try flush()
        for error in missed { summary.miss(error, error.place) }
        summary.groups = try writer.end(outlook)
        summary.stores = writer.count
        // Those of the earlier call were met again.
        summary.repeated -= min(summary.resumed, summary.repeated)
        summary.seconds = POSIXSystem().seconds(since: start)
        return summary
    }

    private static let batchSize = 1_024

    /// Looks at all of them, on all cores.
    private static func looks(
        _ look: StoreLook, at candidates: [StoreFinder.Candidate]
    ) -> [Result<FleetEntry?, MigrationError>] {
        let results = Mutex<[Result<FleetEntry?, MigrationError>]>(
            Array(repeating: .success(nil), count: candidates.count))
        let share = 16
        JoinedThread.iterate((candidates.count + share - 1) / share) { part in
            let range = part * share..<min((part + 1) * share, candidates.count)
            let found = range.map { place -> Result<FleetEntry?, MigrationError> in
                do {
                    return .success(try look.look(at: candidates[place].path, name: candidates[place].name))
                } catch {
                    return .failure(error as? MigrationError ?? .unknown(error))
                }
            }
            results.withLock { all in for (place, result) in zip(range, found) { all[place] = result } }
        }
        return results.withLock { $0 }
    }

    private static var cancelled: MigrationError {
        MigrationError(
            .cancelled, "The plan was stopped.", remedy: "With -o, the same command continues where it was stopped.")
    }
}

extension FleetPlan.Summary {
    fileprivate mutating func miss(_ error: MigrationError, _ path: String) {
        missedCount += 1
        var error = error
        if error.place.isEmpty { error.place = path }
        if missed.count < 20 { missed.append(error) }
    }
}

extension MigrationError {
    package static func unknown(_ error: any Error) -> MigrationError {
        MigrationError(
            .internal, "Moult failed in an unknown way.", remedy: "Please report this.",
            cause: String(describing: error))
    }
}
