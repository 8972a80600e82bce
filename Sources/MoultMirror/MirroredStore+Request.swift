import MoultEngine
import MoultModel
import MoultReport
import MoultSystem

extension MirroredStore {
    /// Makes the second store that a request for a migration into another file asks for, and begins to follow the first.
    /// The request is kept, with its paths in full.
    ///
    /// - Throws: `lockFileMismatch` if a released version has changed; what ``start(_:versions:to:at:options:request:system:isCancelled:)``
    ///   throws.
    package static func start(
        _ request: StoreRequest, _ context: StoreSession.Context, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> MirroredStore {
        guard case .migrateInto(let second) = request.work else {
            throw MigrationError(
                .internal, "The request names no place for the second store.", place: request.store,
                remedy: "Please report this.")
        }
        try request.check()
        try context.versions.checkReleased()
        var kept = request
        kept.models = try request.models?.resolved(POSIXSystem())
        return try start(
            request.store, versions: context.versions, to: request.target, at: second,
            options: PreparedMigration.Options(request.options, context), request: kept, isCancelled: isCancelled)
    }

    /// The mirror that a store has, with the options that it was begun with.
    ///
    /// - Parameter options: what they permit is permitted too.
    /// - Throws: `lockFileMismatch`, and what ``init(of:versions:options:system:isCancelled:)`` throws.
    package init(
        of store: String, _ options: RunOptions, _ context: StoreSession.Context,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        try context.versions.checkReleased()
        var begun = try Self.record(of: store).record.request.options
        if options.isExperimental { begun.isExperimental = true }
        if options.allowsCloudKit { begun.allowsCloudKit = true }
        begun.acceptedLosses.formUnion(options.acceptedLosses)
        try self.init(
            of: store, versions: context.versions, options: PreparedMigration.Options(begun, context),
            isCancelled: isCancelled)
    }
}

extension StoreRequest.Models {
    /// The same files by paths that hold in every working folder.
    fileprivate func resolved(_ system: any System) throws -> Self {
        try Self(
            path: system.resolve(path), order: order, answers: answers.map { try system.resolve($0) },
            mappings: mappings.map { try system.resolve($0) })
    }
}
