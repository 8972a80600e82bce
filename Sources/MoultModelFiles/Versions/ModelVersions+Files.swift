import Dispatch
import MoultModel
import Synchronization

extension ModelVersions {
    /// Reads every version of a model: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, a model as JSON, or a
    /// folder of versions. The versions are read on all cores.
    ///
    /// - Parameter order: names, oldest first, that override every other order; versions it leaves out come after.
    /// - Throws: `MigrationError` with code `fileNotFound`, `fileNotReadable`, `modelNotFound`, `modelInvalid`; `usage`
    ///   for an order that names what is not there.
    package init(contentsOf path: String, order: [String]? = nil) throws {
        let source = try ModelSource(at: path)
        let read = try Self.readAll(source.files)
        let disagreements = source.versionInfo?.findings(
            against: read.map(\.version), place: source.path + "/VersionInfo.plist")
        let ordered = try Self.ordered(read.map(\.version), by: order ?? [], path: source.path)
        self.init(
            joining: ordered, currentName: source.currentName,
            findings: source.findings + (disagreements ?? []) + read.flatMap(\.findings))
    }

    private typealias Reading = (version: ModelVersion, findings: [Finding])

    private static func readAll(_ files: [ModelFile]) throws -> [Reading] {
        let results = Mutex<[Int: Result<Reading, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: files.count) { position in
            let result = Result<Reading, any Error> {
                let (model, findings) = try files[position].read()
                return (ModelVersion(names: [files[position].name], model: model), findings)
            }
            results.withLock { $0[position] = result }
        }
        let done = results.withLock { $0 }
        return try files.indices.compactMap { try done[$0]?.get() }
    }

    private static func ordered(_ versions: [ModelVersion], by names: [String], path: String) throws -> [ModelVersion] {
        let rank = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        if let unknown = names.first(where: { name in !versions.contains { $0.name == name } }) {
            throw MigrationError(
                .usage, "The order names \(unknown), which is no version of the model.", place: path,
                remedy:
                    "Its versions are: \(versions.map(\.name).sorted { $0.precedesNaturally($1) }.joined(separator: ", "))."
            )
        }
        return versions.sorted { left, right in
            switch (rank[left.name], rank[right.name]) {
            case (let left?, let right?): left < right
            case (_?, nil): true
            case (nil, _?): false
            case (nil, nil): left.name.precedesNaturally(right.name)
            }
        }
    }
}
