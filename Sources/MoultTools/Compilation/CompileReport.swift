import Moult
import MoultBasics
import MoultModel
import MoultModelFiles

/// The result of compiling a model or a mapping model.
public struct CompileReport: Sendable, ToolAnswer {
    /// An error in a source, or a warning about it.
    public struct Fault: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a fault: an error, or one of the warnings that `momc` can silence.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// An error, which prevents compilation.
            case error
            /// A relationship without an inverse.
            case missingInverse
            /// An entity with an unusually large number of properties.
            case propertyCount
            /// The delete rule No Action.
            case deleteRule
            /// Another warning.
            case warning
        }

        /// The kind of the fault.
        public let kind: Kind
        /// The path of the source file.
        public let file: String
        /// The line in the file, counted from 1.
        public let line: Int
        /// A sentence that describes the fault.
        public let message: String
        /// The fault as `FILE:LINE: error: MESSAGE`, which build systems can read.
        public var description: String { "\(file):\(line): \(kind == .error ? "error" : "warning"): \(message)" }
    }

    /// A compiled version.
    public struct Version: Sendable, Hashable {
        /// The name of the version.
        public let name: String
        /// Core Data's checksum of the version, in base64.
        public let checksum: String
    }

    /// The path of the product; empty if the source has errors.
    public let output: String
    /// The paths of the product's files; empty if the source has errors.
    public let files: [String]
    /// The versions, in natural order of their names; empty for a mapping model.
    public let versions: [Version]
    /// The name of the version that the source marks as current; nil for a mapping model.
    public let currentVersionName: String?
    /// Errors and warnings, by file and line. If there is an error, nothing was written.
    public package(set) var faults: [Fault]
    /// Whether the product is a mapping model.
    public let isMapping: Bool
    /// Whether this is a dry run, which writes nothing.
    private let isRehearsal: Bool

    /// Whether the source is free of errors.
    public var isCompiled: Bool { !faults.contains { $0.kind == .error } }
}

extension CompileReport {
    /// Compiles a source; see ``Project/compile(_:to:module:isRehearsal:)``.
    package init(compiling source: String, to output: String?, module: String?, isRehearsal: Bool) throws {
        let system = POSIXSystem()
        self.isRehearsal = isRehearsal
        let compiled: CompiledSource
        do {
            compiled = try CompiledSource(source, module: module)
        } catch let error as ModelFaults {
            (self.output, files, versions, currentVersionName, isMapping) = ("", [], [], nil, false)
            faults = error.faults.map(Fault.init)
            return
        }
        let path = try OutputPath.of(
            compiled.name, compiled.ending, at: output, others: ["mom", "momd", "cdm"], system)
        guard !(path + "/").hasPrefix(source + "/") else {
            throw MigrationError(
                .usage, "The output \(path) would be in the source.", place: path,
                remedy: "Name a path outside of \(source) with \(option: .output).")
        }
        if !isRehearsal {
            try compiled.checkReplaced(path, system)
            try BuildProduct(files: compiled.files, path: path, rights: .byUmask).write(system)
        }
        self.output = path
        files = compiled.files.map { $0.path.isEmpty ? path : Path.join(path, $0.path) }
        versions = compiled.checksums.map { Version(name: $0.name, checksum: $0.checksum.base64) }
        currentVersionName = compiled.versionInfo?.currentName
        faults = compiled.warnings.map(Fault.init)
        isMapping = compiled.versionInfo == nil
    }

    package var document: JSONValue {
        func documents(areErrors: Bool) -> JSONValue {
            .array(faults.filter { ($0.kind == .error) == areErrors }.map(\.document))
        }
        guard isCompiled else {
            return ["format": 1, "errors": documents(areErrors: true), "warnings": documents(areErrors: false)]
        }
        return [
            "format": 1, "output": .string(output), "files": JSONValue(files),
            "currentVersion": JSONValue(currentVersionName),
            "checksums": .object(versions.map { .init($0.name, .string($0.checksum)) }),
            "warnings": documents(areErrors: false),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        guard isCompiled else { return [] }
        if isRehearsal { return files.map(\.printable) }
        let what = isMapping ? "the mapping model" : Quantity.count(versions.count, "version")
        return ["Compiled \(what) into \(output.printable)."]
    }
}

extension CompileReport.Fault {
    fileprivate var document: JSONValue {
        ["file": .string(file), "line": .integer(Int64(line)), "message": .string(message)]
    }

    fileprivate init(_ fault: ModelFault) {
        (file, line, message) = (fault.file, fault.line, fault.message)
        kind =
            switch (fault.severity, fault.kind) {
            case (.error, _): .error
            case (.warning, .missingInverse): .missingInverse
            case (.warning, .propertyCount): .propertyCount
            case (.warning, .deleteRule): .deleteRule
            case (.warning, _): .warning
            }
    }
}

/// A compiled model or mapping model, before it is written.
struct CompiledSource {
    let name: String
    let ending: String
    /// The contents, by path in the product; for a single file, one entry with an empty path.
    let files: [(path: String, bytes: [UInt8])]
    /// The version information; nil for a mapping model.
    let versionInfo: VersionInfo?
    let warnings: [ModelFault]

    /// - Throws: `ModelFaults` for errors in the source; any error from reading the files.
    init(_ path: String, module: String?) throws {
        if MappingModelFile.isMappingModel(path.last == "/" ? String(path.dropLast()) : path) {
            let mapping = try CompiledMapping(compiling: path)
            (name, ending, versionInfo, warnings) = (mapping.name, "cdm", nil, mapping.warnings)
            files = [("", mapping.bytes)]
        } else {
            let model = try CompiledModel(compiling: path, module: module)
            (name, ending, versionInfo) = (model.name, model.isBundle ? "momd" : "mom", model.versionInfo)
            warnings = model.warnings
            files = model.files.map { (model.isBundle ? $0.name : "", $0.bytes) }
        }
    }

    /// The checksums by version, in natural order of the names.
    var checksums: [(name: String, checksum: [UInt8])] {
        (versionInfo?.hashes ?? [:]).map { ($0.key, $0.value.checksum) }.sorted { $0.0.precedesNaturally($1.0) }
    }

    /// Checks that a compiled model replaces only another compiled model.
    ///
    /// - Throws: `wouldReplace` if the path holds anything else.
    func checkReplaced(_ path: String, _ system: some System) throws {
        guard let status = try system.status(of: path) else { return }
        let isFolder = status.kind == .folder
        func isCompiled(_ file: String) throws -> Bool {
            let start = try system.read(file, prefix: 6)
            return try ["bplist", "<?xml ", "momv2$"].contains { start.elementsEqual($0.utf8) } && !system.isLink(file)
        }
        let isOwn =
            try isFolder == (ending == "momd") && !system.isLink(path)
            && (isFolder ? system.list(path).map { Path.join(path, $0) } : [path]).allSatisfy { file in
                let name = Path.name(of: file)
                let isNamed =
                    !isFolder || name == "VersionInfo.plist" || name.hasSuffix(".mom") || name.hasSuffix(".omo")
                return try isNamed && system.status(of: file)?.kind == .file && isCompiled(file)
            }
        guard !isOwn else { return }
        throw MigrationError(
            .wouldReplace, "\(path) is not a compiled model. Nothing was written.", place: path,
            remedy: "Move it away, or name another output.")
    }
}
