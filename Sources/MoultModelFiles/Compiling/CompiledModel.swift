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

    /// The endings of the sources that have a compiled form.
    package static let endings: Set<String> = ["xcdatamodel", "xcdatamodeld"]
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
