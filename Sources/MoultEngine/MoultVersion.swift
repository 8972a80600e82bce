/// The version of Moult, as written in manifests and bundles and by the command line.
package enum MoultVersion {
    package static let number = "0.2.0"
    /// The commit; nil for a build that was not made from `git archive`, which inserts it here (.gitattributes).
    package static var commit: String? { archived.hasPrefix("$") ? nil : String(archived.prefix(12)) }

    private static let archived = "$Format:%H$"
}
