import MoultModel

/// The mounted file systems and their mount points, as `/proc/self/mountinfo` lists them (`man 5 proc`).
package struct MountTable: Sendable {
    private let mounts: [(point: String, type: String)]

    /// The table of this process; empty where the system has none.
    package init() {
        let bytes = (try? POSIXSystem().read("/proc/self/mountinfo")) ?? []
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    package init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count > 4, let dash = parts.firstIndex(of: "-"), dash + 1 < parts.count else { return nil }
            return (Self.unescaped(parts[4]), String(parts[dash + 1]))
        }
    }

    /// The type of the file system that a path lies on, such as `ext4` or `nfs4`; nil if the table does not say.
    ///
    /// - Parameter path: absolute, without symbolic links.
    package func type(of path: String) -> String? {
        let above = mounts.filter { $0.point == "/" || path == $0.point || path.hasPrefix($0.point + "/") }
        let longest = above.map(\.point.utf8.count).max()
        // A later mount hides an earlier one at the same place.
        return above.last { $0.point.utf8.count == longest }?.type
    }

    /// Spaces, tabs, line breaks and backslashes are written as a backslash and three octal digits.
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
