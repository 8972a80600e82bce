import MoultModel
import MoultSystem

/// The program that lays a picture out: Graphviz' `dot`, where it is installed.
package enum Graphviz {
    /// The picture as SVG.
    ///
    /// - Parameter program: another name of the program, for tests.
    /// - Throws: `unsupported` where the program is not installed, `inputOutput` where it fails.
    package static func svg(_ diagram: Diagram, program: String = "dot") throws -> String {
        guard let run = try ProgramRun(program, ["-Tsvg"], input: Array(diagram.dot.utf8)) else {
            throw MigrationError(
                .unsupported, "Graphviz is not installed, which lays out an SVG.",
                remedy: "Install it (Debian, Ubuntu: apt-get install graphviz), or choose "
                    + "\(option: .format("mermaid")).")
        }
        guard run.exit == 0 else {
            let words = run.errorText.split(separator: "\n").first ?? "it ended with \(run.exit)."
            throw MigrationError(
                .inputOutput, "Graphviz could not lay out the picture: \(words)",
                remedy: "Choose \(option: .format("mermaid")), or fewer entities with \(option: .entity(nil)).")
        }
        return String(decoding: run.output, as: UTF8.self)
    }
}
