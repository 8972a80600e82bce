import Foundation

/// The commands of an example's README, run as they stand there in a folder that is gone with the last copy of this.
package struct ExampleRun: Sendable {
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    package let folder: ScratchFolder
    /// Each command after `$ `, with what it printed on both streams.
    package let output: String

    /// - Parameter name: of the folder in Examples.
    /// - Throws: with the whole output where a command does not end as the README says.
    package init(_ name: String) throws {
        folder = try ScratchFolder()
        let ended = try ChildProcess.run(
            packageRoot.appendingPathComponent("Examples/run").path, [name, folder.path],
            environment: ["MOULT_BIN": Self.tools])
        output = ended.output
        guard ended.exit == 0 else { throw Failure(description: output) }
    }

    /// The folder of the built programs: the test bundle lies beside them.
    package static var tools: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
    }

    /// What the command that begins so printed; empty where there is none. Of several the `number`th, from 0.
    package func output(of command: String, _ number: Int = 0) -> String {
        let parts = output.components(separatedBy: "\n$ ").filter { $0.hasPrefix(command) }
        guard parts.indices.contains(number) else { return "" }
        return parts[number].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
            .joined(separator: "\n")
    }
}

/// A program of an example, run in a folder that is gone with the last copy of this.
package struct ExampleTool: Sendable {
    package let name: String
    package let folder: ScratchFolder

    package init(_ name: String) throws {
        self.name = name
        folder = try ScratchFolder()
    }

    /// - Returns: how it ended, and what it printed on both streams.
    @discardableResult
    package func callAsFunction(_ arguments: String...) throws -> (exit: Int32, output: String) {
        try ChildProcess.run("\(ExampleRun.tools)/\(name)", arguments, folder: folder.path)
    }
}
