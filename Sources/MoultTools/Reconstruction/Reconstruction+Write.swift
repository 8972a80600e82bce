import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

extension Reconstruction {
    /// The versions to add, as files of the model.
    private struct Addition {
        let missing: Missing
        /// The path in the model's folder.
        let path: String
        let bytes: [UInt8]
        /// The version as it is read from these bytes.
        let version: ModelVersion
    }

    /// The form of the versions in the model's folder.
    private enum Form { case source, json }

    /// Writes the missing versions into the model, and all versions into the lock file.
    ///
    /// The model is made anew next to itself, with a copy of each of its files, and takes its place in one step. The lock
    /// file is replaced just before: if the process dies in between, the model is as it was, and the next call finishes.
    /// A single `.xcdatamodel` stays; the versions go into an `.xcdatamodeld` next to it.
    ///
    /// - Returns: the path of the model; nil if nothing is missing.
    /// - Throws: `usage` for a model that cannot get versions, `lockFileMismatch` if a locked version has changed,
    ///   `wouldReplace` if the new bundle's path is taken. Then nothing is changed.
    @discardableResult
    package func write(_ system: any System = POSIXSystem()) throws -> String? {
        let form = try form(system)
        // A call that ended after its last step may have left the old model.
        for path in [bundle.path, ModelLock.path(besideModelAt: bundle.path)] {
            try StagedPath.removeAbandoned(for: path, system)
        }
        guard !missing.isEmpty else { return nil }
        let additions = try missing.map { try addition($0, as: form) }
        let (all, current) = try versions { one in
            additions.first { $0.missing.name == one.name }?.version ?? one.shape.version
        }
        let isSingle = bundle.path.fileExtension == "xcdatamodel"
        let target = isSingle ? String(bundle.path.dropLast(".xcdatamodel".count)) + ".xcdatamodeld" : bundle.path
        let whole = try ModelBundle(all, at: target, currentName: current, order: all.map(\.name))
        try Self.checkLocked(whole)
        var files = additions.map { ($0.path, $0.bytes) }
        if isSingle {
            guard try !system.exists(target), try !system.isLink(target) else {
                throw MigrationError(
                    .wouldReplace, "\(target) exists. Nothing was written.", place: target,
                    remedy: "Name it as the model, or move it away.")
            }
            files += try Self.files(in: bundle.path, system).map { ("\(Path.name(of: bundle.path))/\($0)", $1) }
        } else {
            files += try Self.files(in: target, system)
        }
        if target.fileExtension == "xcdatamodeld", !files.contains(where: { $0.0 == ".xccurrentversion" }) {
            files.append((".xccurrentversion", Array(SourceFiles.marker(of: current).utf8)))
        }
        try put(files, at: target, locking: whole, system)
        return target
    }

    /// Puts the files in place together with the lock file.
    private func put(
        _ files: [(String, [UInt8])], at target: String, locking whole: ModelBundle, _ system: any System
    ) throws {
        let lock = (path: ModelLock.path(besideModelAt: target), bytes: try LockReport.contents(pinning: whole))
        let isInside = Path.folder(of: lock.path) == target
        guard !isInside else {
            let others = files.filter { $0.0 != ModelLock.fileName }
            let product = BuildProduct(
                files: others + [(ModelLock.fileName, lock.bytes)], path: target, rights: .like(target))
            return try product.write(system)
        }
        let old = try system.exists(lock.path) ? try system.read(lock.path) : nil
        let rights: FileRights = try system.exists(target) ? .like(target) : .byUmask
        var isLocked = false
        do {
            try BuildProduct(files: files, path: target, rights: rights).write(system) {
                isLocked = true
                try StagedPath.replace([lock], .byUmask, system)
            }
        } catch {
            // If the model is as it was, its lock file becomes so again.
            let isInPlace = try? files.first.map { try system.exists(Path.join(target, $0.0)) }
            if isLocked, isInPlace != true {
                if let old {
                    try? StagedPath.replace([(lock.path, old)], .byUmask, system)
                } else {
                    _ = try? system.remove(lock.path)
                }
            }
            throw error
        }
    }

