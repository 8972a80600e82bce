import MoultModel

/// One file that holds one version of a model.
struct ModelFile: Sendable {
    enum Form: Sendable {
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

    /// The version's name: the stem of the file, or of the `.xcdatamodel` folder it lies in.
    let name: String
    let path: String
    let form: Form

    /// - Parameter shared: the entities of the other files of a model.
    /// - Throws: `MigrationError` with the path in its place.
    func read(sharing shared: SharedEntities = SharedEntities()) throws -> (
        model: ManagedObjectModel, findings: [Finding]
    ) {
        let bytes = try ModelFolder.bytes(at: path)
        var findings: [Finding] = []
        do {
            let model = try model(of: bytes, sharing: shared, findings: &findings)
            return (model, findings.map(inThisFile))
        } catch var error as MigrationError {
            error.place = place(error.place)
            throw error
        }
    }

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

    /// Whether it is JSON of another program, such as a package.json, which a folder of versions may have too. What is
    /// not JSON at all is taken for a damaged model.
    var isOtherJSON: Bool {
        guard form == .json, let bytes = try? ModelFolder.bytes(at: path),
            let document = try? JSONValue(parsing: bytes, place: path, code: .modelInvalid)
        else { return false }
        return document["model"] == nil
    }

    private func inThisFile(_ finding: Finding) -> Finding {
        var finding = finding
        finding.place = place(finding.place)
        return finding
    }

    /// With the path before it, where it does not begin with it.
    private func place(_ place: String) -> String {
        if place.hasPrefix(path) { return place }
        return place.isEmpty ? path : "\(path): \(place)"
    }
}

extension ModelFile {
    /// The model in an `.xcdatamodel` folder, or nil if it holds none.
    init?(modelFolder path: String) {
        let name = path.fileStem
        let contents = path + "/contents"
        // What cannot be read is a version all the same.
        if ModelFolder.mayExist(contents) {
            self.init(name: name, path: contents, form: .xml)
        } else if ModelFolder.mayExist(path + "/elements") {
            self.init(name: name, path: path + "/elements", form: .elements)
        } else {
            return nil
        }
    }

    /// The optimised form of a version, where the `.mom` that it was made of is not at hand.
    init(optimised path: String) { self.init(name: path.fileStem, path: path, form: .optimised) }

    /// A version by the name of what lies at `path`, or nil if that is none.
    init?(at path: String) {
        // What else Moult keeps next to a model as JSON.
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
}

extension String {
    var fileName: String { split(separator: "/").last.map(String.init) ?? self }

    /// The file's name without its extension; a name that begins with its only dot has none.
    var fileStem: String { fileExtension.isEmpty ? fileName : String(fileName.dropLast(fileExtension.count + 1)) }

    var fileExtension: String {
        let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.count > 2 || !parts[0].isEmpty else { return "" }
        return parts.last.map(String.init) ?? ""
    }

    var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
