import MoultBasics

/// The mounted file systems and their mount points: on Linux from `/proc/self/mountinfo` (`man 5 proc`), on a Mac from
/// `getfsstat`.
package struct MountTable: Sendable {
    private let mounts: [(point: String, type: String)]

    /// Creates the table of this process; empty if the system has none.
    package init() {
        #if canImport(Darwin)
            let size = Int(getfsstat(nil, 0, MNT_NOWAIT))
            var records = Array(repeating: statfs(), count: max(size, 0) + 8)
            let bytes = Int32(records.count * MemoryLayout<statfs>.stride)
            let count = Int(getfsstat(&records, bytes, MNT_NOWAIT))
            mounts = records.prefix(max(count, 0)).map { (Self.text($0.f_mntonname), Self.text($0.f_fstypename)) }
        #else
            let bytes = (try? POSIXSystem().read("/proc/self/mountinfo")) ?? []
            self.init(String(decoding: bytes, as: UTF8.self))
        #endif
    }

    #if canImport(Darwin)
        /// Returns the text in an array of C.
        private static func text<Characters>(_ characters: Characters) -> String {
            withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
    #endif

    package init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count > 4, let dash = parts.firstIndex(of: "-"), dash + 1 < parts.count else { return nil }
            return (Self.unescaped(parts[4]), String(parts[dash + 1]))
        }
    }

    /// Returns the type of a path's file system, such as `ext4` or `nfs4`; nil if it is not in the table.
    ///
    /// - Parameter path: an absolute path without symbolic links.
    package func type(of path: String) -> String? {
        let above = mounts.filter { $0.point == "/" || path == $0.point || path.hasPrefix($0.point + "/") }
        let longest = above.map(\.point.utf8.count).max()
        // A later mount hides an earlier one at the same mount point.
        return above.last { $0.point.utf8.count == longest }?.type
    }

    /// Resolves the escapes of the table: a backslash and three octal digits for a space, tab, line break or backslash.
    private static func unescaped(_ text: Substring) -> String {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