    // MARK: - The model's files

    /// - Throws: `usage` for a compiled model, a model that a program provides, frozen stores, and a path that does not
    ///   name the model's own folder.
    private func form(_ system: any System) throws -> Form {
        let files = bundle.versions.compactMap { bundle.files[$0.name] }.map { Path.name(of: $0) }
        let isFolder = try system.status(of: bundle.path)?.kind == .folder && !system.isLink(bundle.path)
        if isFolder, !files.isEmpty, ![".", ".."].contains(Path.name(of: bundle.path)) {
            if files.allSatisfy({ ["contents", "elements"].contains($0) }) { return .source }
            if files.allSatisfy({ $0.hasSuffix(".json") }) { return .json }
        }
        throw MigrationError(
            .usage, "Versions can be added to the folder of a model's source only.", place: bundle.path,
            remedy: "Name an .xcdatamodeld, an .xcdatamodel, or a folder of .xcdatamodels or of models as JSON, by its "
                + "own name and not by a link. \(.decompile, .path(bundle.path)) writes the source of a compiled model."
        )
    }

    /// Returns a missing version as a file of the model: the text at the tag, if it is in the model's form.
    ///
    /// - Throws: `modelInvalid` if what would be written had other version hashes.
    private func addition(_ missing: Missing, as form: Form) throws -> Addition {
        let shape = missing.shape
        let path = form == .source ? "\(missing.name).xcdatamodel/contents" : "\(missing.name).json"
        let isInForm =
            Path.name(of: shape.path) == "contents" && form == .source
            || shape.path.hasSuffix(".json") && form == .json
        let bytes: [UInt8]
        if isInForm {
            bytes = shape.contents
        } else if form == .source {
            let text = try SourceFiles(shape.version.model, defaults: SourceFiles.documentDefaults).files.first?.text
            bytes = Array((text ?? "").utf8)
        } else {
            bytes = Array((shape.version.model.json.indented + "\n").utf8)
        }
        guard case .success(let version)?? = ListedModel.versions(of: [(path, bytes)]).first,
            version.hashes.checksum == shape.checksum
        else {
            throw MigrationError(
                .modelInvalid, "The version at \(shape.tag) cannot be written in the form of this model.",
                place: "\(shape.tag):\(shape.path)", remedy: "Add it to the model by hand.")
        }
        var named = version
        named.names = [missing.name]
        return Addition(missing: missing, path: path, bytes: bytes, version: named)
    }

    /// The most bytes of a model's folder.
    private static let greatestSize = 256 << 20

    /// Reads every file of the model's folder, by its path there.
    ///
    /// - Throws: `usage` for a folder with anything but plain files, or with more than any model has.
    private static func files(in folder: String, _ system: any System) throws -> [(String, [UInt8])] {
        var left = greatestSize
        return try system.files(below: folder).map { name in
            let path = Path.join(folder, name)
            let status = try system.status(of: path)
            guard try status?.kind == .file && !system.isLink(path), !name.hasPrefix(".git/"), name != ".git",
                Int(status?.size ?? 0) <= left
            else {
                throw MigrationError(
                    .usage, "The folder of the model holds what is no part of a model. Nothing was written.",
                    place: path, remedy: "Keep the versions in a folder of their own.")
            }
            let bytes = try system.read(path, limit: left)
            left -= bytes.count
            return (name, bytes)
        }
    }

    private static func checkLocked(_ whole: ModelBundle) throws {
        let changes = (whole.lock?.check(whole.versions, of: whole.path) ?? []).filter { $0.severity > .note }
        guard !changes.isEmpty else { return }
        throw MigrationError(
            .lockFileMismatch, changes.map(\.message).joined(separator: " "),
            place: ModelLock.path(besideModelAt: whole.path),
            remedy: "Undo the change, or lock the model again if the version was never released: "
                + "\(.lock, .path(whole.path), .again). Then run this again.")
    }
}
