// The C library of the system, which every file that imports this module has.
#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#elseif canImport(Android)
    @_exported import Android
#elseif canImport(Darwin)
    @_exported import Darwin
#endif

// Calls of the C library where a type has a method of the same name.

package func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

package func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

func systemRename(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

package func systemPipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

package func systemKill(_ process: pid_t, _ signal: Int32) -> Int32 { kill(process, signal) }
