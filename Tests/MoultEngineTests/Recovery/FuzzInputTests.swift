import Foundation
import TestSupport
import Testing

/// The fuzz targets without the mutations: what they begin with, and every input that a fault was found by.
struct FuzzInputTests {  // tier: long
    @Test func `every reader takes its seeds, and what once broke it`() throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let fuzz = try ChildProcess.run(folder.appendingPathComponent("moult-fuzz").path, ["--seeds"])
        #expect(fuzz.exit == 0, "\(fuzz.output)")
        let counts = fuzz.output.split(separator: "\n").compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts.count >= 23 && counts.allSatisfy { $0 > 0 }, "\(fuzz.output)")
    }
}
