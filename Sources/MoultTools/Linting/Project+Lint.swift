import Moult

extension Project {
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
