import MoultSQLite
import MoultSystem

/// One run with one fault, and everything that must be true after it.
package struct FaultTrial {
    private let ground: FaultGround
    private let fault: Fault

    package init(_ ground: FaultGround, _ fault: Fault) {
        (self.ground, self.fault) = (ground, fault)
    }

    package func run() throws -> Aftermath.Outcome {
        try ground.reset()
        // A year back, or ten ahead.
        let jump: Int64 = fault.seed % 2 == 0 ? -31_536_000 : 315_360_000
        let clock = fault.kind == .clock ? TrialClock(jump: (look: fault.number, seconds: jump)) : TrialClock()
        let disk = try ground.disk(fault, clock: clock)
        if fault.kind.isOfMemory {
            AllocationFaults.begin(failing: fault.number, staysOut: fault.kind == .memoryOn)
        }
        let result = try disk.run { try ground.faultCase.run(ground.store, $0) }
        let allocations = fault.kind.isOfMemory ? AllocationFaults.end() : 0
        let hasMet =
            fault.kind.isOfMemory
            ? allocations >= fault.number : fault.kind == .clock ? clock.count >= fault.number : disk.hasMet
        guard hasMet else { return .untouched }
        if disk.filesLeftOpen != 0 { return .broken("\(disk.filesLeftOpen) files stay open") }
        let ending = fault.kind.isDeath ? .died : Aftermath.Ending(result)
        return try Aftermath(ground, faultPersists: fault.kind.persists).outcome(of: ending)
    }
}
