import MoultModel

/// File systems that several machines share, where a lock of one may not keep another out.
enum SharedFileSystem {
    /// As `/proc/self/mountinfo` names them.
    private static let types: Set<String> = [
        "nfs", "nfs4", "lustre", "gpfs", "cifs", "smb3", "smbfs", "ceph", "fuse.ceph", "glusterfs", "fuse.glusterfs",
        "beegfs", "pvfs2", "orangefs", "afs", "ocfs2", "gfs2", "9p", "panfs", "wekafs", "fuse.sshfs", "fuse.s3fs",
        "fuse.juicefs", "fuse.gcsfuse", "virtiofs",
    ]

    /// Returns the error for a store that must not be changed: one in a device's backup, or on a file system that
    /// machines share; nil for any other.
    static func refusal(of entry: FleetEntry, on type: String) -> MigrationError? {
        if entry.isInDeviceBackup {
            return MigrationError(
                .unsupported,
                "The store is a file of a device's backup, which has the digest of it and keeps its log as another file.",
                place: entry.path,
                remedy: "Restore the backup, or copy the store out of it with its log, and plan a fleet of the copies.")
        }
        guard types.contains(type) else { return nil }
        return MigrationError(
            .unsupported,
            "The store is on a file system that machines share (\(type)), where locks may not keep another machine out.",
            place: entry.path,
            remedy: "Copy it to a disk of this machine, migrate the copy with \(.migrate), check it with "
                + "\(.validate), put it next to the store under a new name, and let one program change what points to it."
        )
    }
}
