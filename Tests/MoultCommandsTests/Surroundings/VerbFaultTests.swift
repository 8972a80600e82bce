import Foundation
import TestSupport
import Testing

/// Every verb that writes, when its process or its disk ends at any call that changes a file.
///
/// A Python program judges what is left, with the sqlite3 shell and byte by byte (`Tests/Witness/verbs.py`). A library that
/// is loaded before the C library counts the calls (`Tests/Witness/faults.c`).
@Suite("Verbs whose process or disk ends")
struct VerbFaultTests {  // tier: long
    @Test func `leave nothing that is not whole, and the same command finishes the work`() throws {
        let folder = try ScratchFolder()
        let witness = packageRoot.appendingPathComponent("Tests/Witness").path
        let library = folder.path + "/faults.so"
        let compiled = try ChildProcess.run("clang", ["-shared", "-fPIC", "-O1", "-o", library, witness + "/faults.c"])
        try #require(compiled.exit == 0, "\(compiled.output)")
        let examples = VerbExample.all.filter { !$0.isTrial } + Self.others
        let list: [[String: any Sendable]] = examples.map { example in
            [
                "command": example.command, "preparation": example.preparation,
                "isFromNoStore": example.isFromNoStore, "atomicFolders": example.wholeFolders,
            ]
        }
        let document = try JSONSerialization.data(
            withJSONObject: ["examplesFolder": Tool.examples, "examples": list])
        try document.write(to: URL(fileURLWithPath: folder.path + "/examples.json"))
        let bounds =
            Tier.faults.isAsked
            ? ["--seconds", "\(min(Tier.faults.seconds, 1e9))", "--each", Tier.faults.isBounded ? "2" : "0"]
            : ["--each", "1", "--kinds", "kill,ENOSPC+"]
        let seed = Tier.faults.isBounded ? "\(SeededGenerator.seedOfRun % 1000)" : "0"
        let run = try Tool(folder: folder).run(
            "/usr/bin/env",
            ["python3", witness + "/verbs.py", "--moult", Tool.path, "--shim", library, "--seed", seed] + bounds
                + ["examples.json"])
        #expect(run.exit == 0, "seed \(seed)\n\(run.output)\n\(run.errors)")
        print("VERBS: \(run.output.split(separator: "\n").last ?? "")")
    }

    /// What replaces something that is there.
    private static let others = [
        VerbExample(
            verb: "decompile", command: "moult decompile forum.sqlite -o Own.xcdatamodel --replace",
            before: ["moult decompile forum.sqlite -o Own.xcdatamodel"]),
        VerbExample(
            verb: "compile", command: "moult compile Forum.xcdatamodeld -o Forum.momd",
            before: ["moult compile Forum.xcdatamodeld -o Forum.momd"]),
        VerbExample(verb: "export", command: "moult export forum.sqlite --format jsonl -o jsonl"),
    ]
}

extension VerbExample {
    /// Folders that a command makes as a whole or not at all.
    fileprivate var wholeFolders: [String] {
        ["csv", "jsonl", "Resources", "Build/Forum.momd", "Forum.momd", "Forum.xcdatamodel", "Own.xcdatamodel"]
            + ["Sources/forum.xcdatamodel", "Sources", "Tests", "Fixtures", "schema", "man1"]
    }
}
