import TestSupport
import Testing

@testable import MoultSQLite

/// The blocks that are read back, beside a file in memory and what was written to each byte of it.
struct WrittenBlocksTests {
    /// A file, the bytes that no proof has read yet, each with the end of its block, and the blocks under test.
    private struct Trial {
        var file: [UInt8] = []
        var unread: [Int: Int] = [:]
        var blocks = WrittenBlocks()
        var reads = 0

        mutating func write(_ bytes: [UInt8], at offset: Int) {
            if blocks.overlaps(Int32(bytes.count), at: Int64(offset)) {
                let outcome = prove()
                #expect(outcome == .equal)
            }
            if file.count < offset + bytes.count {
                file += [UInt8](repeating: 0, count: offset + bytes.count - file.count)
            }
            for (index, byte) in bytes.enumerated() {
                (file[offset + index], unread[offset + index]) = (byte, offset + bytes.count)
            }
            bytes.withUnsafeBytes { blocks.note($0, at: Int64(offset)) }
        }

        mutating func truncate(to size: Int) {
            file = Array(file.prefix(size))
            unread = unread.filter { $0.value <= size }
            blocks.truncate(to: Int64(size))
        }

        mutating func prove() -> Outcome {
            unread = [:]
            let file = file
            var reads = 0
            defer { self.reads += reads }
            let result = blocks.prove { buffer, count, offset in
                reads += 1
                let bytes = Array(file.dropFirst(Int(offset)).prefix(Int(count)))
                let zeros = [UInt8](repeating: 0, count: Int(count) - bytes.count)
                buffer?.copyMemory(from: bytes + zeros, byteCount: Int(count))
                return bytes.count < count ? IOError.shortRead : 0
            }
            return result != 0 ? .failed : blocks.takeDifference() ? .different : .equal
        }
    }

    private enum Outcome { case equal, different, failed }

    /// Writes as a WAL and a database get them: frames behind each other, headers written again, pages in any order.
    private func trial(_ random: inout SeededGenerator) -> Trial {
        var trial = Trial()
        let (isLog, page) = (Bool.random(using: &random), [16, 64].randomElement(using: &random) ?? 16)
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            let number = Int.random(in: 0..<20, using: &random)
            func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 1...255, using: &random) } }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: trial.truncate(to: Int.random(in: 0...trial.file.count, using: &random))
            case 1: trial.write(bytes(Int.random(in: 1...40, using: &random)), at: number * 7)
            case 2:
                let outcome = trial.prove()
                #expect(outcome == .equal)
            case 3...11 where isLog: trial.write(bytes(24), at: 32 + number * (24 + page))
            case _ where isLog: trial.write(bytes(page), at: 56 + number * (24 + page))
            default: trial.write(bytes(page), at: number * page)
            }
        }
        return trial
    }

    @Test func `what was written is found equal`() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var trial = trial(&random)
            let outcome = trial.prove()
            #expect(outcome == .equal, "seed \(seed)")
        }
    }

    @Test func `each byte that differs is found`() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var trial = trial(&random)
            guard let offset = trial.unread.keys.sorted().randomElement(using: &random) else { continue }
            trial.file[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let outcomes = [trial.prove(), trial.prove()]
            #expect(outcomes == [.different, .equal], "seed \(seed), byte \(offset)")
        }
    }

    @Test func `a byte that is read wrong differs until it is proven`() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var trial = trial(&random)
            guard let wrong = trial.unread.keys.sorted().randomElement(using: &random) else { continue }
            func isRead(_ range: Range<Int>) -> Bool {
                trial.file[range].withUnsafeBytes { trial.blocks.match($0, at: Int64(range.lowerBound)) }
            }
            let count = trial.file.count
            let before = isRead(0..<count)
            trial.file[wrong] ^= 1
            let around = isRead(max(0, wrong - 3)..<min(wrong + 3, count))
            let beside = [isRead(0..<wrong), isRead((wrong + 1)..<count)]
            let outcome = trial.prove()
            let after = isRead(0..<count)
            #expect(before && !around && beside == [true, true] && after, "seed \(seed), byte \(wrong)")
            #expect(outcome == .different)
        }
    }

    @Test func `a file that is too short differs`() {
        var trial = Trial()
        trial.write([UInt8](repeating: 1, count: 64), at: 0)
        trial.file.removeLast()
        let outcome = trial.prove()
        #expect(outcome == .different)
    }

    @Test func `blocks that follow each other are read together`() {
        var trial = Trial()
        for page in (0..<100).reversed() { trial.write([UInt8](repeating: 7, count: 4096), at: page * 4096) }
        let outcome = trial.prove()
        #expect(outcome == .equal)
        #expect(trial.reads == 2)
    }

    @Test func `a difference is remembered until the file is emptied`() {
        var trial = Trial()
        trial.write([1, 2, 3], at: 0)
        trial.file[0] = 9
        let outcome = trial.prove()
        #expect(outcome == .different)
        #expect(trial.blocks.hasDiffered && !trial.blocks.differs)
        trial.truncate(to: 2)
        #expect(trial.blocks.hasDiffered)
        trial.truncate(to: 0)
        #expect(!trial.blocks.hasDiffered)
    }

    @Test func `a read that fails ends the proof`() {
        var blocks = WrittenBlocks()
        [1, 2, 3].withUnsafeBytes { blocks.note($0, at: 0) }
        let result = blocks.prove { _, _, _ in IOError.read }
        #expect(result == IOError.read)
    }
}
