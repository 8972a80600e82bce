import CSQLite
import Synchronization

/// Counts SQLite's allocations, and has one of them, or all from one on, fail as if there were no memory left.
///
/// It holds for the whole process, so only a program that does nothing next to its trials may ask for it.
package enum AllocationFaults {
    private static let count = Atomic<Int>(0)
    private static let first = Atomic<Int>(.max)
    private static let last = Atomic<Int>(.max)

    private struct Methods: @unchecked Sendable {
        var original = sqlite3_mem_methods()
    }

    nonisolated(unsafe) private static var methods = Methods()

    /// Puts itself between SQLite and its allocator.
    ///
    /// - Returns: false once SQLite was used: then it takes no other allocator any more.
    package static let isInstalled: Bool = {
        guard moult_sqlite_get_allocator(&methods.original) == SQLITE_OK else { return false }
        var watched = methods.original
        watched.xMalloc = { size in
            AllocationFaults.isRefused() ? nil : AllocationFaults.methods.original.xMalloc?(size)
        }
        watched.xRealloc = { memory, size in
            AllocationFaults.isRefused() ? nil : AllocationFaults.methods.original.xRealloc?(memory, size)
        }
        return moult_sqlite_set_allocator(&watched) == SQLITE_OK
    }()

    /// Counts from 1 again. The allocation `number` fails, and all after it where `staysOut`; none when nil.
    package static func begin(failing number: Int? = nil, staysOut: Bool = false) {
        count.store(0, ordering: .relaxed)
        last.store(number == nil || staysOut ? .max : number ?? .max, ordering: .relaxed)
        first.store(number ?? .max, ordering: .relaxed)
    }

    /// Ends it; returns how many allocations there were.
    package static func end() -> Int {
        first.store(.max, ordering: .relaxed)
        return count.load(ordering: .relaxed)
    }

    private static func isRefused() -> Bool {
        let number = count.add(1, ordering: .relaxed).newValue
        return number >= first.load(ordering: .relaxed) && number <= last.load(ordering: .relaxed)
            && number != .max
    }
}
