import FaultCases
import Foundation
import MoultBasics
import TestSupport
import Testing

@testable import MoultTesting

/// The program that tries every kind of migration with every kind of fault.
struct CampaignTests {  // tier: long
    private let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("moult-faults").path

    private func run(_ arguments: [String], in folder: ScratchFolder) throws -> (exit: Int32, output: String) {
        try ChildProcess.run(program, ["--case", "=rolled back"] + arguments, environment: ["TMPDIR": folder.path])
    }

    @Test func `what was tried whole is not tried again, and no folder is left`() throws {
        let (scratch, results) = (try ScratchFolder(), try ScratchFolder())
        let arguments = ["--fault", "=clock jumps", "--seeds", "1", "--results", results.path]
        let first = try run(arguments, in: scratch)
        #expect(first.exit == 0 && first.output.contains("× clock jumps: "), "\(first.output)")
        let second = try run(arguments, in: scratch)
        #expect(second.exit == 0 && second.output.contains("1 series were tried before"), "\(second.output)")
        #expect(!second.output.contains("× clock jumps: "))
        #expect(first.output.split(separator: "\n").last == second.output.split(separator: "\n").last)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test func `a sample goes on where the last one ended`() throws {
        let (scratch, results) = (try ScratchFolder(), try ScratchFolder())
        let arguments = ["--fault", "=clock jumps", "--seeds", "1"]
        let whole = try run(arguments, in: scratch).output.split(separator: "\n")
        let count = try #require(whole.first?.split(separator: " ").compactMap { Int($0) }.first)
        for tried in 1...2 {
            let sample = try run(arguments + ["--results", results.path, "--seconds", "0"], in: scratch).output
            #expect(sample.contains("× clock jumps: \(tried) of \(count), "), "\(sample)")
        }
        let rest = try run(arguments + ["--results", results.path], in: scratch).output.split(separator: "\n")
        #expect(rest.first?.contains("× clock jumps: \(count) of \(count), 0 untouched") == true, "\(rest)")
        #expect(rest.dropFirst() == whole.dropFirst())
    }

    @Test func `a campaign that is interrupted stops, and the next one removes what a killed one left`() throws {
        let scratch = try ScratchFolder()
        let arguments = ["--fault", "killed", "--seeds", "400"]
        func files() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path)) }
        for signal in [SIGKILL, SIGTERM] {
            let left = try files()
            let campaign = try ChildProcess(
                program, ["--case", "=rolled back"] + arguments, output: .files(output: "/dev/null", errors: nil),
                environment: ["TMPDIR": scratch.path])
            // It has begun when it makes a folder of its own.
            while campaign.isRunning, try files().subtracting(left).isEmpty { usleep(10_000) }
            usleep(300_000)
            #expect(campaign.isRunning)
            kill(campaign.identifier, signal)
            #expect(campaign.wait() == (signal == SIGKILL ? 128 + SIGKILL : 130))
        }
        #expect(try files().isEmpty)
    }

    @Test func `real trials of each kind keep what was promised`() throws {
        let scratch = try ScratchFolder()
        for kind in ["killed", "stopped", "three", "open in", "full", "read-only"] {
            let one = try run(["--fault", kind, "--at", "3", "--seed", "5"], in: scratch)
            #expect(one.exit == 0 && !one.output.contains("broken"), "\(one.output)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    /// The same disk is looked at once; that must tell nothing else than to look each time.
    @Test func `a disk that was seen before is judged as if it were looked at again`() throws {
        let folder = try ScratchFolder()
        let faultCase = try #require(try FaultCases.all.first { $0.name == "rolled back" })
        let ground = try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path))
        let faults = stride(from: 1, to: ground.operations.count, by: 5).map { Fault(.inputOutputOnce, at: $0) }
        let together = try faults.map { try FaultTrial(ground, $0).run() }
        #expect(ground.outcomes.count < faults.count)
        let alone = try faults.map { fault in
            ground.outcomes = [:]
            return try FaultTrial(ground, fault).run()
        }
        #expect(together == alone)
        #expect(Set(alone).count > 1)
    }
}
