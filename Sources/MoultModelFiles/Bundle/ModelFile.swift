import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that contains one version of a model.
package struct ModelFile: Sendable {
    package enum Form: Sendable {
        /// `contents` of an `.xcdatamodel`.
        case xml
        /// `elements` of an `.xcdatamodel`, before Xcode 4.
        case elements
        /// A compiled `.mom`.
        case compiled
        /// An optimised `.omo`.
        case optimised
        /// Moult's own form.
        case json
    }

    /// The version's name: the stem of the file, or of its `.xcdatamodel` folder.
    package let name: String
    package let path: String
    package let form: Form
    /// The contents of a file that is not on this disk, such as one in an archive; nil for one that is.
    var contents: [UInt8]?

    /// - Parameter shared: entities to share with the other files of a model.
    /// - Throws: `MigrationError` with the path in its place.
    package func read(sharing shared: SharedEntities = SharedEntities()) throws -> (
        model: ManagedObjectModel, findings: [Finding]
    ) {
        let bytes = try self.bytes
        var findings: [Finding] = []
        do {
            let model = try model(of: bytes, sharing: shared, findings: &findings)
            return (model, findings.map(inThisFile))
        } catch var error as MigrationError {
            error.place = place(error.place)
            throw error
        }
    }

    private var bytes: [UInt8] { get throws { try contents ?? ModelFolder.bytes(at: path) } }

    private func model(
        of bytes: [UInt8], sharing shared: SharedEntities, findings: inout [Finding]
    ) throws -> ManagedObjectModel {
        switch form {
        case .xml:
            return try ManagedObjectModel(xmlContents: bytes, file: path, sharing: shared, findings: &findings)
        case .compiled: return try ManagedObjectModel(compiled: bytes, findings: &findings)
        case .optimised: return try ManagedObjectModel(optimised: bytes)
        case .json: return try ManagedObjectModel(json: bytes, file: path, findings: &findings)
        case .elements: return try ManagedObjectModel(elements: bytes, findings: &findings)
        }
    }

    /// Whether the file is another program's JSON, such as a package.json, which a folder of versions may also contain.
    /// A file that is not JSON at all counts as a damaged model.
    var isOtherJSON: Bool {
        guard form == .json, let bytes = try? bytes,
            let document = try? JSONValue(parsing: bytes, place: path, code: .modelInvalid)
        else { return false }
        return document["model"] == nil
    }

    private func inThisFile(_ finding: Finding) -> Finding {
        var finding = finding
        finding.place = place(finding.place)
        return finding
    }

    /// Returns the place with the path in front, unless it already begins with it.
    private func place(_ place: String) -> String {
        if place.hasPrefix(path) { return place }
        return place.isEmpty ? path : "\(path): \(place)"
    }
}

extension ModelFile {
    /// Returns the model in an `.xcdatamodel` folder; nil if there is none.
    init?(modelFolder path: String) {
        let name = path.fileStem
        let contents = path + "/contents"
        // An unreadable file still counts as a version.
        if ModelFolder.mayExist(contents) {
            self.init(name: name, path: contents, form: .xml)
        } else if ModelFolder.mayExist(path + "/elements") {
            self.init(name: name, path: path + "/elements", form: .elements)
        } else {
            return nil
        }
    }

    /// Creates the optimised form of a version whose `.mom` is missing.
    init(optimised path: String) { self.init(name: path.fileStem, path: path, form: .optimised) }

    /// Creates a version from the name of the file or folder at `path`; nil if it is not a version.
    init?(at path: String) {
        // The other JSON files that Moult stores next to a model.
        guard ![AnswersFile.suffix, ".rules.json"].contains(where: path.hasSuffix) else { return nil }
        switch path.fileExtension {
        case "xcdatamodel": self.init(modelFolder: path)
        case "mom": self.init(name: path.fileStem, path: path, form: .compiled)
        case "json": self.init(name: path.fileStem, path: path, form: .json)
        default:
            switch path.fileName {
            case "contents": self.init(name: path.parentFolder.fileStem, path: path, form: .xml)
            case "elements": self.init(name: path.parentFolder.fileStem, path: path, form: .elements)
            default: return nil
            }
        }
    }

    /// Creates a version from a file that is not on this disk; nil if it is not a version.
    init?(at path: String, contents: [UInt8]) {
        guard var file = path.fileExtension == "omo" ? ModelFile(optimised: path) : ModelFile(at: path) else {
            return nil
        }
        file.contents = contents
        self = file
    }
}

