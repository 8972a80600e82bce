/// The rights to read and write a new file or folder; each has its rights from the moment it is there.
package enum FileRights: Sendable, Hashable {
    /// This user alone: for copies, and wherever no other rights are given.
    case own
    /// Whoever may read and write the file or folder at a path, never anybody more: its permissions, and its owner and
    /// group where this user may give them. SQLite gives a journal the rights of its database in the same way. Where
    /// nothing is at the path, this user alone.
    case like(String)
    /// As the process's umask says: for what is made from no store.
    case byUmask
}
