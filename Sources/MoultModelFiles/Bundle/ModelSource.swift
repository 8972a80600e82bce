import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The model at a `--model PATH` argument: the files of its versions, and the mark of the current one.
package struct ModelSource {
    /// The path without a trailing slash.
    package let path: String
    package var files: [ModelFile]
    package var currentName: String?
    /// The reason why the marked current version is unknown; nil otherwise.
    package var currentFault: MigrationError?
    /// The version list of a `.momd`.
    var versionInfo: VersionInfo?
    /// The optimised forms next to versions that are read from their `.mom`.
    var optimised: [String] = []
    package var findings: [Finding] = []

    /// - Throws: `MigrationError` with code `fileNotFound`, `modelNotFound` or `fileNotReadable`.
    package init(at path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        switch (ModelFolder.isFolder(path), path.fileExtension) {
        case (nil, _):
            if let archived = try Self.archived(path) {
                self = archived
                break
            }
            throw MigrationError(
                .fileNotFound, "There is nothing at the model's path.", place: path, remedy: "Check the path.")
        case (true?, "xcdatamodel"): self = try Self.lone(path)
        case (true?, "xcdatamodeld"): self = try Self.sourceBundle(path)
        case (true?, "momd"): self = try Self.compiledBundle(path)
        case (true?, "app"): self = try Self.app(path)
        case (true?, _): self = try Self.folder(path)
        case (false?, "ipa"): self = try Self.archive(path, model: nil)
        case (false?, _): self = try Self.lone(path)
        }
        // A version that was left out may be the current one.
        if files.count == 1, !findings.contains(where: { $0.code == ModelBundle.withoutContents }) {
            currentFault = nil
            currentName = currentName ?? files[0].name
        }
        try checkNames()
    }

    init(path: String, files: [ModelFile], currentName: String? = nil, findings: [Finding] = []) {
        (self.path, self.files, self.currentName, self.findings) = (path, files, currentName, findings)
    }

    /// Checks that each name stands for one file only, because `--from` and `--to` take names.
    private func checkNames() throws {
        let byName = Dictionary(grouping: files, by: \.name)
        if let twice = byName.filter({ $0.value.count > 1 }).min(by: { $0.key < $1.key }) {
            throw MigrationError.modelInvalid(
                "Two files give a version named \(twice.key): \(twice.value.map(\.path.fileName).joined(separator: ", ")).",
                place: path, remedy: "Rename or remove one of them.")
        }
    }
}

extension ModelBundle {
    /// Whether a model is at the path, judged by file names; used in a message where a store is expected.
    package static func isModel(_ path: String) -> Bool {
        let endings = ["xcdatamodeld", "xcdatamodel", "momd", "mom", "omo"]
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        if endings.contains(path.fileExtension) { return true }
        guard ModelFolder.isFolder(path) == true else { return (try? ModelFile(at: path)?.read()) != nil }
        return (try? ModelFolder.entries(of: path))?.contains { endings.contains($0.fileExtension) } ?? false
    }
}

// MARK: - The kinds of places

extension ModelSource {
    private static func lone(_ path: String) throws -> ModelSource {
        if path.fileExtension == "omo" { return try loneOptimised(path) }
        guard let file = ModelFile(at: path) else {
            if let form = ArchiveForm(ofFile: path, POSIXSystem()) {
                throw MigrationError(
                    .modelNotFound, "This is \(form.noun), not a model.", place: path, remedy: form.remedy(for: path))
            }
            if path.fileExtension == "swift" {
                throw MigrationError(
                    .modelNotFound, "This is Swift source, not a model.", place: path,
                    remedy:
                        "For SwiftData's types, build a tool of the app's own, which needs no model file. Or name a "
                        + "store of the app, or its .xcdatamodeld.")
            }
            let what = path.fileExtension == "xcdatamodel" ? "The .xcdatamodel has no contents" : "This is not a model"
            throw MigrationError(
                .modelNotFound, "\(what).", place: path,
                remedy:
                    "Give an .xcdatamodeld, .xcdatamodel, .momd, .mom, .omo, a model as JSON, a folder of them, or a store."
            )
        }
        return ModelSource(path: path, files: [file])
    }

    /// Reads the `.mom` of the same name instead, if there is one.
    private static func loneOptimised(_ path: String) throws -> ModelSource {
        guard let file = ModelFile(at: OptimisedModel.model(of: path)), ModelFolder.isFolder(file.path) == false else {
            return ModelSource(path: path, files: [ModelFile(optimised: path)])
        }
        var source = ModelSource(path: file.path, files: [file])
        source.optimised = [path]
        return source
    }

    /// Reads a source bundle. `.xccurrentversion` names the current version; Xcode omits it while there is only one.
    private static func sourceBundle(_ path: String) throws -> ModelSource {
        var source = try versions(in: path)
        let marker = path + "/.xccurrentversion"
        guard try ModelFolder.entries(of: path).contains(marker) else { return source }
        var name: String?
        var cause = ""
        do {
            name = try currentName(inMark: ModelFolder.bytes(at: marker))
        } catch let error as MigrationError {
            cause = error.message
        }
        source.mark(name, by: marker, cause)
        return source
    }

