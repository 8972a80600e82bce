import MoultModel
import MoultObjects
import MoultStore

/// A store for tests, filled with objects that follow from a seed.
public enum SampleStore {
    /// Makes a store as Core Data would, and fills it: each attribute type with its extremes and with nil, each kind of
    /// relationship, each entity that is not abstract. The same seed makes the same objects.
    ///
    /// - Parameters:
    ///   - path: taken by nothing yet.
    ///   - name: the version of the model; the oldest when nil.
    ///   - count: objects of each entity.
    ///   - isHostile: whether values include extremes, such as NUL in text, or only everyday ones.
    /// - Throws: `modelNotFound` if no version has the name, `usage` if the path is taken.
    public static func make(
        at path: String, of models: ModelVersions, version name: String? = nil, seed: UInt64 = 1, count: Int = 16,
        isHostile: Bool = false
    ) throws {
        let version = name.map { name in models.versions.first { $0.names.contains(name) } } ?? models.versions.first
        guard let version else {
            throw MigrationError(
                .modelNotFound, "The model has no version \(name ?? "").", place: path,
                remedy: "Name one of \(models.versions.map(\.name).joined(separator: ", ")).")
        }
        let maker = try StoreMaker(version)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try SampleData(seed: seed, count: count, isHostile: isHostile).fill(writer)
        try writer.finish()
    }
}
