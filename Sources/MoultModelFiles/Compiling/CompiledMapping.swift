import MoultModel

/// A mapping model as Apple's `mapc` compiles it: a `.cdm`.
package struct CompiledMapping: Sendable {
    /// The name that the `.cdm` has, without ending.
    package let name: String
    package let bytes: [UInt8]
    package let warnings: [ModelFault]

    /// Compiles an `.xcmappingmodel`.
    ///
    /// - Throws: `ModelFaults` for errors in the source; `fileNotFound`, `fileNotReadable`; `usage` for a `.cdm`.
    package init(compiling path: String) throws {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard path.fileExtension != "cdm" else {
            throw MigrationError(
                .usage, "The mapping model is compiled already.", place: path, remedy: "Give its .xcmappingmodel.")
        }
        let file = path.fileExtension == "xcmappingmodel" ? path + "/xcmapping.xml" : path
        do {
            let source = try MappingModelFile(contentsOf: path)
            name = source.name
            bytes = try source.mapping.compiled()
            warnings = source.findings.filter { $0.severity > .note }.map { ModelFault($0, file: file) }
        } catch let error as MigrationError
            where [.modelInvalid, .propertyListInvalid, .invalidPredicate, .unsupported].contains(error.code)
        {
            throw ModelFaults(faults: [ModelFault(error, file: file)])
        }
    }
}
