import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A model source as Apple's `momc` compiles it: a `.mom`, or the files of a `.momd`.
///
/// The optimised form (`.omo`) is not written: Core Data does without, and its order is not even the same for two runs
/// of Apple's compiler.
package struct CompiledModel: Sendable {
    /// One file, by its name in the bundle.
    package struct File: Sendable {
        package let name: String
        package let bytes: [UInt8]
    }

    /// The name that the `.mom` or the `.momd` has, without ending.
    package let name: String
    /// Whether the files are those of a `.momd`.
    package let isBundle: Bool
    /// A `.mom` for each version, in the order of their names; of a bundle, `VersionInfo.plist` too.
    package let files: [File]
    package let versionInfo: VersionInfo
    package let warnings: [ModelFault]

    /// Compiles an `.xcdatamodeld`, an `.xcdatamodel`, a model as JSON or a folder of these. The versions are compiled on
    /// all cores.
    ///
    /// - Parameter module: the Swift module of the classes whose name a source begins with a dot, as Xcode writes the
    ///   current product module.
    /// - Parameter compiler: what the archives say about their compiler; nothing by default.
    /// - Throws: `ModelFaults` for errors in the source; what reading the files throws.
    package init(compiling path: String, module: String? = nil, compiler: CompilerVersion? = nil) throws {
        let source = try ModelSource(at: path)
        guard !source.files.contains(where: { [.compiled, .optimised].contains($0.form) }) else {
            throw MigrationError(
                .usage, "The model is compiled already.", place: path,
                remedy: "Give its source, or write one with \(.decompile).")
        }
        let outcomes = try source.files.concurrentMap { try Outcome(compiling: $0, module: module, compiler: compiler) }
        let faults = outcomes.flatMap(\.faults)
        guard !faults.contains(where: { $0.severity == .error }) else { throw ModelFaults(faults: faults) }
        name = source.path.fileStem
        isBundle = ModelFolder.isFolder(source.path) == true && source.path.fileExtension != "xcdatamodel"
        let models = outcomes.compactMap { outcome in outcome.version.map { (outcome.name, $0) } }
        var info = VersionInfo(hashes: Dictionary(models.map { ($0, $1.hashes) }) { first, _ in first })
        if let fault = source.currentFault { throw fault }
        // Apple's compiler names the current version only where a bundle does.
        if ModelFolder.isFolder(source.path + "/.xccurrentversion") == false { info.currentName = source.currentName }
        versionInfo = info
        let compiled = models.map { File(name: $0 + ".mom", bytes: $1.bytes) }
        files = compiled + (isBundle ? [File(name: "VersionInfo.plist", bytes: info.binary)] : [])
        warnings = faults + source.findings.filter { $0.severity > .note }.map { ModelFault($0, file: source.path) }
    }
}

/// The outcome of compiling one version: its archive and hashes, or errors.
private struct Outcome: Sendable {
    let name: String
    private(set) var version: (bytes: [UInt8], hashes: VersionHashes)?
    private(set) var faults: [ModelFault] = []
    private var spelling: SourceSpelling?

    init(compiling file: ModelFile, module: String?, compiler: CompilerVersion?) throws {
        name = file.name
        // A file that cannot be read at all is no fault of its text.
        let bytes = try ModelFolder.bytes(at: file.path)
        do {
            guard let model = try model(of: bytes, in: file) else { return }
            let archive = try model.compiled(module: module, spelling: spelling, compiler: compiler)
            version = (archive, VersionHashes(of: model))
        } catch let error as MigrationError {
            faults.append(ModelFault(error, file: file.path))
        }
    }

    /// Nil after errors.
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

/// The text files of a model as Xcode has them: one `contents`, or an `.xcdatamodeld` of several versions.
package struct SourceFiles: Sendable {
    /// The text of each file, by its path in the bundle.
    package let files: [(path: String, text: String)]

    /// The files of an `.xcdatamodeld`.
    ///
    /// - Throws: `usage` for a name that cannot be a file's; `modelInvalid` for what XML has no form for.
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

    /// The file of an `.xcdatamodel`.
    ///
    /// - Throws: `modelInvalid` for what XML has no form for.
    package init(_ model: ManagedObjectModel, defaults: [String: String] = [:]) throws {
        files = [("contents", try model.xmlContents(defaults: defaults))]
    }

    /// The attributes that Xcode gives a file that it has written itself, for a model that came from none.
    package static let documentDefaults = [
        "lastSavedToolsVersion": "24512", "systemVersion": "25C56", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift",
    ]

    /// The property list by which Xcode knows the current version.
    private static func marker(of name: String) -> String {
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

/// An error or a warning about a line of a model source, as build systems read them: `file:line: error: sentence`.
package struct ModelFault: Sendable, Hashable {
    package enum Severity: String, Sendable { case warning, error }

    /// The kind of a fault: one that a compiler's option can silence, one that lint has a rule of its own for, or
    /// another.
    package enum Kind: Sendable {
        case other, missingInverse, propertyCount, deleteRule
        /// It names an entity or a property that is not in the model.
        case reference
    }

    package let file: String
    /// From 1.
    package let line: Int
    package let severity: Severity
    package let kind: Kind
    package let message: String

    package init(file: String, line: Int, _ message: String, severity: Severity = .error, kind: Kind = .other) {
        (self.file, self.line, self.severity, self.kind, self.message) = (file, line, severity, kind, message)
    }

    /// The line for a build log.
    package var text: String { "\(file):\(line): \(severity.rawValue): \(message)" }
}

extension ModelFault {
    /// A reader's error about a file. Its place begins with the file and the line, where it has one.
    init(_ error: MigrationError, file: String) {
        let cause = error.cause.map { " (\($0))" } ?? ""
        self.init(file: file, line: Self.line(of: error.place, in: file), "\(error.message)\(cause) \(error.remedy)")
    }

    /// Creates a warning from a finding of a reader about a file.
    init(_ finding: Finding, file: String) {
        let remedy = finding.remedy.isEmpty ? "" : " \(finding.remedy)"
        self.init(
            file: file, line: Self.line(of: finding.place, in: file), finding.message + remedy, severity: .warning)
    }

    private static func line(of place: String, in file: String) -> Int {
        guard place.hasPrefix(file + ":") else { return 1 }
        return Int(place.dropFirst(file.count + 1).prefix(while: \.isNumber)) ?? 1
    }

    /// The errors for which a model source is not compiled, by line; empty for a file that is no such source.
    package static func errors(inSource file: String) -> [ModelFault] {
        guard let bytes = try? ModelFolder.bytes(at: file), let root = try? ModelElement(rootOf: bytes, file: file)
        else { return [] }
        return SourceCheck(root).faults.filter { $0.severity == .error }
    }
}

/// A model source has errors: nothing is compiled.
package struct ModelFaults: Error {
    /// Errors and warnings, by file and line.
    package let faults: [ModelFault]
}
