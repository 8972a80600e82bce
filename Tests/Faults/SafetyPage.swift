import Foundation
import MoultTesting

/// The page that shows what the trials have shown; a run puts its table between the page's two marks.
struct SafetyPage {
    private static let begin = "<!-- The table below is written by Scripts/test-faults. -->"
    private static let end = "<!-- The end of the table. -->"
    private let path: String

    struct MarksMissing: Error {}

    init(_ path: String) { self.path = path }

    func write(_ matrix: FaultMatrix, _ options: FaultOptions) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let begin = text.range(of: Self.begin), let end = text.range(of: Self.end) else { throw MarksMissing() }
        let command = (["Scripts/test-faults"] + options.arguments.filter { $0 != "--write" && $0 != options.file })
            .joined(separator: " ")
        let sentence = """
            Made by `\(command)`, seeds 0 to \(options.seeds - 1): \(matrix.tried) trials, \(matrix.broken.count) \
            promises broken.
            """
        let page = text[..<begin.upperBound] + "\n\n\(sentence)\n\n\(matrix.markdown)\n\n" + text[end.lowerBound...]
        try String(page).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
