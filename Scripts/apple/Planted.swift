// Errors for the test of Scripts/check-apple. A comment names the platforms where a line does not compile; every other
// line must compile on all of them.
import CCrypto  // error: macos ios tvos
import Foundation

#if canImport(Glibc)
    import Nowhere
#endif

// A misspelt name, in a branch that only one platform reads.
#if os(macOS)
    let misspeltThere = renamex_nq("a", "b", 0)  // error: macos
#elseif os(iOS)
    let misspeltThere = renamex_nq("a", "b", 0)  // error: ios
#endif

// Names.
let rightName = renamex_np("a", "b", UInt32(RENAME_EXCL))
let wrongCopy = fcopyfile(0, 0, nil, copyfile_flags_t(COPYFILE_DATA_SPARS))  // error: macos ios tvos
let wrongExchange = renameat2(AT_FDCWD, "a", AT_FDCWD, "b", 2)  // error: macos ios tvos

// Widths and types.
let rightMode: UInt16 = S_IFMT
let wrongMode: UInt32 = S_IFMT  // error: macos ios tvos
let wrongDevice: UInt64 = stat().st_dev  // error: macos ios tvos
let wrongSocket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)  // error: macos ios tvos
let wrongThread = pthread_create(nil, nil, { (_: UnsafeMutableRawPointer?) in nil as Int? }, nil)  // error: macos ios tvos

// Linux's calls, flags and fields.
let wrongAdvice = posix_fadvise(0, 0, 0, 4)  // error: macos ios tvos
let wrongSpace = posix_fallocate(0, 0, 10)  // error: macos ios tvos
let wrongFlag = O_DIRECT  // error: macos ios tvos
let wrongSocketFlag = SOCK_CLOEXEC  // error: macos ios tvos
let wrongField = stat().st_mtim  // error: macos ios tvos
let rightField = stat().st_mtimespec
let wrongHandler = sigaction().__sigaction_handler  // error: macos ios tvos
let wrongModule = Glibc.getpid()  // error: macos ios tvos

// Calls that Darwin's module for Swift, or some systems, do not have.
func start() -> Int32 { fork() }  // error: macos ios tvos
func replace() -> Int32 { execvp("a", nil) }  // error: tvos
func describe(_ process: Int32, _ name: UnsafeMutableRawPointer) -> Int32 { proc_name(process, name, 1) }  // error: ios tvos
let wrongHome = FileManager.default.homeDirectoryForCurrentUser  // error: ios tvos
let wrongProcess = Process()  // error: ios tvos

// Members of NSObject there.
class Keyed: NSObject {
    func value(forKey key: String) -> Any? { nil }  // error: macos ios tvos
    func willChangeValue(forKey key: String) {}  // error: macos ios tvos
    func anything(forKey key: String) -> Any? { nil }
}

// Calls off the main actor.
func undo(_ manager: UndoManager) { manager.undo() }  // error: macos ios tvos
@MainActor func undoThere(_ manager: UndoManager) { manager.undo() }

// `system` is a function of the C library there, and a property has to be named with `self`.
struct Holder {
    let system: any System
    func take(_ value: some System) {}
    func wrong() { use(on: system) }  // error: macos ios tvos
    func right() { use(on: self.system) }
    func use(on system: some System) {}
}
