import MoultModel

extension ModelVersions {
    /// The versions that lie at a path, where those with equal hashes are one node.
    ///
    /// - Parameter order: names, oldest first, that override every other order.
    /// - Throws: as ``ModelBundle/init(contentsOf:order:)``.
    package init(contentsOf path: String, order: [String]? = nil) throws {
        self.init(try ModelBundle(contentsOf: path, order: order))
    }

    package init(_ bundle: ModelBundle) {
        self.init(joining: bundle.versions, currentName: bundle.currentName, findings: bundle.findings)
    }
}
