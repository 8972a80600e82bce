import Foundation

/// The Swift of a page of Documentation, which a test holds compiled in a file of its own.
package struct DocumentationPage {
    /// The blocks of code, as they stand.
    package let blocks: [String]
    private let source: String

    /// - Parameter name: such as `Mirror.md`.
    package init(_ name: String, testedIn file: String = #filePath) throws {
        let page = packageRoot.appendingPathComponent("Documentation/\(name)")
        blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        source = Self.bare(try String(contentsOfFile: file, encoding: .utf8))
    }

    /// The blocks that the test's file does not have.
    package var missingBlocks: [String] { blocks.filter { !source.contains(Self.bare($0)) } }

    /// Without spaces and line breaks, which are the formatter's, and `private`, which is the file's.
    private static func bare(_ text: String) -> String {
        text.replacingOccurrences(of: "private ", with: "").filter { !$0.isWhitespace }
    }
}

/// The folder of Package.swift.
package let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
