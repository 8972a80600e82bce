import Foundation
import MoultBasics
import MoultTools

extension Benchmarks {
    /// Every object as CSV, beside the shell's own over the raw table.
    func exporting(_ store: BenchmarkStore) throws -> [Figure] {
        let source = settings.hasLargeStore ? try BenchmarkStore(rows: settings.rows * 10, in: folder) : store
        defer { if source.path != store.path { _ = try? FileManager.default.removeItem(atPath: source.path) } }
        let (ours, theirs) = (folder + "/exported", folder + "/raw.csv")
        var (seconds, others, peaks, processor): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        try rounds(min(settings.rounds, 3)) { _ in
            let export = try Command.child("export", source.path, ours).run()
            seconds.append(export.seconds)
            peaks.append(Double(try export.json["peak"]?.integer ?? 0) / 1_048_576)
            try FileManager.default.removeItem(atPath: ours)
            let shell = try Command.shell(source.path, ".mode csv", ".once \(theirs)", "SELECT * FROM ZITEM").run()
            others.append(shell.seconds)
            processor.append(shell.processorSeconds / export.processorSeconds)
            try FileManager.default.removeItem(atPath: theirs)
        }
        return [
            Figure(
                name: "export as CSV / .mode csv (speed)", rows: source.rows, ours: seconds, theirs: others,
                isSpeed: true, details: ["processor": processor, "peak": peaks]),
            Figure(name: "peak memory of the export", rows: source.rows, ours: peaks, unit: .mebibytes),
        ]
    }
}

extension ChildWork {
    /// Exports a store as `moult export` does.
    static func export(_ store: String, to folder: String) throws {
        _ = try ExportWriter(.csv).write(store, StoreExport.Selection(), versions: nil, to: folder)
        print(JSONValue.object([.init("peak", .integer(peakMemory))]).compact)
    }
}
