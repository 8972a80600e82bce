import MoultBasics
import MoultModel
import MoultModelFiles

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A model source compiled as Apple's `momc` does: a `.mom`, or the files of a `.momd`.
///
/// The optimised form (`.omo`) is not written: Core Data does not need it, and its order differs even between two runs
/// of Apple's compiler.
package struct CompiledModel: Sendable {
    /// A file with its name in the bundle.
    package struct File: Sendable {
        package let name: String
        package let bytes: [UInt8]
    }

    /// The name of the `.mom` or `.momd`, without extension.
    package let name: String
    /// Whether the files form a `.momd`.
    package let isBundle: Bool
    /// A `.mom` for each version, in name order; for a bundle, also `VersionInfo.plist`.
    package let files: [File]
    package let versionInfo: VersionInfo
    package let warnings: [ModelFault]

    /// Compiles an `.xcdatamodeld`, an `.xcdatamodel`, a model as JSON or a folder of these, using all cores.
    ///
    /// - Parameter module: the Swift module of classes whose name in the source begins with a dot, which is how Xcode
    ///   writes the current product module.
    /// - Parameter compiler: the compiler versions to record in the archives; nothing by default.
    /// - Throws: `ModelFaults` for errors in the source; also any error from reading the files.
    package init(compiling path: String, module: String? = nil, compiler: CompilerVersion? = nil) throws {
        let source = try ModelSource(at: path)
        guard !source.files.contains(where: { [.compiled, .optimised].contains($0.form) }) else {
            throw MigrationError(
                .usage, "The model is compiled already.", place: path,
                remedy: "Give its source, or write one with \(.decompile).")
        }
        WorkMeter.expect(pieces: source.files.count)
        let meter = WorkMeter.current
        let outcomes = try source.files.concurrentMap { file in
            defer { meter?.advance() }
            return try Outcome(compiling: file, module: module, compiler: compiler)
        }
        let faults = outcomes.flatMap(\.faults)
        guard !faults.contains(where: { $0.severity == .error }) else { throw ModelFaults(faults: faults) }
        name = source.path.fileStem
        isBundle = ModelFolder.isFolder(source.path) == true && source.path.fileExtension != "xcdatamodel"
        let models = outcomes.compactMap { outcome in outcome.version.map { (outcome.name, $0) } }
        var info = VersionInfo(hashes: Dictionary(models.map { ($0, $1.hashes) }) { first, _ in first })
        if let fault = source.currentFault { throw fault }
        // Apple's compiler writes the current version only if the bundle marks one.
        if ModelFolder.isFolder(source.path + "/.xccurrentversion") == false { info.currentName = source.currentName }
        versionInfo = info
        let compiled = models.map { File(name: $0 + ".mom", bytes: $1.bytes) }
        files = compiled + (isBundle ? [File(name: "VersionInfo.plist", bytes: info.binary)] : [])
        warnings = faults + source.findings.filter { $0.severity > .note }.map { ModelFault($0, file: source.path) }
    }
}

/// The outcome of compiling one version: either its archive and hashes, or errors.
private struct Outcome: Sendable {
    let name: String
    private(set) var version: (bytes: [UInt8], hashes: VersionHashes)?
    private(set) var faults: [ModelFault] = []
    private var spelling: SourceSpelling?

    init(compiling file: ModelFile, module: String?, compiler: CompilerVersion?) throws {
        name = file.name
        // An unreadable file is not a fault in the source text, so throw the error.
        let bytes = try ModelFolder.bytes(at: file.path)
        do {
            guard let model = try model(of: bytes, in: file) else { return }
            let archive = try model.compiled(module: module, spelling: spelling, compiler: compiler)
            version = (archive, VersionHashes(of: model))
        } catch let error as MigrationError {
            faults.append(ModelFault(error, file: file.path))
        }
    }

    /// Returns the model; nil after errors.
    private mutating func model(of bytes: [UInt8], in file: ModelFile) throws -> ManagedObjectModel? {
        var findings: [Finding] = []
        defer { faults += findings.filter { $0.severity > .note }.map { ModelFault($0, file: file.path) } }
        guard file.form == .xml else {
            let read = try file.read()
            findings = read.findings
            return read.model
        }
        let root = try ModelElement(rootOf: bytes, file: file.path)
        faults = SourceCheck(root).faults
        if faults.contains(where: { $0.severity == .error }) { return nil }
        spelling = SourceSpelling(root)
        return try ManagedObjectModel(root, findings: &findings)
    }
}

