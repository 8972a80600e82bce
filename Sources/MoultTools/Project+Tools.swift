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

    /// Checks the models by rules: released versions, inference, data, sync, source and shape.
    ///
    /// - Parameters:
    ///   - profiles: further rules to apply.
    ///   - ignoring: the codes of rules to leave out, such as `SHAPE003`, in upper or lower case.
    ///   - revision: a git revision to compare with, such as `origin/main`; nil for none.
    ///   - lock: the lock file to compare with; nil for `moult.lock` next to the model.
    ///   - store: a store whose objects the findings count; nil for none.
    /// - Throws: `usage` for a rule that does not exist, and without git or that revision; `modelInvalid` for a lock file
    ///   that cannot be read; `modelNotFound` if it has no versions of this model; `storeUnknown` for a store of another
    ///   app.
    public func lint(
        profiles: Set<LintProfile> = [], ignoring: Set<String> = [], since revision: String? = nil,
        lock: String? = nil, countingObjectsOf store: String? = nil
    ) async throws -> LintResult {
        try await onThread { _ in
            var request = LintRequest(profiles: Set(profiles.map(\.rules)))
            request.ignored = ignoring.sorted()
            (request.revision, request.lock, request.store) = (revision, lock, store)
            return try LintResult(request, ofModelAt: path, registry) {
                LintedModels(try bundle(), versions, answers: answers, mappings: mappingPaths)
            }
        }
    }
}