    /// Returns the name of the version that an `.xccurrentversion` marks.
    static func currentName(inMark bytes: [UInt8]) throws -> String? {
        try PropertyList(parsing: bytes)["_XCCurrentVersionName"]?.string?.fileStem
    }

    private static func compiledBundle(_ path: String) throws -> ModelSource {
        var source = try compiledVersions(in: path)
        let list = path + "/VersionInfo.plist"
        source.readList(at: list) { try ModelFolder.bytes(at: list) }
        return source
    }

    /// Reads the version list of a compiled bundle.
    ///
    /// - Parameter bytes: returns its contents; `fileNotFound` for a bundle without one.
    mutating func readList(at list: String, _ bytes: () throws -> [UInt8]) {
        do {
            let info = try VersionInfo(parsing: bytes())
            versionInfo = info
            if let name = info.currentName { mark(name, by: list) }
        } catch {
            let fault = error as? MigrationError
            let message = fault?.message ?? "\(error)"
            findings.append(
                Finding(
                    code: "version-list-not-read", severity: .warning, place: list, message: message,
                    remedy: "Its hashes are not compared; compile the bundle again."))
            if fault?.code != .fileNotFound { currentFault = .currentUnknown(nil, list, cause: message) }
        }
    }

    /// Takes the version that a file marks as current. An unreadable mark, or one that names no version of the bundle,
    /// is not the same as no mark, for which the newest version would be taken.
    ///
    /// - Parameter name: the marked name; nil if it cannot be read.
    private mutating func mark(_ name: String?, by marker: String, _ cause: String = "") {
        currentName = name
        guard !files.contains(where: { $0.name == name }) else { return }
        findings.append(
            Finding(
                code: "current-version-missing", severity: .warning, place: marker,
                message:
                    "The current version that it names (\(name ?? "none that can be read")) is not in the bundle.",
                remedy: "Choose the current version in Xcode again."))
        currentName = nil
        currentFault = .currentUnknown(name, marker, cause: cause)
    }

    /// Reads the versions of a folder. A version without a `.mom` is read from its optimised form, or reported.
    private static func compiledVersions(in path: String) throws -> ModelSource {
        let entries = try ModelFolder.entries(of: path)
        let optimised = entries.filter { $0.fileExtension == "omo" }
        let alone = optimised.filter { !entries.contains(OptimisedModel.model(of: $0)) }
        guard entries.contains(where: { ModelFile(at: $0) != nil }) || alone.isEmpty else {
            return ModelSource(path: path, files: alone.map(ModelFile.init(optimised:)))
        }
        var source = try versions(in: path)
        source.optimised = optimised.filter { !alone.contains($0) }
        for file in alone.map(ModelFile.init(optimised:)) {
            do {
                _ = try file.read()
                source.files.append(file)
            } catch let error as MigrationError {
                source.findings.append(OptimisedModel.alone(file.path, error))
            }
        }
        return source
    }

    /// Reads a plain folder of versions, or a folder that contains a single bundle.
    private static func folder(_ path: String) throws -> ModelSource {
        let entries = try ModelFolder.entries(of: path)
        let isOfVersions = entries.contains { entry in
            ModelFile(at: entry).map { !$0.isOtherJSON } ?? (entry.fileExtension == "omo")
        }
        guard !isOfVersions else { return try compiledVersions(in: path) }
        let bundles = entries.filter { ["xcdatamodeld", "momd"].contains($0.fileExtension) }
        switch bundles.count {
        case 0: return try versions(in: path)
        case 1: return try ModelSource(at: bundles[0])
        default:
            throw MigrationError(
                .modelNotFound,
                "The folder contains \(bundles.count) model bundles: \(bundles.map(\.fileName).joined(separator: ", ")).",
                place: path, remedy: "Give the path of one of them.")
        }
    }

    private static func versions(in path: String) throws -> ModelSource {
        let entries = try ModelFolder.entries(of: path)
        let files = entries.compactMap(ModelFile.init(at:)).filter { !$0.isOtherJSON }
        guard !files.isEmpty else {
            throw MigrationError(
                .modelNotFound, "The folder contains no version of a model.", place: path,
                remedy: "Give an .xcdatamodeld, .xcdatamodel, .momd, .mom, .omo, a model as JSON, or a folder of them.")
        }
        let empty = entries.filter { $0.fileExtension == "xcdatamodel" && ModelFile(at: $0) == nil }
        return ModelSource(path: path, files: files, findings: empty.map(Finding.withoutContents))
    }
}

extension Finding {
    fileprivate static func withoutContents(_ path: String) -> Finding {
        Finding(
            code: ModelBundle.withoutContents, severity: .warning, place: path,
            message: "The version \(path.fileStem) has no contents and is left out, so no store of it is recognised.",
            remedy: "Restore the file contents from version control, or remove the folder.")
    }
}

