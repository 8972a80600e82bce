import Foundation

/// A whole run: makes the stores with `moult`, compares them, and writes the report.
public struct Run {
    let comparison: Comparison
    let models: URL
    /// This program, which is started again for each open question.
    let own: Program

    /// - Parameters:
    ///   - moult: the path of the program `moult`.
    ///   - models: a folder of `.xcdatamodeld` bundles.
    ///   - scratch: a folder for stores; it is created.
    ///   - own: the path of `moult-parity`.
    public init(moult: String, models: URL, scratch: URL, own: String) throws {
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        comparison = Comparison(moult: Program(moult), sqlite: Program("/usr/bin/sqlite3"), scratch: scratch)
        self.models = models
        self.own = Program(own)
    }

    /// Runs every check, and says each as it is made.
    public func report(_ say: (Check) -> Void = { _ in }) throws -> Report {
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        let version = try comparison.moult(["--version"]).trimmingCharacters(in: .whitespacesAndNewlines)
        #if canImport(Darwin)
            var report = Report(coreData: "Apple's", system: "macOS \(system)", moult: version)
        #else
            var report = Report(coreData: "Moult's own", system: system, moult: version)
        #endif
        func add(_ check: Check) {
            say(check)
            report.checks.append(check)
        }
        let bundles = try FileManager.default.contentsOfDirectory(at: models, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "xcdatamodeld" }.sorted { $0.path < $1.path }
        for source in bundles {
            let model = try CompiledModel(source, comparison)
            for name in model.versions { add(comparison.hashes(of: name, in: model.bundle)) }
            for one in try model.cases() {
                for check in comparison.checks(of: one) { add(check) }
            }
        }
        add(comparison.swiftData())
        for question in OpenQuestions.all {
            let store = try comparison.folder().appendingPathComponent("question.store")
            do {
                _ = try own(["--question", question.name, store.path])
            } catch {
                add(Check(kind: .swiftData, subject: question.name, differences: [], compared: 0, error: "\(error)"))
                continue
            }
            let answer = comparison.question(store, named: question.name)
            add(answer.check)
            report.hashes.merge(answer.hashes) { _, new in new }
        }
        return report
    }

    /// Makes the store of one open question, in the process that may end there.
    public static func makeStore(ofQuestion name: String, at path: String) throws {
        guard let question = OpenQuestions.all.first(where: { $0.name == name }) else {
            throw ParityError("There is no question \(name).")
        }
        try Comparison.make(URL(fileURLWithPath: path), question.types, question.make)
    }
}

/// A model, compiled by Moult, and the stores that Moult makes of its versions.
struct CompiledModel {
    let bundle: URL
    /// Oldest first.
    let versions: [String]
    private let comparison: Comparison

    init(_ source: URL, _ comparison: Comparison) throws {
        self.comparison = comparison
        let name = source.deletingPathExtension().lastPathComponent
        bundle = try comparison.folder().appendingPathComponent("\(name).momd")
        _ = try comparison.moult(["compile", source.path, "-o", bundle.path, "--no-warnings"])
        let printed = try comparison.moult(["hash", bundle.path, "--json", "--experimental"])
        let document = try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any]
        versions = (document?["versions"] as? [String: Any] ?? [:]).keys
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    /// New stores of each version, with and without history, and the store of each version migrated to each later one:
    /// at once, with the columns of a new store, and deferred, before and after the work that was left.
    func cases() throws -> [StoreCase] {
        var cases: [StoreCase] = []
        for (index, version) in versions.enumerated() {
            let store = try new(version, [])
            cases.append(StoreCase(name: "\(version), new", store: store, bundle: bundle, version: version))
            cases.append(
                StoreCase(
                    name: "\(version), with history", store: try new(version, ["--history"]), bundle: bundle,
                    version: version, hasHistory: true))
            for later in versions[(index + 1)...] {
                for (way, options) in [("migrated", []), ("normalised", ["--normalise"]), ("deferred", ["--deferred"])]
                {
                    let migrated = try comparison.copy(store)
                    try migrate(migrated, to: later, options)
                    let name = "\(later), \(way) from \(version)"
                    if way == "deferred" {
                        let unfinished = StoreCase(
                            name: "\(name), not finished", store: try comparison.copy(migrated), bundle: bundle,
                            version: later)
                        cases.append(unfinished)
                        _ = try comparison.moult(
                            ["finish", migrated.path, "--model", bundle.path])
                    }
                    cases.append(
                        StoreCase(name: name, store: migrated, bundle: bundle, version: later, older: store))
                }
            }
        }
        return cases
    }

    private func new(_ version: String, _ options: [String]) throws -> URL {
        let store = try comparison.folder().appendingPathComponent("store.sqlite")
        _ = try comparison.moult(
            ["create", store.path, "--model", bundle.path, "--version", version, "--fill", "12", "--experimental"]
                + options)
        return store
    }

    private func migrate(_ store: URL, to version: String, _ options: [String]) throws {
        _ = try comparison.moult(
            ["migrate", store.path, "--model", bundle.path, "--to", version, "--accept-losses", "--experimental"]
                + options)
    }
}
