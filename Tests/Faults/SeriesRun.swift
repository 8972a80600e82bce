import FaultCases
import Foundation
import MoultBasics
import MoultTesting

/// The part of this process in a campaign: series of trials, one after another, in a scratch folder of its own.
struct SeriesRun {
    private let options: FaultOptions
    private let kinds: [TrialKind]
    private let countsAllocations: Bool

    init(_ options: FaultOptions, countsAllocations: Bool) {
        self.options = options
        self.countsAllocations = countsAllocations
        kinds = TrialKind.all.filter { options.takes($0) && (countsAllocations || !$0.isOfMemory) }
    }

    /// Runs the one series that is asked for, from where the row in the file ends, and puts its row there.
    func writeRow(to path: String) throws {
        Self.endWithCampaign()
        let earlier = FaultRow(keptAt: path)
        for row in try forEachSeries({ try $0.run(after: earlier, seconds: options.seconds) }) {
            try row.keep(at: path)
        }
    }

    /// Ends this process when the one that has started it is no more, and its end of the pipe with it.
    private static func endWithCampaign() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            _exit(1)
        }
    }

    /// Tries one moment of each series that is asked for.
    ///
    /// - Returns: whether everything was kept.
    func tryOne(at number: Int, seed: UInt64) throws -> Bool {
        try forEachSeries { series in
            let outcome = try series.trial(at: number, seed: seed)
            say("\(series.name) at \(number): \(outcome)")
            if case .broken = outcome { return false }
            return true
        }.allSatisfy { $0 }
    }

    private func forEachSeries<Result>(_ body: (any TrialSeries) throws -> Result) throws -> [Result] {
        try ScratchTree.with("moult-series") { scratch in
            var results: [Result] = []
            for (number, faultCase) in try FaultCases.all.enumerated() where options.takes(faultCase) {
                for isReal in [false, true] {
                    let own = kinds.filter { $0.isReal == isReal }
                    if own.isEmpty { continue }
                    let folder = "\(scratch)/\(number)\(isReal ? "r" : "")"
                    results += try run(own, of: faultCase, in: folder, body)
                }
            }
            return results
        }
    }

    private func run<Result>(
        _ kinds: [TrialKind], of faultCase: FaultCase, in folder: String, _ body: (any TrialSeries) throws -> Result
    ) throws -> [Result] {
        try POSIXSystem().makeFolder(folder, .byUmask)
        let isReal = kinds.first?.isReal == true
        let counts = countsAllocations && kinds.contains { $0.isOfMemory }
        let ground = try isReal ? nil : FaultFixture(faultCase, in: folder, countsAllocations: counts)
        return try kinds.filter { $0.befalls(faultCase) }.compactMap { kind in
            switch kind {
            case .fault(let kind):
                guard let ground else { return nil }
                return try body(FaultSeries(ground, kind, seeds: Array(0..<options.seeds)))
            case .real(let kind):
                return try RealSeries(kind, faultCase, in: folder, seeds: options.seeds).map { try body($0) }
            }
        }
    }
}
