import Moult
import MoultModelFiles
import MoultSession

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
            return try lint(request)
        }
    }

    private func lint(_ request: LintRequest) throws -> LintResult {
        try LintResult(request, ofModelsAt: [path], registry) { _ in
            LintedModels(try bundle(), versions, answers: answers, mappings: mappingPaths)
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

// MARK: - CloudKit

extension Project {
    /// Returns the CloudKit schema that the mirroring of a version needs, as the framework initialises it.
    ///
    /// - Parameters:
    ///   - version: the name of the version; nil for the current one, or else the newest.
    ///   - configuration: the configuration that is mirrored; nil for those that the model marks for CloudKit, or for
    ///     all entities if it marks none.
    ///   - isShared: whether the app shares records, so that the schema has the record type of shares.
    ///   - production: a schema of Production. Its types and fields are kept, also those that the model does not have:
    ///     an import replaces the whole schema of Development.
    /// - Throws: `usage` for a version or a configuration that does not exist; `unsupported` for a model that no schema
    ///   can hold; `modelInvalid` for a schema that cannot be read.
    public func cloudKitSchema(
        of version: String? = nil, configuration: String? = nil, isShared: Bool = false,
        merging production: String? = nil
    ) async throws -> CloudKitSchemaReport {
        try await onThread { _ in
            try CloudKitSchemaReport(
                bundle().version(named: version), configuration: configuration, isShared: isShared,
                merging: production)
        }
    }

    /// Compares what the mirroring of the current version needs with the schema of CloudKit's Production environment.
    ///
    /// - Parameters:
    ///   - schema: the file with the schema, as the CloudKit console saves it.
    ///   - configuration: the configuration that is mirrored; nil for those that the model marks.
    ///   - revision: a git revision with the released model, such as `origin/main`; nil for the version before.
    /// - Returns: the findings; the `gap` of one about the schema says what is missing or impossible. The others are about
    ///   what Core Data refuses to mirror.
    /// - Throws: `usage` for a configuration or a revision that does not exist; `modelInvalid` for a schema that cannot
    ///   be read.
    public func checkCloudKit(
        schema: String, configuration: String? = nil, since revision: String? = nil
    ) async throws -> LintResult {
        try await onThread { _ in
            var request = LintRequest()
            request.revision = revision
            request.limitToCloudKit(schema: schema, configuration: configuration)
            return try lint(request)
        }
    }

    /// Compares the schemas that two versions need: what to deploy, and what can never be deployed.
    ///
    /// - Throws: `usage` for a version or a configuration that does not exist.
    public func cloudKitDifference(
        from older: String, to newer: String, configuration: String? = nil
    ) async throws -> CloudKitDifference {
        try await onThread { _ in
            let bundle = try bundle()
            return try CloudKitDifference(
                from: bundle.version(named: older), to: bundle.version(named: newer), configuration: configuration)
        }
    }

    /// Compares the schemas in two files.
    ///
    /// - Throws: `modelInvalid` with the line and column of what is not part of the language; `fileNotFound`.
    public static func cloudKitDifference(
        fromFile older: String, toFile newer: String
    ) async throws -> CloudKitDifference {
        try await onThread { _ in try CloudKitDifference(from: older, to: newer) }
    }
}
