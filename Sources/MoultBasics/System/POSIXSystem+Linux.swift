#if os(Linux)
    extension POSIXSystem {
        package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            try withFile(path, O_RDONLY | O_NOFOLLOW, to: "copy") { source in
                var record = stat()
                guard fstat(source, &record) == 0 else { throw MigrationError.system("look at", path) }
                try withNewFile(copy, rights) { destination in
                    if ioctl(destination, Self.clone, source) == 0 { return }
                    try copyInKernel(from: source, to: destination, size: record.st_size, copy)
                    try copyPieces(from: source, to: destination, path, copy)
                }
            }
        }

        /// <linux/fs.h> FICLONE: both files share their blocks until one of them is modified.
        private static let clone: UInt = 0x4004_9409

        package func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool {
            guard let source = descriptor(ofOpenFile: path) else { return false }
            let isCloned = try withNewFile(copy, rights) { ioctl($0, Self.clone, source) == 0 }
            // Another thread may have closed that descriptor, and its number may now stand for another file.
            if isCloned, descriptor(ofOpenFile: path) == source { return true }
            try remove(copy)
            return false
        }

        /// Returns a descriptor through which this process has the file open; nil also if there is no `/proc`.
        private func descriptor(ofOpenFile path: String) -> Int32? {
            var file = stat()
            guard stat(path, &file) == 0, let descriptors = try? list("/proc/self/fd") else { return nil }
            return descriptors.compactMap { Int32($0) }.first { descriptor in
                var open = stat()
                return fstat(descriptor, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino
            }
        }

        /// Copies as much as possible inside the kernel; the rest follows with read and write. Holes stay holes, so
        /// they take no space.
        private func copyInKernel(from source: Int32, to destination: Int32, size: off_t, _ path: String) throws {
            var place: off_t = 0
            while place < size {
                let start = lseek(source, place, Self.seekData)
                // Only a hole is left. A file system without support for holes has none.
                let isAtEnd = start < 0 && errno == ENXIO
                let next = isAtEnd ? size : start < 0 ? place : min(start, size)
                let hole = isAtEnd ? size : lseek(source, next, Self.seekHole)
                let end = hole < 0 ? size : min(hole, size)
                // Set both files to the same position again, because `lseek` has moved it.
                guard ftruncate(destination, next) == 0, lseek(destination, next, SEEK_SET) == next,
                    lseek(source, next, SEEK_SET) == next
                else { throw MigrationError.system("write", path) }
                if isAtEnd { return }
                place = next
                while place < end {
                    let count = retrying { sendfile(destination, source, nil, Int(min(end - place, 1 << 30))) }
                    if count <= 0 { return }
                    place += off_t(count)
                }
            }
        }

        /// Returns the boot identifier, and the start in clock ticks since the boot (`man 5 proc`, stat, field 22).
        package func startTime(ofProcess identifier: Int32) -> String? {
            guard let bytes = try? read("/proc/\(identifier)/stat") else { return nil }
            // The second field is the program's name in parentheses, and may itself contain spaces and parentheses.
            guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = bytes[bytes.index(after: end)...].split(separator: UInt8(ascii: " "))
            guard fields.count > 19, let boot = try? read("/proc/sys/kernel/random/boot_id") else { return nil }
            return String(decoding: boot.prefix(8) + [UInt8(ascii: "-")] + fields[19], as: UTF8.self)
        }

        /// `man 5 proc_locks`: `1: POSIX  ADVISORY  READ 1234 fe:00:5678 128 128`, the file as device and inode.
        package func holders(of path: String) -> [RunningProcess] {
            guard let status = try? status(of: path), let bytes = try? read("/proc/locks") else { return [] }
            let major = (status.device >> 8 & 0xfff) | (status.device >> 32 & ~0xfff)
            let minor = (status.device & 0xff) | (status.device >> 12 & ~0xff)
            var identifiers: Set<Int32> = []
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: " ")
                // A waiting lock has an arrow before its type.
                guard fields.count >= 8, fields[1] != "->", let identifier = Int32(fields[4]), identifier > 0 else {
                    continue
                }
                let file = fields[5].split(separator: ":")
                guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
                    UInt64(file[2]) == status.inode, identifier != processIdentifier
                else { continue }
                identifiers.insert(identifier)
            }
            return identifiers.sorted().map { RunningProcess(identifier: $0, name: name(ofProcess: $0)) }
        }

        /// The path of this program.
        package static func ownProgram() throws -> String { try POSIXSystem().resolve("/proc/self/exe") }

        private func name(ofProcess identifier: Int32) -> String {
            guard let bytes = try? read("/proc/\(identifier)/comm") else { return "" }
            return String(decoding: bytes.filter { $0 >= 0x20 }, as: UTF8.self)
        }
    }
#endif
