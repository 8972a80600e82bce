import Foundation

/// SplitMix64: the same numbers for the same seed, on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A seed that differs from run to run, or the one of a failure to repeat: `MOULT_SEED=123`. Expectations print it.
    package static let seedOfRun: UInt64 =
        ProcessInfo.processInfo.environment["MOULT_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)

    /// The numbers of this run for one of its trials, by words that differ from trial to trial.
    package static func ofRun(_ words: String) -> SeededGenerator {
        SeededGenerator(seed: words.utf8.reduce(seedOfRun) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }
}

extension [UInt8] {
    /// The bytes with a few seeded faults: bits flipped, bytes replaced, pieces removed, repeated or cut off.
    package func mutated(seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes = self
        for _ in 0...Int.random(in: 0..<4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let end = Swift.min(bytes.count, place + Int.random(in: 1..<16, using: &generator))
            switch Int.random(in: 0..<8, using: &generator) {
            case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2, 3: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 4: bytes[place] = [0x00, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
            case 5: bytes.removeSubrange(place..<end)
            case 6: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default: bytes.removeSubrange((bytes.count + place) / 2..<bytes.count)
            }
        }
        return bytes
    }
}

extension [UInt8] {
    /// The bytes of the sqlite3 shell's `hex()`; anything that is no digit is skipped.
    package init(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
