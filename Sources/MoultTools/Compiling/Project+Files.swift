import Moult

extension Project {
    /// Writes every version of the model as JSON, and a bundle of all in Xcode's form.
    ///
    /// - Parameters:
    ///   - folder: the folder for the files; it is created.
    ///   - name: the name of the bundle, without `.xcdatamodeld`.
    ///   - replacing: whether a file that holds another model of the same name is replaced.
    /// - Returns: the names of the versions that were written.
    /// - Throws: `wouldReplace` if there is such a file; what writing throws.
    @discardableResult
    public func exportSchema(
        to folder: String, name: String = "Model", replacing: Bool = false
    ) async throws -> [String] {
        try await onThread { _ in
            let files = try SchemaFiles(versions, in: folder, name: name)
            try files.write(likeModelAt: path, replacing: replacing)
            return files.names
        }
    }

    /// Compiles a model into a `.mom` or `.momd`, or a mapping model into a `.cdm`, as Apple's `momc` and `mapc` do.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld`, `.xcdatamodel`, a model as JSON, a folder of versions, or an `.xcmappingmodel`.
    ///   - output: the product, or the folder for it; nil for the working folder.
    ///   - module: the Swift module of classes whose name begins with a dot.
    ///   - isRehearsal: whether to check the source and write nothing.
    /// - Returns: what was written. Errors in the source are in it too; nothing is written then.
    /// - Throws: `wouldReplace` for a path with something else; `usage` for one that ends wrongly; what reading and
    ///   writing throw.
    public static func compile(
        _ source: String, to output: String? = nil, module: String? = nil, isRehearsal: Bool = false
    ) async throws -> CompileReport {
        try await onThread { _ in
            try CompileReport(compiling: source, to: output, module: module, isRehearsal: isRehearsal)
        }
    }
}
