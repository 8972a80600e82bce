import FaultCases
import Foundation
import MoultSystem
import MoultTesting

/// One line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// All series of trials that the options ask for.
final class FaultCampaign {
    private let folder: String
    private let grounds: [FaultGround]
    private let kinds: [Fault.Kind]
    private let seeds: [UInt64]
    private let seconds: Double

    init(_ options: FaultOptions, countsAllocations: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("moult-faults-\(getpid())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        folder = try POSIXSystem().resolve(path)
        kinds = Fault.Kind.allCases.filter { options.takes($0) && (countsAllocations || !$0.isOfMemory) }
        seeds = Array(0..<options.seeds)
        seconds = options.seconds
        var made: [FaultGround] = []
        for (number, faultCase) in try FaultCases.all.enumerated() where options.takes(faultCase) {
            let own = folder + "/\(number)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            let ground = try FaultGround(faultCase, in: own, countsAllocations: countsAllocations)
            let calls = "\(ground.operations.count) calls, \(ground.allocations) allocations"
            say("\(faultCase.name): \(calls), \(ground.clockLooks) looks at the clock")
            made.append(ground)
        }
        if !countsAllocations { say("SKIPPED: SQLite's allocations cannot be counted here") }
        grounds = made
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func run() throws -> FaultMatrix {
        var rows: [FaultRow] = []
        for ground in grounds {
            for kind in kinds {
                let row = try FaultSeries(ground, kind, seeds: seeds).run(seconds: seconds)
                tell(row)
                rows.append(row)
            }
        }
        return FaultMatrix(rows)
    }

    private func tell(_ row: FaultRow) {
        let count = "\(row.tried) of \(row.moments), \(row.untouched) untouched"
        let ends = "\(row.old) old, \(row.new) new, \(row.broken.count) broken, \(Int(row.seconds)) s"
        say("\(row.faultCase) × \(row.kind.rawValue): \(count), \(ends)")
        for words in row.broken { say("  BROKEN: \(words)") }
    }

    /// - Returns: whether everything was kept.
    func tryOne(_ fault: (at: Int, seed: UInt64)) throws -> Bool {
        var isKept = true
        for ground in grounds {
            for kind in kinds {
                let outcome = try FaultTrial(ground, Fault(kind, at: fault.at, seed: fault.seed)).run()
                say("\(ground.faultCase.name) × \(kind.rawValue) at \(fault.at): \(outcome)")
                if case .broken = outcome { isKept = false }
            }
        }
        return isKept
    }
}
