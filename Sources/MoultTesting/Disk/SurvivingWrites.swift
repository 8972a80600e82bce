import MoultObjects

/// Decides by a seed which unsynchronised changes survive a power cut.
///
/// With seed 0 nothing survives; with the next seeds, in turns, few, half and most of the changes.
struct SurvivingWrites {
    static let sectorSize = 512

    private var generator: SeededGenerator
    /// Of eight changes.
    private let survivingEighths: UInt64

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        survivingEighths = seed == 0 ? 0 : [1, 4, 7][Int(seed % 3)]
    }

    mutating func keeps() -> Bool { generator.next() % 8 < survivingEighths }

    /// A write as it reached the disk: whole, not at all, or some of its sectors.
    mutating func pieces(of bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        guard survivingEighths > 0, generator.next() % 4 == 0 else {
            return keeps() ? [.write(offset: offset, bytes: bytes)] : []
        }
        return sectors(of: bytes, at: offset).filter { _ in keeps() }
    }

    /// A write that was under way: at least one sector is missing, where it has more than one.
    mutating func torn(_ bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        let all = sectors(of: bytes, at: offset)
        guard !all.isEmpty else { return [] }
        let missing = Int(generator.next() % UInt64(all.count))
        return all.enumerated().filter { $0.offset != missing && generator.next() % 2 == 0 }.map(\.element)
    }

    private func sectors(of bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        stride(from: 0, to: bytes.count, by: Self.sectorSize).map { start in
            .write(offset: offset + start, bytes: Array(bytes[start..<min(start + Self.sectorSize, bytes.count)]))
        }
    }
}
