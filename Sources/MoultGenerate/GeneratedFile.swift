/// One file of generated code.
package struct GeneratedFile: Sendable, Equatable {
    package let name: String
    package let text: String

    /// The line by which a generated file is known: what has it may be replaced.
    package static let mark = "//  This file was automatically generated and should not be edited."

    private let imports: [String]
    private let body: [String]

    init(_ name: String, imports: [String], _ body: [String]) {
        (self.name, self.imports, self.body) = (name, imports, body)
        let head = ["//", "//  \(name)", "//", Self.mark, "//", "// swift-format-ignore-file", ""]
        text = (head + imports + [""] + body).joined(separator: "\n") + "\n"
    }

    /// Several files of the same imports in one.
    package init(_ name: String, joining files: [GeneratedFile]) {
        self.init(name, imports: files.first?.imports ?? [], Array(files.map(\.body).joined(separator: [""])))
    }
}

extension [String] {
    /// The lines, four spaces further in; empty ones stay empty.
    var indented: [String] { map { $0.isEmpty ? "" : "    " + $0 } }

    /// The lines between `#if canImport(Darwin)` and `#else`, and `others` after it.
    func onDarwin(otherwise others: [String]) -> [String] {
        ["#if canImport(Darwin)"] + self + (others.isEmpty ? [] : ["#else"] + others) + ["#endif"]
    }
}
