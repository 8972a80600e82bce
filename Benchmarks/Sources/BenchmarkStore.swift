import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// Stores of the first version, made by Moult's own writer and copied for each measurement.
struct BenchmarkStore {
    let path: String
    let rows: Int

    /// A store that somebody has made.
    init(path: String, rows: Int) {
        self.path = path
        self.rows = rows
    }

    /// Makes a store of so many rows of about 190 bytes, in WAL mode, auto_vacuum 2, framework 1526.
    init(rows: Int, in folder: String) throws {
        path = "\(folder)/template-\(rows).sqlite"
        self.rows = rows
        // A store of as many rows is the same one.
        if FileManager.default.fileExists(atPath: path) { return }
        let version = try BenchmarkModel.change(named: "in-place").versions.versions[0]
        let maker = try StoreCreator(version, framework: 1526, uuid: "5E0F5C5A-9C4B-4C5D-8A51-0D5A1B2C3D4E")
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
        let inserter = try writer.inserter(BenchmarkModel.entity, BenchmarkModel.attributes.map(\.name))
        var numbers = Numbers(state: 20_261_120)
        for row in 0..<rows { try inserter.insert(Self.values(row, &numbers)) }
        try writer.finish()
    }

    /// In the order of ``BenchmarkModel/attributes``; every third row has no note.
    private static func values(_ row: Int, _ numbers: inout Numbers) -> [PropertyValue] {
        let random = numbers.next()
        let note = row.isMultiple(of: 3) ? nil : AttributeValue.string("A note of some words about item \(row)")
        let values: [AttributeValue?] = [
            .decimal("\(random % 1_000_000).\(row % 100)"),
            .integer(Int64(row % 1_000_000)),
            .date(Double(random % 1_000_000_000)),
            .uuid(numbers.bytes(16)),
            .boolean(row.isMultiple(of: 2)),
            note,
            .binary(numbers.bytes(40)),
            .double(Double(random % 1_000_000) / 7),
            .integer(Int64(row % 1000)),
            .string("Item \(random % 1_000_000_000) of the shelf"),
        ]
        return values.map { PropertyValue.attribute($0) }
    }

    /// A copy under a name of its own, on the disk before anything is measured.
    func copy(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/\(name)"
        _ = try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let system = POSIXSystem()
        try system.copy(path, to: folder + "/store.sqlite")
        try system.synchronise(folder + "/store.sqlite")
        return folder + "/store.sqlite"
    }

    static func remove(_ copy: String) {
        let folder = URL(fileURLWithPath: copy).deletingLastPathComponent()
        _ = try? FileManager.default.removeItem(at: folder)
    }

    var size: Int64 { (try? POSIXSystem().status(of: path)?.size) ?? 0 }
}

/// SplitMix64: the same rows in every run.
private struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count / 8).flatMap { _ in withUnsafeBytes(of: next()) { Array($0) } }
    }
}
