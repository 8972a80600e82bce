import Foundation
import TestSupport

/// The built `moult`, run as a person or a script would.
struct Tool {
    struct Result {
        let exit: Int32
        let output: String
        let errors: String

        /// The one document on standard output.
        var document: [String: any Sendable] {
            get throws {
                let lines = output.split(separator: "\n")
                guard lines.count == 1,
                    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: any Sendable]
                else { throw NotADocument(output: output) }
                return object
            }
        }
    }

    struct NotADocument: Error { let output: String }

    /// Where the tool runs: relative paths of the arguments start here. It is gone with the last copy of the tool.
    let folder: ScratchFolder
    var environment: [String: String] = [:]

    /// `moult` lies beside the test bundle.
    static let path = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("moult").path

    /// The package's folder of examples.
    static let examples = packageRoot.appendingPathComponent("Examples").path

    func callAsFunction(_ arguments: String...) throws -> Result { try run(Self.path, arguments) }

    func run(_ executable: String, _ arguments: [String]) throws -> Result {
        // Files rather than pipes: neither stream can fill up while the other is read.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("moult-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let paths = ["out", "err"].map { scratch.appendingPathComponent($0) }
        let exit = try ChildProcess(
            executable, arguments, output: .files(output: paths[0].path, errors: paths[1].path),
            environment: environment, folder: folder.path
        ).wait()
        let texts = try paths.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return Result(exit: exit, output: texts[0], errors: texts[1])
    }
}

extension Tool {
    /// A tool that runs in a new folder, which holds `Forum.xcdatamodeld`.
    static func besideForumModel() throws -> Tool {
        let folder = try ScratchFolder()
        try FileManager.default.copyItem(
            atPath: examples + "/Forum.xcdatamodeld", toPath: folder.path + "/Forum.xcdatamodeld")
        try FileManager.default.copyItem(
            atPath: examples + "/Forum.rules.json", toPath: folder.path + "/Forum.rules.json")
        return Tool(folder: folder)
    }
}
