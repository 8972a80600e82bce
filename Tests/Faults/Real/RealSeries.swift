import Foundation
import MoultBasics
import MoultModel
import MoultTesting
import TestSupport

/// The trials of one kind on the real machine: a process that does the work, and something that befalls it.
final class RealSeries: TrialSeries {
    let ground: FaultFixture
    private let kind: RealKind
    private let seeds: UInt64
    /// The volume of a trial that fills one.
    private let volume: SmallVolume?
    /// Seconds that the work takes undisturbed, once it has begun.
    private(set) var whole = 0.0

    /// Nil, said aloud, where this machine or this user cannot do it.
    init?(_ kind: RealKind, _ faultCase: FaultCase, in folder: String, seeds: UInt64) throws {
        (self.kind, self.seeds) = (kind, seeds)
        volume = kind == .full ? try SmallVolume(kilobytes: 65_536) : nil
        if kind == .full, volume == nil { return nil }
        let place = try POSIXSystem().resolve(volume?.path ?? folder) + "/\(kind)"
        try POSIXSystem().makeFolder(place, .byUmask)
        ground = try FaultFixture(faultCase, in: place, isReal: true)
        whole = try (0..<3).map { _ in try time() }.min() ?? 0
    }

    var name: String { "\(ground.faultCase.name) × \(kind.rawValue)" }

    private func time() throws -> Double {
        try ground.reset()
        let worker = try Worker(ground)
        let start = Date()
        guard case .succeeded = try worker.end() else { throw Worker.Failure(code: 1, words: "\(name) does not run") }
        return Date().timeIntervalSince(start)
    }

    func run(after earlier: FaultRow?, seconds: Double) throws -> FaultRow {
        var row = earlier ?? FaultRow(faultCase: ground.faultCase.name, fault: kind.rawValue)
        row.moments = kind.count(seeds)
        let (start, known) = (Date(), row.taken)
        for number in (1...row.moments).dropFirst(known) {
            if row.taken > known, Date().timeIntervalSince(start) > seconds { break }
            let outcome = try trial(at: number, seed: 0)
            row.add(outcome, at: number, seed: 0, last: ground.last)
            if row.broken.count >= 3 { break }
            if kind == .full, outcome == .untouched {
                // More room than enough is enough again.
                row.moments = number
                break
            }
        }
        row.seconds += Date().timeIntervalSince(start)
        return row
    }

    func trial(at number: Int, seed: UInt64) throws -> RecoveryCheck.Outcome {
        try ground.reset()
        var luck = SeededGenerator(seed: seed << 32 + UInt64(number))
        // Evenly over the work, and a little beyond.
        let delay = Double.random(in: 0..<1.05, using: &luck) * whole
        do {
            switch kind {
            case .killed: return try kill(after: delay)
            case .stopped: return try stop(after: delay)
            case .together: return try together()
            case .neighbour: return try neighbour(number)
            case .full: return try fill(number)
            case .readOnly: return try turnReadOnly(after: delay)
            }
        } catch let broken as Broken {
            return .broken(broken.words)
        }
    }

    /// A promise that was not kept, in words.
    struct Broken: Error { let words: String }

    func sleep(_ seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }

    /// The room that is left is `room` bytes, for the time of the call.
    func withRoom<Result>(_ room: Int, _ body: () throws -> Result) throws -> Result {
        guard let volume else { return try body() }
        return try volume.withRoom(room, body)
    }
}
