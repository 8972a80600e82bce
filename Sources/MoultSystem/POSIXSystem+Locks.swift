import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension POSIXSystem {
    /// `flock`, not `fcntl`: a POSIX lock vanishes when the process closes any descriptor of the file.
    package func lock(_ path: String, _ rights: FileRights) throws -> FileLock? {
        while true {
            let descriptor = try openFile(path, O_RDWR, making: rights, to: "lock")
            guard retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
                let number = errno
                close(descriptor)
                if number == EWOULDBLOCK { return nil }
                throw MigrationError.system("lock", path, error: number)
            }
            // A lock on a file that was removed or replaced in the meantime keeps no process out: take it again.
            var held = stat()
            if fstat(descriptor, &held) == 0, let named = try status(of: path), named.isSameFile(as: FileStatus(held)) {
                return FileLock {
                    // Closing alone leaves the lock to a child that was forked and has not begun its program yet.
                    flock(descriptor, LOCK_UN)
                    close(descriptor)
                }
            }
            close(descriptor)
        }
    }
}
