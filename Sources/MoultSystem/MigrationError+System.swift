import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension MigrationError {
    /// The error of a failed system call: `action` reads like "read" or "make the folder".
    package static func system(_ action: String, _ path: String, error number: Int32 = errno) -> MigrationError {
        let cause = String(cString: strerror(number))
        let name = path.isEmpty ? "it" : path
        switch number {
        case ENOENT, ENOTDIR:
            return MigrationError(
                .fileNotFound, "Nothing is at \(name), so Moult could not \(action) it.", place: path,
                remedy: "Check the path.", cause: cause)
        case EROFS:
            return MigrationError(
                .readOnly, "The volume of \(name) cannot be written, so Moult could not \(action) it.", place: path,
                remedy: "Mount the volume writable, or name another folder.", cause: cause)
        case EACCES, EPERM:
            let isReading = ["read", "list", "look at", "find"].contains(action)
            return MigrationError(
                isReading ? .fileNotReadable : .readOnly, "This user may not \(action) \(name).", place: path,
                remedy: "Give this user the permission, or run as another user.", cause: cause)
        case ENOSPC, EDQUOT:
            return MigrationError(
                .insufficientStorage, "The volume ran full while Moult tried to \(action) \(name).", place: path,
                remedy: "Free some space and run the command again.", cause: cause)
        default:
            return MigrationError(
                .inputOutput, "Moult could not \(action) \(name).", place: path,
                remedy: "Look into the cause, then run the command again.", cause: cause)
        }
    }
}
