/// The version of Moult, as manifests, bundles and the command line name it.
package enum MoultVersion {
    package static let number = "0.1.0"
}
