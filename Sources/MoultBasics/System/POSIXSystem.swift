/// The real machine.
package struct POSIXSystem: System {
    package init() {}

    /// Repeats a call that a signal interrupted.
    func retrying<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    // MARK: - Clock, processes and names

    package var processIdentifier: Int32 { getpid() }
    package var user: UInt32 { geteuid() }

    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(time)
    }

    package var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    package var temporaryFolder: String {
        guard let value = getenv("TMPDIR"), value.pointee != 0 else { return "/tmp" }
        return String(cString: value)
    }

    package var sortingFolder: String { Self.sortingFolder { getenv($0).map { String(cString: $0) } } }

    /// Returns the first folder of SQLite's list that exists and can be written to (`unixTempFileDir` in `os_unix.c`).
    ///
    /// - Parameter variable: returns a variable of the environment; nil if it is not set.
    package static func sortingFolder(_ variable: (String) -> String?) -> String {
        let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap(variable)
        let folders = named + ["/var/tmp", "/usr/tmp", "/tmp"]
        return folders.first { folder in
            (try? POSIXSystem().status(of: folder))?.kind == .folder && access(folder, W_OK | X_OK) == 0
        } ?? "."
    }

    package func uniqueName() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: (0..<16).map { _ in digits[Int.random(in: 0..<16)] }, as: UTF8.self)
    }
}

extension Timestamp {
    init(_ time: timespec) {
        self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
    }
}

extension POSIXSystem {
    /// Uses `flock`, not `fcntl`: a POSIX lock vanishes when the process closes any descriptor of the file.
    package func lock(_ path: String, _ rights: FileRights) throws -> FileLock? {
        while true {
            let descriptor = try openFile(path, O_RDWR, making: rights, to: "lock")
            guard retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
                let number = errno
                close(descriptor)
                if number == EWOULDBLOCK { return nil }
                throw MigrationError.system("lock", path, error: number)
            }
            // A lock on a file that was removed or replaced in the meantime excludes no process: try again.
            var held = stat()
            if fstat(descriptor, &held) == 0, let named = try status(of: path), named.isSameFile(as: FileStatus(held)) {
                return FileLock {
                    // Closing alone would leave the lock with a forked child that has not yet called exec.
                    flock(descriptor, LOCK_UN)
                    close(descriptor)
                }
            }
            close(descriptor)
        }
    }
}

extension MigrationError {
    /// Returns the error of a failed system call; `action` is a verb phrase such as "read" or "make the folder".
    package static func system(_ action: String, _ path: String, error number: Int32 = errno) -> MigrationError {
        let cause = String(cString: strerror(number))
        let name = path.isEmpty ? "it" : path
        // An action may name its object itself.
        let it = action.contains(" the ") ? action : "\(action) it"
        switch number {
        case ENOENT where ["write", "make", "make the folder"].contains(action):
            return MigrationError(
                .fileNotFound, "Nothing can be made at \(name).", place: path,
                remedy: "Name a path in a folder that exists and takes new files.", cause: cause)
        case ENOENT, ENOTDIR:
            return MigrationError(
                .fileNotFound, "Nothing is at \(name), so Moult could not \(it).", place: path,
                remedy: "Check the path.", cause: cause)
        case ELOOP:
            return MigrationError(
                .fileNotReadable,
                "\(name) is a cycle of symbolic links, so Moult could not "
                    + "\(it).", place: path, remedy: "Name the file itself, or correct the links.", cause: cause)
        case EROFS:
            return MigrationError(
                .readOnly, "The volume of \(name) cannot be written, so Moult could not \(it).", place: path,
                remedy: "Mount the volume writable, or name another folder.", cause: cause)
        case EPERM where opens(action):
            return .protectedData(path, cause: cause)
        case EACCES, EPERM:
            if ["make", "make the folder"].contains(action) { return .mayNotMake(path, action, cause) }
            let isReading = ["read", "list", "look at", "find"].contains(action)
            return MigrationError(
                isReading ? .fileNotReadable : .readOnly, "This user may not \(action) \(name).", place: path,
                remedy: "Give this user the permission, or run as another user.", cause: cause)
        case ENOSPC, EDQUOT:
            return MigrationError(
                .insufficientStorage, "The volume became full while Moult tried to \(action) \(name).", place: path,
                remedy: "Free some space and run the command again.", cause: cause)
        case ELOOP:
            return MigrationError(
                .fileNotReadable, "\(name) is a symbolic link, or its path contains one, which Moult does not follow.",
                place: path, remedy: "Put the file itself there, or remove the link.", cause: cause)
        case EISDIR:
            return MigrationError.notAFile(path, S_IFDIR)
        case ENXIO:
            return MigrationError.notAFile(path, S_IFIFO)
        case EIO:
            return MigrationError(
                .inputOutput, "The disk failed while Moult tried to \(action) \(name).", place: path,
                remedy: "Check the system's log for the disk's error, then run the command again.", cause: cause
            )
        default:
            return MigrationError(
                .inputOutput, "Moult could not \(action) \(name).", place: path,
                remedy: "Check the cause, then run the command again.", cause: cause)
        }
    }

    /// Returns the error for a file or folder whose own folder this user may not write to. An unfinished file may be in a
    /// folder of its own; the person has named the file.
    private static func mayNotMake(_ path: String, _ action: String, _ cause: String) -> MigrationError {
        let named = path.withoutStagedNames
        let parent = Path.folder(of: named)
        return MigrationError(
            .readOnly,
            "This user may not \(named == path ? action : "make") \(named) in \(parent == "." ? "this folder" : parent).",
            place: path, remedy: "Give this user the permission to write in the folder, or name another folder.",
            cause: cause)
    }

    /// Whether a call opens a file for its contents. On Linux, an immutable file cannot be opened for writing either.
    private static func opens(_ action: String) -> Bool {
        #if canImport(Darwin)
            return ["read", "list", "copy", "write", "lock"].contains(action)
        #else
            return ["read", "list", "copy"].contains(action)
        #endif
    }

    /// Returns the error for a file that this user may read, but that the system does not open now.
    package static func protectedData(_ path: String, cause: String?) -> MigrationError {
        MigrationError(
            .protectedData, "The system does not open \(path.isEmpty ? "the file" : path) now: its data is protected.",
            place: path,
            remedy:
                "Wait until the device is unlocked (UIApplication.protectedDataDidBecomeAvailableNotification), and "
                + "try again. Nothing was changed. On a computer, a policy of the system forbids it to this program.",
            cause: cause)
    }

    /// Returns the error for a path that already exists.
    package static func taken(_ path: String, for place: String? = nil) -> MigrationError {
        MigrationError(
            .usage, "There is already something at \(path).", place: place ?? path,
            remedy: "Name a path that does not exist, or move what is there.")
    }

    /// Returns the error for a path that exists but is not a plain file.
    ///
    /// - Parameter type: the type bits of `st_mode`.
    static func notAFile(_ path: String, _ type: mode_t) -> MigrationError {
        let kind =
            switch type {
            case S_IFDIR: "a folder"
            case S_IFIFO: "a FIFO (a named pipe)"
            case S_IFCHR, S_IFBLK: "a device"
            case S_IFSOCK: "a socket"
            default: "something else"
            }
        return MigrationError(
            .fileNotReadable, "\(path) is \(kind), not a file.", place: path, remedy: "Name a plain file.")
    }
}
