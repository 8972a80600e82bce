import MoultBasics
import MoultModel

/// A mapping model with its file.
package struct MappingModelFile: Sendable {
    /// The given path, without a trailing slash.
    package let path: String
    /// The file's name without its extension.
    package let name: String
    package let mapping: MappingModel
    /// The versions that Xcode's form contains in full, as they were when the mapping was last edited; the files of
    /// these versions may have changed since. Nil for the compiled form, which has only entity hashes.
    package let versions: (source: ModelVersion, destination: ModelVersion)?
    /// The findings from reading the file.
    package let findings: [Finding]

    /// Reads an `.xcmappingmodel` folder, the `xcmapping.xml` in one, or a compiled `.cdm`.
    ///
    /// - Throws: `MigrationError` with the path in its place: `fileNotFound`, `fileNotReadable`; `modelNotFound` for a
    ///   path that is not a mapping model; `modelInvalid` and `propertyListInvalid` for one that is empty, damaged or
    ///   inconsistent; `unsupported` for an expression of a class that Moult does not know.
    package init(contentsOf path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let file = path.fileExtension == "xcmappingmodel" ? path + "/xcmapping.xml" : path
        guard ModelFolder.isFolder(path) != nil else {
            throw MigrationError(
                .fileNotFound, "There is nothing at the mapping model's path.", place: path, remedy: "Check the path.")
        }
        guard Self.isMappingModel(path) else {
            throw MigrationError(
                .modelNotFound, "This is not a mapping model.", place: path,
                remedy: "Give an .xcmappingmodel folder or a compiled .cdm.")
        }
        let bytes = try ModelFolder.bytes(at: file)
        guard !bytes.isEmpty else {
            throw MigrationError.modelInvalid(
                "The mapping model is an empty file.", place: file,
                remedy: "Delete it, or create it again in Xcode; an empty one maps nothing.")
        }
        do {
            let content = try Content(bytes, isCompiled: file.fileExtension == "cdm", file: file)
            self.init(path: path, content)
        } catch var error as MigrationError {
            if !error.place.hasPrefix(file) { error.place = error.place.isEmpty ? file : "\(file): \(error.place)" }
            throw error
        }
    }

    private init(path: String, _ content: Content) {
        self.path = path
        name = (path.fileName == "xcmapping.xml" ? path.parentFolder : path).fileStem
        mapping = content.mapping
        versions = content.versions
        findings = content.findings
    }

    /// Reads the mapping model at the path, or all mapping models in the folder there.
    /// - Throws: see ``init(contentsOf:)``.
    package static func all(at path: String) throws -> [MappingModelFile] {
        guard !isMappingModel(path), ModelFolder.isFolder(path) == true else {
            return [try MappingModelFile(contentsOf: path)]
        }
        return try ModelFolder.entries(of: path).filter(isMappingModel).map(MappingModelFile.init)
    }

    /// Whether the path has the name of a mapping model.
    package static func isMappingModel(_ path: String) -> Bool {
        ["xcmappingmodel", "cdm"].contains(path.fileExtension) || path.fileName == "xcmapping.xml"
    }

    /// The contents of a mapping model, from the bytes of either form.
    package struct Content: Sendable {
        package var mapping = MappingModel()
        package var versions: (source: ModelVersion, destination: ModelVersion)?
        package var findings: [Finding] = []

        /// - Parameter file: the file's name in errors.
        package init(_ bytes: [UInt8], isCompiled: Bool, file: String) throws {
            if isCompiled {
                var reader = CompiledMappingReader()
                mapping = try reader.mapping(of: KeyedArchive(parsing: bytes))
                findings = reader.findings
            } else {
                var reader = MappingDocumentReader(document: try MappingDocument(bytes, file: file))
                (mapping, versions) = try reader.read()
                findings = reader.findings
            }
        }
    }
}
