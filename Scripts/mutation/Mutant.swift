#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The one mutant that `MOULT_MUTANT` chooses by its number; none without it.
///
/// If `MOULT_MUTANT` is `trace`, no mutant is chosen, and the number of each that is reached is added to the file that
/// `MOULT_MUTANT_TRACE` names, as a line, once in a process.
package enum Mutant {
    private static let variable = getenv("MOULT_MUTANT").map { String(cString: $0) }
    private static let chosen = variable.flatMap { Int($0) } ?? 0
    private static let traced = variable == "trace" ? getenv("MOULT_MUTANT_TRACE").map { String(cString: $0) } : nil
    /// A byte for each number. If two threads set one at the same time, the file has the number twice.
    nonisolated(unsafe) private static let reached: UnsafeMutablePointer<UInt8> = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 16)
        bytes.initialize(repeating: 0, count: 1 << 16)
        return bytes
    }()

    /// Whether the mutant is the chosen one.
    package static func on(_ number: Int) -> Bool {
        if let traced { note(number, in: traced) }
        return number == chosen
    }

    /// Returns a condition, or its opposite where the mutant is chosen.
    package static func turns(_ number: Int, _ condition: Bool) -> Bool { condition != on(number) }

    /// Returns a bound, or the next one where the mutant is chosen.
    package static func moved<Bound: Numeric>(_ number: Int, _ bound: Bound) -> Bound { on(number) ? bound + 1 : bound }

    private static func note(_ number: Int, in path: String) {
        guard number >= 0, number < 1 << 16, reached[number] == 0 else { return }
        reached[number] = 1
        let line = Array("\(number)\n".utf8)
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        // One call, so that the lines of several processes are not mixed.
        _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        _ = close(file)
    }
}
