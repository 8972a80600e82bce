import Foundation
import TestSupport
import Testing

/// The program that measures Moult: a figure that misses its bound ends it with 1.
struct BenchmarkBoundTests {
    private let folder: ScratchFolder
    private let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("moult-benchmarks").path

    init() throws { folder = try ScratchFolder() }

    private func write(_ text: String, to name: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A file of results with one figure of the group "chain", of a million rows.
    private func results(_ ours: [Double], isSmall: Bool = false) throws -> String {
        try write(
            """
            {"format": 2, "machine": "a machine", "sqlite": "3.40.1", "small": \(isSmall), "figures": [
                {"group": "chain", "name": "10 versions composed / first to last directly", "rows": 1000000,
                "date": "2026-11-30", "unit": "seconds", "ours": \(ours), "theirs": \(ours.map { _ in 1 })}]}
            """, to: "results.json")
    }

    private func bounds(_ entries: String...) throws -> String {
        try write(#"{"format": 1, "bounds": [\#(entries.joined(separator: ","))]}"#, to: "bounds.json")
    }

    private func judge(_ results: String, by bounds: String) throws -> (exit: Int32, output: String) {
        try ChildProcess.run(program, ["--judge", "--results", results, "--bounds", bounds])
    }

    private static let kept = #"{"group": "chain", "figure": "*", "bound": "<= 1.50", "goal": "<= 1.50"}"#
    private static let missed = #"{"group": "chain", "figure": "*", "bound": "<= 1.05", "goal": "<= 1.05"}"#

    @Test func `A kept bound ends with 0, a missed one with 1 and the way to measure it again`() throws {
        let results = try results([1.4, 1.5, 1.6])
        let good = try judge(results, by: bounds(Self.kept))
        #expect(good.exit == 0 && good.output.hasSuffix("\n1 of 1 bounds kept.\n"), "\(good.output)")
        let bad = try judge(results, by: bounds(Self.missed))
        let expected = """

            0 of 1 bounds kept.
            MISSED: chain: 10 versions composed / first to last directly, 1,000,000 rows
              measured 1.50 (1.40-1.60), bound <= 1.05
              again: Benchmarks/run --only chain --rows 1000000

            """
        #expect(bad.exit == 1 && bad.output.hasSuffix(expected), "\(bad.output)")
    }

    @Test func `The median decides, and of a small run the best round and the allowed spread`() throws {
        let noisy = [1.0, 1.2, 1.3]
        #expect(try judge(results(noisy), by: bounds(Self.missed)).exit == 1)
        func small(_ bound: String, _ spread: String) throws -> String {
            try bounds(
                """
                {"group": "chain", "figure": "*", "rows": "small", "bound": "\(bound)", "goal": "\(bound)", \
                "spread": \(spread)}
                """)
        }
        #expect(try judge(results(noisy, isSmall: true), by: small("<= 1.05", "1")).exit == 0)
        let slow = try results([2.0, 2.1, 2.2], isSmall: true)
        #expect(try judge(slow, by: small("<= 1.05", "1.5")).exit == 1)
        #expect(try judge(slow, by: small("<= 1.05", "2")).exit == 0)
    }

    @Test func `A bound in a unit of time is as many times wider as the machine is slower`() throws {
        func exit(_ value: Double, _ unit: String, _ name: String, pace: Double) throws -> Int32 {
            let results = try write(
                """
                {"format": 2, "machine": "a machine", "sqlite": "3.40.1", "small": false, "figures": [
                    {"group": "command", "name": "status", "rows": null, "date": "2026-11-30", "unit": "\(name)",
                    "pace": \(pace), "ours": [\(value)], "theirs": []}]}
                """, to: "results.json")
            let bound = "\"bound\": \"<= 10 \(unit)\", \"goal\": \"<= 10 \(unit)\""
            return try judge(results, by: bounds("{\"group\": \"command\", \"figure\": \"*\", \(bound)}")).exit
        }
        #expect(try exit(19, "ms", "milliseconds", pace: 1) == 1)
        #expect(try exit(19, "ms", "milliseconds", pace: 2) == 0)
        #expect(try exit(21, "s", "seconds", pace: 2) == 1)
        #expect(try exit(19, "MiB", "mebibytes", pace: 2) == 1)
    }

    @Test func `The most precise bound holds`() throws {
        let results = try results([1.4])
        let exact = #"{"group": "chain", "figure": "10 versions composed / first to last directly", "#
        let rows = #""rows": 1000000, "bound": "none", "goal": "none"}"#
        let any = #""bound": "<= 1.05", "goal": "<= 1.05"}"#
        #expect(try judge(results, by: bounds(Self.kept, exact + any)).exit == 1)
        #expect(try judge(results, by: bounds(Self.kept, exact + any, exact + rows)).exit == 0)
        let other = #""rows": 10000, "bound": "none", "goal": "none"}"#
        #expect(try judge(results, by: bounds(Self.kept, exact + any, exact + other)).exit == 1)
    }

    @Test func `A figure without a bound fails, and so does a bound of another unit`() throws {
        let results = try results([1.4])
        let none = try judge(results, by: bounds())
        #expect(none.exit == 1 && none.output.contains("NO BOUND: chain: 10 versions composed"), "\(none.output)")
        let unit = try judge(
            results, by: bounds(#"{"group": "chain", "figure": "*", "bound": "<= 2 s", "goal": "<= 2 s"}"#))
        #expect(unit.exit == 1 && unit.output.contains("Its bound <= 2 s must be a ratio."), "\(unit.output)")
    }

    @Test func `A bound that is not the goal needs a reason`() throws {
        let results = try results([1.4])
        func run(_ end: String) throws -> (exit: Int32, output: String) {
            let entry = #"{"group": "chain", "figure": "*", "bound": "<= 1.50", "goal": "<= 1.05""#
            return try judge(results, by: bounds(entry + end))
        }
        for end in ["}", #", "reason": " "}"#] {
            let refused = try run(end)
            #expect(refused.exit == 2 && refused.output.contains("is not its goal, and no reason"), "\(refused.output)")
        }
        #expect(try run(#", "reason": "missed: it was busy"}"#).exit == 0)
        #expect(try judge(results, by: folder.path + "/missing.json").exit == 2)
        #expect(try ChildProcess.run(program, ["--jugde"]).exit == 2)
    }

    @Test func `The committed bounds are read`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let committed = root.appendingPathComponent("Benchmarks/bounds.json").path
        let judged = try judge(results([1.0]), by: committed)
        #expect(judged.exit == 0 && judged.output.contains("1 of 1 bounds kept."), "\(judged.output)")
        #expect(try judge(results([2.0]), by: committed).exit == 1)
    }

    @Test func `A run that measures ends with 1 for a bound that it cannot keep`() throws {
        func run(_ bound: String) throws -> (exit: Int32, output: String) {
            let bounds = try bounds(
                #"{"group": "opening", "figure": "*", "bound": "\#(bound)", "goal": "\#(bound)"}"#)
            return try ChildProcess.run(
                program,
                [
                    "--rows", "100", "--rounds", "1", "--no-large", "--only", "opening", "--bounds", bounds,
                    "--results", folder.path + "/measured.json", "--scratch", folder.path,
                ], environment: ["MOULT_CORPUS": folder.path])
        }
        let missed = try run("<= 0 ms")
        #expect(missed.exit == 1, "\(missed.output)")
        #expect(missed.output.contains("MISSED: opening: opening a current store of 1 entity"), "\(missed.output)")
        let kept = try run("<= 100000 ms")
        #expect(kept.exit == 0, "\(kept.output)")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/measured.json"))
    }

    @Test func `The page has the measured numbers between its marks, and keeps what was not measured`() throws {
        let results = try write(
            """
            {"format": 2, "machine": "a machine", "sqlite": "3.40.1", "small": false, "figures": [
                {"group": "export", "name": "export as CSV / .mode csv (speed)", "rows": 10000000,
                "date": "2026-11-30", "unit": "seconds", "isSpeed": true, "ours": [50, 40], "theirs": [85, 60],
                "details": {"processor": [1.5, 1.25], "peak": [30.25, 31]}}]}
            """, to: "results.json")
        let page = { (measured: String, exports: String) in
            """
            # Performance

            <!-- Benchmarks/run --document writes the numbers. -->
            \(measured)

            - [exports](Tables/exports.csv): \(exports)
            - [growth](Tables/growth.csv): as it was.
            <!-- End of the numbers. -->

            - [exports](Tables/exports.csv): outside.
            """
        }
        let path = try write(page("Measured long ago.", "nothing."), to: "Performance.md")
        try FileManager.default.createDirectory(atPath: folder.path + "/Tables", withIntermediateDirectories: true)
        let bounds = try bounds(#"{"group": "export", "figure": "*", "bound": ">= 0.80", "goal": ">= 0.80"}"#)
        let written = try ChildProcess.run(
            program, ["--document", "--results", results, "--bounds", bounds, "--documentation", folder.path])
        #expect(written.exit == 0, "\(written.output)")
        let expected = page(
            "Measured on 2026-11-30 with SQLite 3.40.1; a machine.",
            "10,000,000 rows as CSV, 1.5 to 1.7 times as fast as the sqlite3 shell, in 31 MiB.")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Tables") == ["exports.csv"])
        #expect(
            try String(contentsOfFile: folder.path + "/Tables/exports.csv", encoding: .utf8) == """
                round,Moult,shell,speed,CPU of the shell / of Moult,peak memory of Moult
                1,50.0 s,85.0 s,1.70,1.50,30.3 MiB
                2,40.0 s,60.0 s,1.50,1.25,31.0 MiB

                """)
    }
}
