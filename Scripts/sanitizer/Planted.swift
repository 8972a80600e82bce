// Planted faults for the test of Scripts/sanitize, and what is right beside each: the first argument chooses one.
import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
    private var plain = 0
    private let guarded = Mutex(0)

    func count(isGuarded: Bool) {
        if isGuarded { guarded.withLock { $0 += 1 } } else { plain += 1 }
    }
}

/// Counts on threads and in tasks at the same time.
func count(isGuarded: Bool) async {
    let counter = Counter()
    let threads = (0..<3).map { _ in
        Thread { for _ in 0..<20_000 { counter.count(isGuarded: isGuarded) } }
    }
    for thread in threads { thread.start() }
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask { for _ in 0..<20_000 { counter.count(isGuarded: isGuarded) } }
        }
    }
    while !threads.allSatisfy(\.isFinished) { usleep(1_000) }
}

/// Reads a byte of a block of four, at the end or behind it.
func read(at index: Int) -> UInt8 {
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    defer { bytes.deallocate() }
    bytes.initialize(repeating: 7, count: 4)
    return bytes[index]
}

switch CommandLine.arguments.dropFirst().first {
case "thread-wrong": await count(isGuarded: false)
case "thread-right": await count(isGuarded: true)
case "address-wrong": print(read(at: 4))
default: print(read(at: 3))
}
