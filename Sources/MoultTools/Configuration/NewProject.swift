import MoultEngine
import MoultLint
import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem

/// A project that gets its `moult.json`, and a lock file for its model.
package struct NewProject: ToolAnswer {
    private let path: String
    private let bundle: ModelBundle
    private let profiles: [LintRule.Profile]
    /// Whether the versions were locked now.
    private let locks: Bool

    /// - Throws: `wouldReplace` if the file is there.
    package static func check(_ path: String) throws {
        guard try !POSIXSystem().exists(path) else {
            throw MigrationError(
                .wouldReplace, "\(path) exists. Nothing was written.", place: path,
                remedy: "Edit it, or remove it first.")
        }
    }

    /// Locks the versions of a model that no lock file has, then writes the configuration.
    package init(_ bundle: ModelBundle, profiles: [LintRule.Profile], at path: String) throws {
        try Self.check(path)
        (self.path, self.bundle, self.profiles) = (path, bundle, profiles)
        locks = bundle.lock?.versions(of: bundle.path) == nil
        let settings: JSONValue = .object(
            [.init("model", .string(bundle.path))]
                + (profiles.isEmpty ? [] : [.init("profiles", JSONValue(profiles.map(\.rawValue)))]))
        // Where moult.json is, the model is locked.
        if locks { try LockReport.pin(bundle) }
        try UnfinishedPath.replace([(path, Array((settings.indented + "\n").utf8))], .byUmask, POSIXSystem())
    }

    private var lockPath: String { ModelLock.path(besideModelAt: bundle.path) }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path), "model": .string(bundle.path),
            "profiles": JSONValue(profiles.map(\.rawValue)), "lock": .string(lockPath),
            "versions": JSONValue(bundle.versions.map(\.name)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        [
            "Wrote \(path.printable): the model is \(bundle.path.printable).",
            locks
                ? "Locked \(Quantity.count(bundle.versions.count, "version")) in \(lockPath.printable)."
                : "\(lockPath.printable) has the model already, and stays as it is.",
            String(advice: "Commit both files. Then run \(.lint)."),
        ]
    }

    // MARK: - Models

    /// Folders that hold code of others, or what was built.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "node_modules", "DerivedData", "build", "SourcePackages",
    ]

    /// The models in a folder and below it.
    package static func models(in folder: String, depth: Int = 0) throws -> [String] {
        let system = POSIXSystem()
        guard depth <= 8, let names = try? system.list(folder) else { return [] }
        return try names.flatMap { name -> [String] in
            let path = folder == "." ? name : Path.join(folder, name)
            guard !name.hasPrefix("."), !skipped.contains(name), try !system.isLink(path),
                try system.status(of: path)?.kind == .folder
            else { return [] }
            return name.hasSuffix(".xcdatamodeld") ? [path] : try models(in: path, depth: depth + 1)
        }
    }
}
