import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import MoultTools
import TestSupport

/// A folder of empty stores of the forum's versions, and their manifest.
struct FleetGround {
    let folder: ScratchFolder
    let versions: ModelVersions

    static let model = packageRoot.appendingPathComponent("Examples/Forum.xcdatamodeld").path

    init() throws {
        // Paths in a manifest have no links.
        folder = try ScratchFolder()
        versions = ModelVersions(try ModelBundle(contentsOf: Self.model))
    }

    var path: String { (try? POSIXSystem().resolve(folder.path)) ?? folder.path }

    /// Makes an empty store of a version.
    @discardableResult
    func store(_ name: String, version: Int = 0) throws -> String {
        let path = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try StoreCreator(versions.versions[version]).make(at: path)
        return path
    }

    func manifest(shards: Int = 1) throws -> FleetManifest {
        FleetManifest(
            fleet: "0123456789abcdef", plannedAt: "2026-01-01T00:00:00Z", host: "here", roots: [path], options: [],
            versions: versions.versions.map(\.name), modelDigest: "d", target: "Forum 3", shards: shards)
    }

    /// Plans the folder, and returns the path of the manifest.
    func plan(
        _ roots: [String]? = nil, shards: Int = 1, name: String = "fleet.jsonl"
    ) throws -> (path: String, summary: FleetPlan.Summary) {
        let file = "\(path)/\(name)"
        var bytes: [UInt8] = []
        let look = try StoreLook(versions, target: nil)
        let summary = try FleetPlan(manifest(shards: shards), look: look, outlook: { _ in })
            .run(roots ?? [path]) { bytes += $0 }
        try POSIXSystem().write(bytes, to: file)
        return (file, summary)
    }

    func entries(_ manifest: String) throws -> [FleetEntry] {
        var entries: [FleetEntry] = []
        _ = try FleetManifest(contentsOf: manifest) { entry, _ in entries.append(entry) }
        return entries
    }
}
