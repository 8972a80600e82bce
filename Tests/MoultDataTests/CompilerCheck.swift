import Foundation
import TestSupport

/// What the compiler says of a source that imports MoultData, checked against the modules that these tests run with.
struct CompilerCheck {
    /// The messages, each once, without their places.
    let errors: [String]
    let warnings: [String]

    /// - Parameter flags: such as `-swift-version 5`.
    init(_ source: String, _ flags: String...) throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/App.swift"
        try Data(("import MoultData\n" + source).utf8).write(to: URL(fileURLWithPath: file))
        let built = ExampleRun.tools
        let sources = packageRoot.appendingPathComponent("Sources").path
        let maps = ["CSQLite", "CZlib", "CCrypto", "CExpat", "CSwiftRuntime"].flatMap {
            ["-Xcc", "-fmodule-map-file=\(sources)/\($0)/module.modulemap"]
        }
        let arguments =
            ["-typecheck", file, "-I", built + "/Modules"] + maps
            + ["-load-plugin-executable", built + "/MoultDataMacros-tool#MoultDataMacros"]
            + flags.flatMap { $0.split(separator: " ").map(String.init) }
        let lines = try ChildProcess.run("swiftc", arguments).output.split(separator: "\n")
        errors = Self.messages(" error: ", in: lines)
        warnings = Self.messages(" warning: ", in: lines)
    }

    private static func messages(_ kind: String, in lines: [Substring]) -> [String] {
        var seen: Set<String> = []
        return lines.compactMap { line in line.range(of: kind).map { String(line[$0.upperBound...]) } }
            .filter { seen.insert($0).inserted }
    }
}