extension MigrationError {
    /// - Parameter name: the marked version, which is not in the bundle; nil if it cannot be read.
    fileprivate static func currentUnknown(_ name: String?, _ marker: String, cause: String) -> MigrationError {
        MigrationError(
            .modelInvalid,
            name.map { "The model's current version is \($0), which is not in the bundle." }
                ?? "It cannot be read which version of the model is the current one.", place: marker,
            remedy:
                "Restore the file, or choose the current version in Xcode again. Where the version is named, as with "
                + "\(option: .to(nil)), the file is not needed.", cause: cause.isEmpty ? nil : cause)
    }
}

/// The contents of a `.momd`'s `VersionInfo.plist`: the current version, and the hashes computed by Apple's compiler.
package struct VersionInfo: Sendable, Equatable {
    package var currentName: String?
    /// The version hashes, by version name.
    package var hashes: [String: VersionHashes]
    /// The checksums in base64, by version name; written only by compilers since 2023.
    package var checksums: [String: String]

    /// - Throws: `MigrationError` with code `propertyListInvalid`.
    package init(parsing bytes: [UInt8]) throws {
        let list = try PropertyList(parsing: bytes)
        currentName = list[Self.currentKey]?.string
        hashes = (list[Self.hashesKey]?.dictionary ?? [:]).mapValues(VersionHashes.init(listed:))
        checksums = (list[Self.checksumsKey]?.dictionary ?? [:]).compactMapValues(\.string)
    }

    private static let currentKey = "NSManagedObjectModel_CurrentVersionName"
    private static let hashesKey = "NSManagedObjectModel_VersionHashes"
    private static let checksumsKey = "NSManagedObjectModel_VersionChecksums"

    /// Returns the hashes of a compiled bundle's current version, as its list has them, without reading a version, or
    /// the hashes of another; nil if the path has no such list, or the list no current version.
    package static func currentHashes(ofModelAt path: String) throws -> VersionHashes? {
        let list = path + "/VersionInfo.plist"
        guard path.fileExtension == "momd", ModelFolder.mayExist(list) else { return nil }
        let bytes = try ModelFolder.bytes(at: list)
        guard let name = try PropertyList(parsing: bytes, below: [currentKey])?.string else { return nil }
        return try PropertyList(parsing: bytes, below: [hashesKey, name]).map(VersionHashes.init(listed:))
    }

    /// Creates the list for versions whose hashes were computed.
    package init(hashes: [String: VersionHashes]) {
        self.hashes = hashes
        checksums = hashes.mapValues { $0.checksum.base64 }
    }

    /// The list as written by the newest compilers.
    package var binary: [UInt8] {
        var entries: [String: PropertyList] = [
            Self.hashesKey: .dictionary(
                hashes.mapValues { .dictionary($0.entities.mapValues(PropertyList.data)) }),
            Self.checksumsKey: .dictionary(checksums.mapValues(PropertyList.string)),
        ]
        if let currentName { entries[Self.currentKey] = .string(currentName) }
        return PropertyList.dictionary(entries).binary
    }

    /// Returns a finding for each disagreement between the list and the models next to it.
    ///
    /// - Parameter place: the name of the list in the findings.
    func findings(against versions: [ModelVersion], place: String) -> [Finding] {
        let missing = hashes.keys.filter { name in !versions.contains { $0.name == name } }
        let unlisted = versions.map(\.name).filter { hashes[$0] == nil }
        return missing.sorted().map { name in
            Finding(
                code: "listed-version-missing", severity: .warning, place: place,
                message: "The list names the version \(name), whose .mom is not in the bundle.",
                remedy: "Stores of that version cannot be migrated; add the file.")
        }
            + unlisted.sorted().map { name in
                Finding(
                    code: "version-not-listed", severity: .note, place: place,
                    message: "The list does not name the version \(name), whose .mom is in the bundle.")
            }
            + versions.compactMap { mismatch(of: $0, place: place) }
    }

    private func mismatch(of version: ModelVersion, place: String) -> Finding? {
        guard let listed = hashes[version.name], !version.hashes.isCompatible(with: listed) else { return nil }
        let names = Set(listed.entities.keys).union(version.hashes.entities.keys)
            .filter { listed.entities[$0] != version.hashes.entities[$0] }.sorted()
        return Finding(
            code: "listed-hash-differs", severity: .warning, place: place,
            message:
                "The hashes of \(version.name) in the list are not those of its .mom: \(names.joined(separator: ", ")).",
            remedy: "The .mom was replaced after the list was made; compile the bundle again.")
    }
}

extension VersionHashes {
    /// Creates the hashes of a version from its entry of the list.
    fileprivate init(listed entry: PropertyList) {
        self.init(read: (entry.dictionary ?? [:]).compactMapValues(\.data))
    }
}
