import Foundation
import MoultTesting

/// The page that shows what the trials have shown. A run puts a sentence for each table between two marks of the page,
/// and the table into a file of the folder `Tables` next to it.
struct SafetyPage {
    private let path: String

    struct MarksMissing: Error {}

    init(_ path: String) { self.path = path }

    func write(_ faults: FaultMatrix, _ real: FaultMatrix, _ options: FaultOptions) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        try put(faults, "faults", into: &text, options)
        try put(real, "real", into: &text, options)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func put(_ matrix: FaultMatrix, _ name: String, into text: inout String, _ options: FaultOptions) throws {
        let (first, last) = ("<!-- Scripts/test-faults writes the result of \(name). -->", "<!-- End of \(name). -->")
        guard let begin = text.range(of: first), let end = text.range(of: last) else { throw MarksMissing() }
        let whole = matrix.rows.filter(\.isWhole).count
        let sentence = """
            Made by `Scripts/test-faults`, seeds 0 to \(options.seeds - 1): \(matrix.tried) trials, \
            \(matrix.broken.count) guarantees broken; \(whole) of \(matrix.rows.count) series whole.
            """
        text = "\(text[..<begin.upperBound])\n\n\(sentence)\n\n\(text[end.lowerBound...])"
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("Tables")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try matrix.csv.write(
            to: folder.appendingPathComponent("\(name).csv"), atomically: true, encoding: .utf8)
    }
}
