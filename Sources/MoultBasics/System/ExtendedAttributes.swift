/// The extended attributes of a file that are its user's: on Linux those of the namespace `user` (`man 7 xattr`), on
/// Apple's systems all, such as the mark that leaves a file out of backups (`man 2 getxattr`).
///
/// They are read by path: closing a descriptor of a store would drop SQLite's locks.
struct ExtendedAttributes {
    private var values: [(name: String, value: [UInt8])] = []

    init() {}

    init(of path: String) {
        let names = Self.bytes { Calls.list(path, $0, $1) }
        for name in names.split(separator: 0) where Calls.isOfUser(name) {
            let name = String(decoding: name, as: UTF8.self)
            values.append((name, Self.bytes { Calls.get(path, name, $0, $1) }))
        }
    }

    /// Sets the attributes of a file. A file system that does not support them, or has no room, leaves them out, as does
    /// a system for those that only it may set.
    func give(to descriptor: Int32) {
        for (name, value) in values { Calls.set(descriptor, name, value) }
    }

    /// Returns what a call writes, which is asked for its size first; empty if it fails.
    private static func bytes(_ call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8] {
        let size = call(nil, 0)
        guard size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
        return Array(bytes.prefix(max(count, 0)))
    }
}

extension ExtendedAttributes {
    #if canImport(Darwin)
        private enum Calls {
            static func isOfUser(_ name: ArraySlice<UInt8>) -> Bool { true }

            static func list(_ path: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
                listxattr(path, buffer?.assumingMemoryBound(to: CChar.self), size, 0)
            }

            static func get(_ path: String, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
                getxattr(path, name, buffer, size, 0, 0)
            }

            static func set(_ descriptor: Int32, _ name: String, _ value: [UInt8]) {
                _ = fsetxattr(descriptor, name, value, value.count, 0, 0)
            }
        }
    #else
        private enum Calls {
            static func isOfUser(_ name: ArraySlice<UInt8>) -> Bool { name.starts(with: "user.".utf8) }

            static func list(_ path: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
                list?(path, buffer, size) ?? -1
            }

            static func get(_ path: String, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
                get?(path, name, buffer, size) ?? -1
            }

            static func set(_ descriptor: Int32, _ name: String, _ value: [UInt8]) {
                _ = set?(descriptor, name, value, value.count, 0)
            }

            // Glibc's module for Swift does not have these calls.
            private typealias List = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
            private typealias Get =
                @convention(c) (
                    UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
                ) -> Int
            private typealias Set =
                @convention(c) (
                    Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
                ) -> Int32

            private static let list = dlsym(nil, "listxattr").map { unsafeBitCast($0, to: List.self) }
            private static let get = dlsym(nil, "getxattr").map { unsafeBitCast($0, to: Get.self) }
            private static let set = dlsym(nil, "fsetxattr").map { unsafeBitCast($0, to: Set.self) }
        }
    #endif
}
