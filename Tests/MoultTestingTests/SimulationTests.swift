import Foundation
import TestSupport
import Testing

/// Lives of stores from seeds: the program that lives them, and the lives that were kept because they failed once.
struct SimulationTests {  // tier: long
    private static let kept = packageRoot.appendingPathComponent("Tests/Simulation/Kept").path
    private static let files = ((try? FileManager.default.contentsOfDirectory(atPath: kept)) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    private func run(_ arguments: [String], in folder: ScratchFolder) throws -> (exit: Int32, output: String) {
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("moult-simulate").path
        return try ChildProcess.run(program, arguments, environment: ["TMPDIR": folder.path])
    }

    @Test func `a seed is the same life each time, call by call`() throws {
        let scratch = try ScratchFolder()
        let lives = try (0..<2).map { _ in
            let (exit, output) = try run(["--seeds", "3-4", "--steps", "25", "--trace", "--shrink", "0"], in: scratch)
            #expect(exit == 0, "\(output)")
            return output.split(separator: "\n").dropLast()
        }
        #expect(lives[0].count > 50)
        #expect(lives[0] == lives[1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test func `stripes share the seeds, and a ledger leaves out those that it has`() throws {
        let (scratch, folder) = (try ScratchFolder(), try ScratchFolder())
        let ledger = "\(folder.path)/ledger"
        let asked = ["--seeds", "1-4", "--steps", "3", "--ledger", ledger, "--commit"]
        for stripe in ["1/2", "2/2"] {
            let (exit, output) = try run(asked + ["one", "--stripe", stripe], in: scratch)
            #expect(exit == 0 && output.contains(" 2 lives, 6 steps"), "\(output)")
        }
        let lines = try String(contentsOfFile: ledger, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.sorted() == (1...4).map { "one usual \($0) 3 holds" })
        #expect(try run(asked + ["one"], in: scratch).output.contains("simulate: 0 lives"))
        #expect(try run(asked + ["two"], in: scratch).output.contains(" 4 lives"))
    }

    @Test func `lives were kept`() { #expect(Self.files.count > 20) }

    @Test(arguments: files)
    func `a life that failed once holds`(file: String) throws {
        let scratch = try ScratchFolder()
        let (exit, output) = try run(["--replay", "\(Self.kept)/\(file)"], in: scratch)
        #expect(exit == 0 && output.contains("\(file): holds"), "\(output)")
    }

    /// The simulator can fail: what is wrong on purpose is found, and the life is cut down to a few steps.
    @Test(arguments: ["wrongSave", "lyingDisk", "lostRow", "lostValue"])
    func `a fault that is planted is found within forty seeds, and cut down`(plant: String) throws {
        let (scratch, folder) = (try ScratchFolder(), try ScratchFolder())
        let arguments = [
            "--seeds", "1-40", "--plant", plant, "--first", "yes", "--shrink", "20", "--keep", folder.path,
        ]
        let (exit, output) = try run(arguments, in: scratch)
        #expect(exit == 1, "\(output)")
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first, "\(output)")
        let again = try run(["--replay", "\(folder.path)/\(file)"], in: scratch)
        #expect(again.exit == 1 && again.output.contains("FAILS"), "\(again.output)")
    }
}