extension String {
    var fileName: String { split(separator: "/").last.map(String.init) ?? self }

    /// The file's name without its extension; a name whose only dot is its first character has no extension.
    package var fileStem: String {
        fileExtension.isEmpty ? fileName : String(fileName.dropLast(fileExtension.count + 1))
    }

    package var fileExtension: String {
        let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.count > 2 || !parts[0].isEmpty else { return "" }
        return parts.last.map(String.init) ?? ""
    }

    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}

/// Functions that read the folders of models.
package enum ModelFolder {
    /// A file above this size is not a model; no real model comes near it.
    static let greatestSize = 256 << 20

    /// - Throws: `MigrationError` with code `fileNotFound` or `fileNotReadable`.
    package static func bytes(at path: String) throws -> [UInt8] {
        // O_NONBLOCK: opening a FIFO would block.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw unreadable(path) }
            throw MigrationError(
                .fileNotFound, "There is no file at this path.", place: path, remedy: "Check the path.")
        }
        defer { close(descriptor) }
        var record = stat()
        guard fstat(descriptor, &record) == 0 else { throw unreadable(path) }
        guard record.st_mode & S_IFMT == S_IFREG else {
            throw MigrationError(
                .modelInvalid, "This is not a plain file, but for example a folder, a pipe or a device.", place: path,
                remedy: "Give the path of a model.")
        }
        guard record.st_size <= greatestSize else {
            throw MigrationError(
                .modelInvalid, "The file is larger than any model (\(record.st_size) bytes).", place: path,
                remedy: "Give the path of a model.")
        }
        return try bytes(of: descriptor, path)
    }

    private static func bytes(of descriptor: Int32, _ path: String) throws -> [UInt8] {
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count <= greatestSize {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count > 0 { bytes += piece[..<count] } else if errno != EINTR { throw unreadable(path) }
        }
        return bytes
    }

    private static func unreadable(_ path: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "The file cannot be read.", place: path, remedy: "Check its permissions.",
            cause: String(cString: strerror(errno)))
    }

    /// Returns the full paths of a folder's entries, in byte order.
    static func entries(of path: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
                .inByteOrder().map { path + "/" + $0 }
        } catch {
            throw MigrationError(
                .fileNotReadable, "The folder cannot be read.", place: path, remedy: "Check its permissions.",
                cause: "\(error)")
        }
    }

    /// Whether something is at the path, even a dangling link or an inaccessible file, on which reading then fails.
    static func mayExist(_ path: String) -> Bool {
        var record = stat()
        return lstat(path, &record) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    /// Whether the path is a folder; nil if nothing is there.
    package static func isFolder(_ path: String) -> Bool? {
        // Foundation and FoundationEssentials declare the variant with a directory flag differently; they share this
        // one.
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return FileManager.default.fileExists(atPath: path + "/.")
    }
}

/// The file next to a model with the recorded answers to its questions: `Forum.answers.json` for `Forum.xcdatamodeld`,
/// `moult.answers.json` inside a plain folder of versions.
package enum AnswersFile {
    static let suffix = ".answers.json"
    /// The file in a plain folder of versions.
    package static let nameInFolder = "moult" + suffix

    /// Returns the path of a model's answers file, which need not exist.
    package static func path(besideModelAt modelPath: String) -> String {
        let path = modelPath.count > 1 && modelPath.hasSuffix("/") ? String(modelPath.dropLast()) : modelPath
        let bundles = ["xcdatamodeld", "momd"]
        let parent = path.parentFolder
        // A single version inside a bundle uses the bundle's answers.
        if bundles.contains(parent.fileExtension) { return self.path(besideModelAt: parent) }
        guard ModelFolder.isFolder(path) == true, !bundles.contains(path.fileExtension),
            path.fileExtension != "xcdatamodel"
        else {
            let name = path.fileStem + suffix
            return parent == "." && !path.hasPrefix("./") ? name : parent == "/" ? "/" + name : parent + "/" + name
        }
        let entries = (try? ModelFolder.entries(of: path)) ?? []
        let inside = entries.filter { bundles.contains($0.fileExtension) }
        if inside.count == 1, !entries.contains(where: { ModelFile(at: $0).map { !$0.isOtherJSON } ?? false }) {
            return self.path(besideModelAt: inside[0])
        }
        return path + "/" + nameInFolder
    }
}
