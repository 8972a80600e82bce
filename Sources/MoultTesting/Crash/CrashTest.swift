import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// A person's own migration with every kind of fault at its moments, on a copy of a store in a scratch folder.
///
/// After each fault the store must be the old one or the new one, heal, and become the new one when the work is begun
/// again. The code of an app runs in each trial, with all that it does outside the store; the values that it rebuilds
/// in each run, such as dates, are found by two runs and are not compared.
package struct CrashTest: Sendable {
    private let faultCase: FaultCase

    /// - Parameter run: the whole way of a program, from looking at the store to its end.
    package init(of store: String, run: @escaping @Sendable (_ store: String, _ system: any System) throws -> Void) {
        let name = Path.name(of: store)
        var faultCase = FaultCase(name, storeName: name, prepare: { try StoreCopy.make(of: store, at: $0) }, run: run)
        faultCase.hasCodeOfAnApp = true
        self.faultCase = faultCase
    }

    /// - Parameters:
    ///   - scratch: a folder for the copies; the system's temporary folder when nil.
    ///   - seconds: for all kinds of fault together; moments that are left over are not tried, and the rows say so.
    ///   - countsAllocations: whether SQLite's allocations are to fail too, where that is possible: nothing else may use
    ///     SQLite in this process.
    ///   - isWanted: asked before each kind of fault.
    ///   - report: told each row when it is complete.
    /// - Throws: what an undisturbed run throws.
    package func run(
        scratch: String? = nil, seconds: Double, countsAllocations: Bool = true, isWanted: () -> Bool = { true },
        report: (FaultRow) -> Void = { _ in }
    ) throws -> FaultMatrix {
        // Before SQLite is used for the first time, otherwise there are no trials without memory.
        let countsAllocations = countsAllocations && AllocationFaults.isInstalled
        let system = POSIXSystem()
        let temporary = try TemporaryFolder("test", in: scratch, system)
        let folder = temporary.path
        defer { temporary.remove() }
        let ground = try FaultGround(faultCase, in: system.resolve(folder), countsAllocations: countsAllocations)
        let kinds = Fault.Kind.allCases.filter { countsAllocations || !$0.isOfMemory }
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
