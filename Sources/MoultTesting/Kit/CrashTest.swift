import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

/// A user's own migration with every kind of fault at every moment, on a copy of a store in a scratch folder.
///
/// After each fault the store must be the old one or the new one, recover, and become the new one when the work is
/// repeated. The app's code runs in each trial, with its effects outside the store. Values that it makes anew in each
/// run, such as dates, are found by two runs and are not compared.
package struct CrashTest: Sendable {
    private let faultCase: FaultCase

    /// - Parameter run: everything that a program does, from examining the store to the end.
    package init(of store: String, run: @escaping @Sendable (_ store: String, _ system: any System) throws -> Void) {
        let name = Path.name(of: store)
        var faultCase = FaultCase(name, storeName: name, prepare: { try StoreCopy.make(of: store, at: $0) }, run: run)
        faultCase.hasCodeOfAnApp = true
        self.faultCase = faultCase
    }

    /// - Parameters:
    ///   - scratch: a folder for the copies; nil for the system's temporary folder.
    ///   - seconds: the time for all kinds of fault together; the rows show which moments were not tried.
    ///   - countsAllocations: whether SQLite's allocations should fail too, where that is possible: nothing else may
    ///     use SQLite in this process.
    ///   - isWanted: called before each kind of fault.
    ///   - report: called with each row when it is complete.
    /// - Throws: the errors of an undisturbed run.
    package func run(
        scratch: String? = nil, seconds: Double, countsAllocations: Bool = true, isWanted: () -> Bool = { true },
        report: (FaultRow) -> Void = { _ in }
    ) throws -> FaultMatrix {
        // Install before SQLite is first used; afterwards there can be no trials without memory.
        let countsAllocations = countsAllocations && AllocationFaults.isInstalled
        let system = POSIXSystem()
        let temporary = try TemporaryFolder("test", in: scratch, system)
        let folder = temporary.path
        defer { temporary.remove() }
        let ground = try FaultFixture(faultCase, in: system.resolve(folder), countsAllocations: countsAllocations)
        let kinds = Fault.Kind.tried.filter { countsAllocations || !$0.isOfMemory }
        var matrix = FaultMatrix()
        matrix.changing = ground.changing
        for (number, kind) in kinds.enumerated() where isWanted() {
            let used = matrix.rows.reduce(0) { $0 + $1.seconds }
            let share = max(seconds - used, 0) / Double(kinds.count - number)
            let row = try FaultSeries(ground, kind, seeds: [0, 1]).run(seconds: share)
            matrix.rows.append(row)
            report(row)
        }
        return matrix
    }
}

/// A copy of a user's store for trials; the store itself and all files next to it are not changed.
struct StoreCopy {
    /// Copies the pages with SQLite, and the external data.
    static func make(of store: String, at copy: String) throws {
        let system = POSIXSystem()
        try ReadOnlyStore.read(store, system: system) { probe in
            _ = try system.remove(copy)
            try system.makeFile(copy, .own)
            let destination = try Connection(copy, mode: .readWrite)
            defer { destination.close() }
            try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try Backup(from: probe.connection, to: destination).run(stepPages: -1) { _, _ in true }
            let source = ExternalStorage(store: probe.path).supportFolder
            let support = ExternalStorage(store: copy).supportFolder
            if try system.exists(source) { try system.copyTree(source, to: support) }
        }
    }
}
