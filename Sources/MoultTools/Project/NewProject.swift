import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

/// A new `moult.json` for a project, and a lock file for each of its models.
package struct NewProject: ToolAnswer {
    private let path: String
    private let bundles: [ModelBundle]
    private let profiles: [LintRule.Profile]
    /// The models that this call locked.
    private let locked: Set<String>

    /// - Throws: `wouldReplace` if the file exists.
    package static func check(_ path: String) throws {
        let system = POSIXSystem()
        guard try system.exists(path) else { return }
        let configuration = try? ProjectConfiguration(json: system.read(path), path: path)
        let others = try configuration.map(unnamed) ?? []
        let sentence = others.isEmpty ? "" : " It does not name \(others.joined(separator: ", "))."
        let add: Remedy = "Add the models to it as models, and run \(.lock, with: others.map { .path($0) })."
        throw MigrationError(
            .wouldReplace, "\(path) exists. Nothing was written.\(sentence)", place: path,
            remedy: others.isEmpty ? "Edit it, or remove it first." : add)
    }

    /// Returns the models in the folder of a configuration, or below it, that it does not name.
    package static func unnamed(by configuration: ProjectConfiguration) throws -> [String] {
        let system = POSIXSystem()
        func whole(_ path: String) -> String { (try? system.resolve(path)) ?? path }
        let known = configuration.models.map(whole)
        return try models(in: Path.folder(of: configuration.path)).filter { path in
            let path = whole(path)
            return !known.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
        }.inByteOrder()
    }

    /// Locks the versions of the models that are not locked yet, then writes the configuration.
    package init(_ bundles: [ModelBundle], profiles: [LintRule.Profile], at path: String) throws {
        try Self.check(path)
        try LockReport.checkPlaces(of: bundles)
        (self.path, self.bundles, self.profiles) = (path, bundles, profiles)
        let unlocked = bundles.filter { $0.lock?.versions(of: $0.path) == nil }
        locked = Set(unlocked.map(\.path))
        let models: JSONValue.Member =
            bundles.count == 1
            ? .init("model", .string(bundles[0].path)) : .init("models", JSONValue(bundles.map(\.path)))
        let settings: JSONValue = .object(
            [models] + (profiles.isEmpty ? [] : [.init("profiles", JSONValue(profiles.map(\.rawValue)))]))
        // Write the locks first, so that a model with a moult.json is always locked.
        for bundle in unlocked { try LockReport.pin(bundle) }
        try StagedPath.replace([(path, Array((settings.indented + "\n").utf8))], .byUmask, POSIXSystem())
    }

    package var document: JSONValue {
        let profiles = JSONValue(profiles.map(\.rawValue))
        guard bundles.count != 1 else {
            return [
                "format": 1, "path": .string(path), "model": .string(bundles[0].path), "profiles": profiles,
                "lock": .string(ModelLock.path(besideModelAt: bundles[0].path)),
                "versions": JSONValue(bundles[0].versions.map(\.name)),
            ]
        }
        let models: [JSONValue] = bundles.map { bundle in
            [
                "model": .string(bundle.path), "lock": .string(ModelLock.path(besideModelAt: bundle.path)),
                "versions": JSONValue(bundle.versions.map(\.name)),
            ]
        }
        return ["format": 1, "path": .string(path), "models": .array(models), "profiles": profiles]
    }

    package func lines(style: TextStyle) -> [String] {
        let isOne = bundles.count == 1
        let models = bundles.map(\.path.printable).joined(separator: ", ")
        let locks = bundles.map { bundle in
            let lock = ModelLock.path(besideModelAt: bundle.path).printable
            let count = Quantity.count(bundle.versions.count, "version")
            let model = isOne ? "" : " of \(bundle.path.printable)"
            return locked.contains(bundle.path)
                ? "Locked \(count)\(model) in \(lock)."
                : "\(lock) has \(isOne ? "the model" : bundle.path.printable) already, and stays as it is."
        }
        return ["Wrote \(path.printable): the \(isOne ? "model is" : "models are") \(models)."] + locks + [
            String(advice: "Commit these files. Then run \(.lint, with: bundles.map { .path($0.path) }).")
        ]
    }

    // MARK: - Models

    /// Folders that contain third-party code or build products.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "node_modules", "DerivedData", "build", "SourcePackages",
    ]

    /// Returns the models in a folder and its subfolders.
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
