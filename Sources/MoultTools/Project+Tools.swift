import Moult

extension Project {
    /// Writes every version of the model as JSON, and all of them as one `.xcdatamodeld` bundle.
    ///
    /// - Parameters:
    ///   - folder: the folder for the files; it is created if necessary.
    ///   - name: the name of the bundle, without `.xcdatamodeld`.
    ///   - replacing: whether to replace a file that holds another model of the same name.
    /// - Returns: the names of the written versions.
    /// - Throws: `wouldReplace` if such a file exists and `replacing` is false; any error from writing.
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
    ///   - output: the path of the product, or a folder for it; nil for the current directory.
    ///   - module: the Swift module of classes whose names begin with a dot.
    ///   - isRehearsal: whether to check the source and write nothing.
    /// - Returns: the compiled files, or the errors in the source. With an error, nothing is written.
    /// - Throws: `wouldReplace` if the path holds something else; `usage` if it has the wrong extension; any error from
    ///   reading or writing.
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
    /// - Throws: `usage` if a rule does not exist, git is missing or the revision is unknown; `modelInvalid` if the
    ///   lock file cannot be read; `modelNotFound` if the lock file has no versions of this model; `storeUnknown` for a
    ///   store of another app.
    public func lint(
        profiles: Set<LintProfile> = [], ignoring: Set<String> = [], since revision: String? = nil,
        lock: String? = nil, countingObjectsOf store: String? = nil
    ) async throws -> LintResult {
        try await onThread { _ in
            var request = LintRequest(profiles: Set(profiles.map(\.rules)))
            request.ignored = ignoring.sorted()
            (request.revision, request.lock, request.store) = (revision, lock, store)
            return try LintResult(request, ofModelsAt: [path], registry) { _ in
                LintedModels(try bundle(), versions, answers: answers, mappings: mappingPaths)
            }
        }
    }

    /// Finds the shapes that the model has at the tags of its git repository: which version describes each, which
    /// versions are missing, and which tag each store of a folder is of.
    ///
    /// - Parameters:
    ///   - tags: a shell pattern of the tags, such as `v*`; nil for all.
    ///   - stores: a folder of stores, or one store; nil for none.
    ///   - isWriting: whether to write the missing versions into the model, and all versions into its lock file.
    /// - Returns: the shapes, with the tags, the versions and the stores of each.
    /// - Throws: `usage` if git, the repository or the tags are missing, and for a model that versions cannot be added
    ///   to; `modelNotFound` if no tag has the model; `fileNotFound` for missing stores; `lockFileMismatch` if a locked
    ///   version has changed; `wouldReplace` if there is a bundle already; any error from reading or writing. After an
    ///   error the model is as it was.
    public func reconstruct(
        tags: String? = nil, stores: String? = nil, isWriting: Bool = false
    ) async throws -> ReconstructionReport {
        try await onThread { _ in
            try ReconstructionReport(
                try bundle(), isInFiles: path != nil, tags: tags.map { [$0] } ?? [], stores: stores,
                isWriting: isWriting, self)
        }
    }
}
