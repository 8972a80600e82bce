import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore

/// A report on the Swift classes of a model, written to a folder or a file.
package struct GenerationReport: ToolAnswer {
    private let folder: String
    private let names: [String]
    private let written: [String]
    private let skipped: [String]
    private let isRehearsal: Bool

    /// The classes to write.
    package enum Source {
        /// Core Data classes of one version.
        case coreData(ModelVersion, CoreDataClasses.API, CoreDataClasses.Choice?)
        /// SwiftData classes of all versions.
        case swiftData(ModelVersions, name: String)
    }

    /// Writes the classes. An unchanged file is not rewritten.
    ///
    /// - Parameters:
    ///   - output: the folder, or one `.swift` file for all classes.
    ///   - model: the path of the model; if it is a store, the files get its permissions.
    ///   - replacing: whether to replace a file that was not generated.
    ///   - isRehearsal: whether to write nothing.
    /// - Throws: `wouldReplace` if such a file exists and `replacing` is false; any error from writing.
    package init(
        _ source: Source, to output: String, ofModelAt model: String?, replacing: Bool, isRehearsal: Bool
    ) throws {
        var files: [GeneratedFile]
        switch source {
        case .swiftData(let versions, let name):
            (files, skipped) = (try SwiftDataModels(versions, named: name).files, [])
        case .coreData(let version, let api, let choice):
            let model = version.model
            let said = model.entities.contains { $0.codeGenerationType != nil }
            let classes = try CoreDataClasses(model, api, choice ?? (said ? .asModelled : .whole))
            (files, skipped) = (classes.files, classes.skipped)
        }
        let isOne = output.hasSuffix(".swift")
        if isOne { files = [GeneratedFile(Path.name(of: output), joining: files)] }
        let folder = isOne ? Path.folder(of: output) : output
        let system = POSIXSystem()
        let changes = try files.map { (path: Path.join(folder, $0.name), bytes: Array($0.text.utf8)) }
            .filter { try !Self.isUnchanged($0.path, $0.bytes, replacing: replacing, system) }
        if !isRehearsal {
            let rights: FileRights =
                try model.flatMap { try ReadOnlyStore.isDatabase($0) ? .like($0) : nil } ?? .byUmask
            try StagedPath.replace(changes, makingFolders: true, rights, system)
        }
        (self.folder, self.isRehearsal) = (folder, isRehearsal)
        names = files.map { Path.join(folder, $0.name) }
        written = changes.map(\.path)
    }

    /// - Throws: `wouldReplace` for a file that was not generated.
    private static func isUnchanged(
        _ path: String, _ bytes: [UInt8], replacing: Bool, _ system: some System
    ) throws -> Bool {
        guard try system.exists(path) else { return false }
        let old = try system.read(path)
        if old == bytes { return true }
        guard replacing || String(decoding: old.prefix(1000), as: UTF8.self).contains(GeneratedFile.mark) else {
            throw MigrationError(
                .wouldReplace, "\(path) was not generated. Nothing was written.", place: path,
                remedy: "Name another folder with \(option: .output), or pass \(option: .replace).")
        }
        return false
    }

    package var document: JSONValue {
        [
            "format": 1, "folder": .string(folder), "files": JSONValue(names), "written": JSONValue(written),
            "skipped": JSONValue(skipped),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        if isRehearsal { return names.map(\.printable) }
        let without = skipped.isEmpty ? "" : " No class is asked for \(skipped.joined(separator: ", ").printable)."
        return ["Wrote \(Quantity.count(written.count, "file")) of \(names.count) to \(folder.printable).\(without)"]
    }
}

/// A file of generated code.
package struct GeneratedFile: Sendable, Equatable {
    package let name: String
    package let text: String

    /// The line that identifies a generated file, which may be replaced.
    package static let mark = "//  This file was automatically generated and should not be edited."

    private let imports: [String]
    private let body: [String]

    init(_ name: String, imports: [String], _ body: [String]) {
        (self.name, self.imports, self.body) = (name, imports, body)
        let head = ["//", "//  \(name)", "//", Self.mark, "//", "// swift-format-ignore-file", ""]
        text = (head + imports + [""] + body).joined(separator: "\n") + "\n"
    }

    /// Joins several files with the same imports into one.
    package init(_ name: String, joining files: [GeneratedFile]) {
        self.init(name, imports: files.first?.imports ?? [], Array(files.map(\.body).joined(separator: [""])))
    }
}

extension [String] {
    /// The lines, indented by four spaces; empty lines stay empty.
    var indented: [String] { map { $0.isEmpty ? "" : "    " + $0 } }

    /// Returns the lines after `#if canImport(Darwin)`, and `others` after `#else`.
    func onDarwin(otherwise others: [String]) -> [String] {
        ["#if canImport(Darwin)"] + self + (others.isEmpty ? [] : ["#else"] + others) + ["#endif"]
    }
}
