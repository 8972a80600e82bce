/// The information that the system has about a file without opening it (`man 2 stat`).
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, folder, other }

    package var kind: Kind
    /// Bytes.
    package var size: Int64
    /// When the contents last changed.
    package var modified: Timestamp
    /// When the contents or the file's own record last changed.
    package var changed: Timestamp
    package var device: UInt64
    package var inode: UInt64
    /// The number of names the file has.
    package var links: UInt64
    /// The permission bits.
    package var mode: UInt32
    /// The numbers of the user and the group that the file belongs to.
    package var owner: UInt32
    package var group: UInt32

    package init(
        kind: Kind, size: Int64, modified: Timestamp, changed: Timestamp, device: UInt64, inode: UInt64, links: UInt64,
        mode: UInt32, owner: UInt32, group: UInt32
    ) {
        self.kind = kind
        self.size = size
        self.modified = modified
        self.changed = changed
        self.device = device
        self.inode = inode
        self.links = links
        self.mode = mode
        self.owner = owner
        self.group = group
    }

    /// Whether both name one file of one volume, whatever it holds.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
