import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore

/// What a person waits for at a terminal.
extension Benchmarks {
    /// The longest known chain of real models, where the corpus is at hand.
    var longChain: String? {
        let root = ProcessInfo.processInfo.environment["MOULT_CORPUS"] ?? "../shared/corpus"
        let path = root + "/woocommerce__woocommerce-ios/Storage/Storage/Model/WooCommerce.xcdatamodeld"
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// Planning over 117 versions: every edge compared, classified, inferred, composed.
    func planning() throws -> [Figure] {
        guard let longChain else {
            skip("no corpus; set MOULT_CORPUS to measure a chain of 117 versions")
            return []
        }
        var reading: [Double] = []
        var planning: [Double] = []
        try rounds(settings.rounds) { _ in
            let begun = Clock.now
            let versions = try ModelVersions(contentsOf: longChain)
            let read = Clock.now
            let path = try MigrationPath(versions, from: 0, to: versions.versions.count - 1)
            planning.append(Clock.now - read)
            reading.append(read - begun)
            guard path.edges.count > 100 else {
                throw MigrationError(.internal, "The chain has only \(path.edges.count) edges.", remedy: "")
            }
        }
        return [
            Figure(name: "planning 117 versions", ours: planning),
            Figure(name: "reading the sources of 117 versions", ours: reading),
        ]
    }

    /// Compiling the sources of 117 versions, as a build does.
    func compiling() throws -> [Figure] {
        guard let longChain else {
            skip("no corpus; set MOULT_CORPUS to measure compiling 117 versions")
            return []
        }
        let compiled = try (0..<settings.rounds).map { _ in try Command.child("compile", longChain).run().json }
        return [
            Figure(name: "compiling 117 versions", ours: compiled.map { $0.number("run") }),
            Figure(
                name: "peak memory, compiling 117 versions", ours: compiled.map { $0.number("peak") / 1_048_576 },
                unit: .mebibytes),
        ]
    }

    var moult: String { settings.moult }

    func commandLine() throws -> [Figure] {
        guard FileManager.default.isExecutableFile(atPath: moult) else {
            skip("there is no \(moult)")
            return []
        }
        var figures = [try timed("moult --version", ["--version"])]
        guard try hasStatus() else {
            skip("moult has no status yet")
            return figures
        }
        let small = try BenchmarkStore(rows: 1000, in: folder)
        let sources = try tenSources()
        figures.append(
            try timed("moult status, 10 sources", ["status", small.path, "--model", sources]))
        if let longChain {
            let store = folder + "/long.sqlite"
            let versions = try ModelVersions(contentsOf: longChain)
            try StoreCreator(versions.versions[0]).make(at: store)
            figures.append(
                try timed("moult status, 117 sources", ["status", store, "--model", longChain]))
            let twelve = try firstTwelve(of: longChain)
            figures.append(try timed("moult lint, 12 versions", ["lint", twelve]))
            figures.append(
                try timed("moult lint, 117 versions", ["lint", longChain]))
        }
        return figures
    }

    /// A bundle of the first versions of a longer one.
    private func firstTwelve(of bundle: String) throws -> String {
        let path = folder + "/Twelve.xcdatamodeld"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for version in try ModelVersions(contentsOf: bundle).versions.prefix(12) {
            let name = "\(version.names.last ?? version.name).xcdatamodel"
            try FileManager.default.copyItem(atPath: "\(bundle)/\(name)", toPath: "\(path)/\(name)")
        }
        return path
    }

    private func hasStatus() throws -> Bool {
        do {
            try Command(moult, ["status", "--help"]).run()
            return true
        } catch let error as MigrationError where error.code == .internal {
            return false
        }
    }

    private func timed(_ name: String, _ arguments: [String]) throws -> Figure {
        let command = Command(moult, arguments)
        try command.run()
        let times = try (0..<15).map { _ in try command.run().seconds * 1000 }
        return Figure(name: name, ours: times, unit: .milliseconds)
    }

    /// The ten versions as an `.xcdatamodeld`.
    private func tenSources() throws -> String {
        let bundle = folder + "/Ten.xcdatamodeld"
        for version in try BenchmarkModel.change(named: "chain").versions.versions {
            let source = "\(bundle)/\(version.name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            try version.model.xmlContents().write(toFile: source + "/contents", atomically: true, encoding: .utf8)
        }
        return bundle
    }
}
