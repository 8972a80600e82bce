import MoultModel
import MoultModelFiles
import MoultSystem

/// A compiled model or mapping model on its way to the disk.
struct CompiledSource {
    let name: String
    let ending: String
    /// By path in the product; of a single file, one entry with an empty path.
    let files: [(path: String, bytes: [UInt8])]
    /// Nil for a mapping model.
    let versionInfo: VersionInfo?
    let warnings: [ModelFault]

    /// - Throws: `ModelFaults` for errors in the source; what reading the files throws.
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

    /// By version, in the natural order of the names.
    var checksums: [(name: String, checksum: [UInt8])] {
        (versionInfo?.hashes ?? [:]).map { ($0.key, $0.value.checksum) }.sorted { $0.0.precedesNaturally($1.0) }
    }

    /// Checks that a compiled model replaces nothing but a compiled model.
    ///
    /// - Throws: `wouldReplace` for anything else of its name.
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
