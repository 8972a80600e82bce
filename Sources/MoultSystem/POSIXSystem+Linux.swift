#if os(Linux)
    import Glibc
    import MoultModel

    extension POSIXSystem {
        package func copy(_ path: String, to copy: String) throws {
            try withDescriptor(path, O_RDONLY, to: "read") { source in
                var record = stat()
                guard fstat(source, &record) == 0 else { throw MigrationError.system("look at", path) }
                let mode = record.st_mode & 0o777
                try withDescriptor(copy, O_WRONLY | O_CREAT | O_EXCL, mode: mode | 0o200, to: "write") { destination in
                    // <linux/fs.h> FICLONE: both files share their blocks until one of them is written.
                    if ioctl(destination, 0x4004_9409, source) == 0 { return }
                    try copyInKernel(from: source, to: destination, size: Int(record.st_size))
                    try copyPieces(from: source, to: destination, path, copy)
                }
            }
        }

        /// Copies as much as the kernel can without showing it to the process; what is left follows by read and write.
        private func copyInKernel(from source: Int32, to destination: Int32, size: Int) throws {
            var left = size
            while left > 0 {
                let count = retrying { sendfile(destination, source, nil, min(left, 1 << 30)) }
                if count <= 0 { return }
                left -= count
            }
        }

        /// The boot's own name and the process's start in clock ticks since then (`man 5 proc`, stat, field 22).
        package func startTime(ofProcess identifier: Int32) -> String? {
            guard let bytes = try? read("/proc/\(identifier)/stat") else { return nil }
            // The second field is the program's name in parentheses, which may hold spaces and parentheses.
            guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = bytes[bytes.index(after: end)...].split(separator: UInt8(ascii: " "))
            guard fields.count > 19, let boot = try? read("/proc/sys/kernel/random/boot_id") else { return nil }
            return String(decoding: boot.prefix(8) + [UInt8(ascii: "-")] + fields[19], as: UTF8.self)
        }
    }
#endif