/// The text files of a model source in Xcode's form: one `contents`, or an `.xcdatamodeld` of several versions.
package struct SourceFiles: Sendable {
    /// The text of each file, by its path in the bundle.
    package let files: [(path: String, text: String)]

    /// Creates the files of an `.xcdatamodeld`.
    ///
    /// - Throws: `usage` for a name that is not a valid file name; `modelInvalid` for a part that XML cannot represent.
    package init(
        bundle versions: [(name: String, model: ManagedObjectModel)], currentName: String?,
        defaults: [String: String] = [:]
    ) throws {
        var files: [(path: String, text: String)] = []
        for (name, model) in versions {
            try Self.check(name)
            files.append(("\(name).xcdatamodel/contents", try model.xmlContents(defaults: defaults)))
        }
        if let currentName { files.append((".xccurrentversion", Self.marker(of: currentName))) }
        self.files = files
    }

    /// Creates the file of an `.xcdatamodel`.
    ///
    /// - Throws: `modelInvalid` for a part that XML cannot represent.
    package init(_ model: ManagedObjectModel, defaults: [String: String] = [:]) throws {
        files = [("contents", try model.xmlContents(defaults: defaults))]
    }

    /// The attributes that Xcode writes to its own files, for a model that did not come from a file.
    package static let documentDefaults = [
        "lastSavedToolsVersion": "24512", "systemVersion": "25C56", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift",
    ]

    /// Returns the property list that marks the current version for Xcode, in a bundle's `.xccurrentversion`.
    package static func marker(of name: String) -> String {
        let escaped = name.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>\(escaped).xcdatamodel</string>
            </dict>
            </plist>

            """
    }

    private static func check(_ name: String) throws {
        guard name.isEmpty || name.contains("/") || name.hasPrefix(".") else { return }
        throw MigrationError(
            .usage, "The version name \(name) cannot be a file name.", place: name,
            remedy: "Give the version a name without slashes.")
    }
}

/// An error or warning about a line of a model source, in the form for build systems: `file:line: error: sentence`.
package struct ModelFault: Sendable, Hashable {
    package enum Severity: String, Sendable { case warning, error }

    /// The kind of a fault: one that a compiler option can silence, one that has its own lint rule, or another.
    package enum Kind: Sendable {
        case other, missingInverse, propertyCount, deleteRule
        /// A reference to an entity or a property that is not in the model.
        case reference
    }

    package let file: String
    /// The line, from 1.
    package let line: Int
    package let severity: Severity
    package let kind: Kind
    package let message: String

    package init(file: String, line: Int, _ message: String, severity: Severity = .error, kind: Kind = .other) {
        (self.file, self.line, self.severity, self.kind, self.message) = (file, line, severity, kind, message)
    }

    /// The line in a build log.
    package var text: String { "\(file):\(line): \(severity.rawValue): \(message)" }
}

extension ModelFault {
    /// Creates an error from a reader's error about a file. Its place may begin with the file and the line.
    package init(_ error: MigrationError, file: String) {
        let cause = error.cause.map { " (\($0))" } ?? ""
        self.init(file: file, line: Self.line(of: error.place, in: file), "\(error.message)\(cause) \(error.remedy)")
    }

    /// Creates a warning from a reader's finding about a file.
    package init(_ finding: Finding, file: String) {
        let remedy = finding.remedy.isEmpty ? "" : " \(finding.remedy)"
        self.init(
            file: file, line: Self.line(of: finding.place, in: file), finding.message + remedy, severity: .warning)
    }

    private static func line(of place: String, in file: String) -> Int {
        guard place.hasPrefix(file + ":") else { return 1 }
        return Int(place.dropFirst(file.count + 1).prefix(while: \.isNumber)) ?? 1
    }

    /// Returns the errors that prevent a model source from compiling, by line; empty for a file that is not a source.
    package static func errors(inSource file: String) -> [ModelFault] {
        guard let bytes = try? ModelFolder.bytes(at: file), let root = try? ModelElement(rootOf: bytes, file: file)
        else { return [] }
        return SourceCheck(root).faults.filter { $0.severity == .error }
    }
}

/// Errors in a model source. Nothing is compiled.
package struct ModelFaults: Error {
    /// The errors and warnings, by file and line.
    package let faults: [ModelFault]
}
