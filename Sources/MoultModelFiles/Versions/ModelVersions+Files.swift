import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ModelVersions {
    /// The versions that lie at a path, where those with equal hashes are one node.
    ///
    /// - Parameter order: names, oldest first, that override every other order.
    /// - Throws: as ``ModelBundle/init(contentsOf:order:)``.
    package init(contentsOf path: String, order: [String]? = nil) throws {
        self.init(try ModelBundle(contentsOf: path, order: order))
    }

    /// Reads every version that lies at `url`: a `.momd`, an `.xcdatamodeld`, one model file, or a folder of them.
    ///
    /// - Throws: `modelNotFound` if there is no model, `modelInvalid` and `fileNotReadable` if it cannot be read.
    public init(contentsOf url: URL) throws {
        do {
            try self.init(contentsOf: url.path)
        } catch let error as MigrationError where error.code == .fileNotFound {
            throw MigrationError.modelNotFound(at: url)
        }
    }

    package init(_ bundle: ModelBundle) {
        self.init(joining: bundle.versions, currentName: bundle.currentName, findings: bundle.findings)
        currentFault = bundle.currentFault
    }

    /// The versions that lie at a path, one for each file, for what their differences say: those with equal hashes are not
    /// one version, though a store of either opens with the other. Each goes by the names of its namesakes too.
    package init(oneByOne bundle: ModelBundle) {
        self.init(bundle)
        let nodes = versions
        versions = bundle.versions.map { version in
            nodes.first { $0.names.contains(version.name) }?.named(version.name) ?? version
        }
    }
}

extension MigrationError {
    package static func modelNotFound(at url: URL) -> MigrationError {
        MigrationError(
            .modelNotFound, "There is no model at this path.", place: url.path,
            remedy: "Give the path of an .xcdatamodeld, a .momd, an .xcdatamodel, a .mom or a folder of them.")
    }
}
