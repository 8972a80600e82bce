import Foundation
import MoultCare

extension PersistentStoreMirror {
    /// The means by which a mirror knows what was written.
    public typealias Means = MirrorMeans
    /// The changes that one sync has made to the store that follows.
    public typealias Sync = MirrorSync
    /// The status of a mirror.
    public typealias Status = MirrorStatus
    /// The result of the comparison with a fresh migration.
    public typealias Verification = MirrorVerification
}

extension MirrorStatus {
    /// The store that apps write to.
    public var primaryURL: URL { URL(fileURLWithPath: primary) }
    /// The store that follows the one at ``primaryURL``.
    public var replicaURL: URL { URL(fileURLWithPath: replica) }
    /// The name of the first store's version.
    public var version: String { from }
    /// The name of the second store's version.
    public var mirrorVersion: String { to }
}
