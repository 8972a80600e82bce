import Moult
import MoultBasics
import MoultModel

/// The shapes that a model has at the tags of its repository, and the versions and stores that have each.
public struct ReconstructionReport: Sendable, CustomStringConvertible, ToolAnswer {
    /// A shape of the model: the versions with the same version hashes.
    public struct Shape: Sendable, Hashable {
        /// Core Data's checksum of the version hashes, in base64.
        public let checksum: String
        /// The tags whose model has a version of the shape, oldest first.
        public let tags: [String]
        /// The tags of which it is the current version, oldest first: the stores of their apps have it.
        public let releases: [String]
        /// The file of the shape, as `TAG:PATH`.
        public let place: String
        /// The version of the model that describes it; nil if none does.
        public let version: String?
        /// The name of the version that the model lacks; nil for a shape that a version describes, or that no app wrote.
        public let missingVersion: String?
        /// The number of its entities.
        public let entities: Int
    }

    /// A store with its shape.
    public struct Store: Sendable, Hashable {
        /// The path of the store.
        public let path: String
        /// The checksum of its shape, in base64; nil for a store of no tag and no version.
        public let checksum: String?
        /// The tags that it may be of, oldest first: those that released its shape, or else those that have it.
        public let tags: [String]
        /// The name of its version, missing or not; nil for a store of none.
        public let version: String?
    }

    /// A path of the model in the repository.
    public struct Place: Sendable, Hashable {
        /// The path from the root of the repository.
        public let path: String
        /// The tags that have the model there, oldest first.
        public let tags: [String]
    }

    /// The path of the model; the folder for one that a program provides.
    public let model: String
    /// The tags that match, oldest first.
    public let tags: [String]
    /// The tags that do not have the model.
    public let tagsWithoutModel: [String]
    /// The paths where the tags have the model, newest first.
    public let places: [Place]
    /// The shapes, by their first tag.
    public let shapes: [Shape]
    /// The stores that were compared.
    public let stores: [Store]
    /// The path of the model that the missing versions were written into; nil if nothing was written.
    public let written: String?
    /// The order of the versions, the missing ones included, oldest first; empty if nothing is missing.
    public let order: [String]
    /// The tags, versions and stores that need attention.
    public let findings: [Finding]

    /// Whether every shape that was released, and every store, has a version in the model.
    public var isComplete: Bool {
        let isDescribed = written != nil || shapes.allSatisfy { $0.missingVersion == nil }
        return isDescribed && stores.allSatisfy { $0.version != nil }
    }

    /// The text that `moult reconstruct` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult reconstruct --json` prints, on one line.
    public var json: String { document.compact }

    /// - Parameters:
    ///   - isInFiles: whether the model is in files, and not only in a program.
    ///   - patterns: shell patterns of the tags; empty for all.
    ///   - folder: a folder of stores; nil for none.
    ///   - isWriting: whether to write the missing versions.
    ///   - project: the model's answers and mapping models.
    /// - Throws: see ``Moult/Project/reconstruct(tags:stores:isWriting:)``.
    package init(
        _ bundle: ModelBundle, isInFiles: Bool, tags patterns: [String], stores folder: String?, isWriting: Bool,
        _ project: Project
    ) throws {
        var work = try Reconstruction(bundle, isInFiles: isInFiles, tags: patterns, stores: folder)
        work.checkWay(
            project.answers,
            registered: try project.stages(in: project.versions) + project.registry.stages(in: project.versions))
        written = isWriting ? try work.write() : nil
        model = bundle.path
        let history = work.history
        tags = history.tags
        func names(_ positions: [Int]) -> [String] { positions.reversed().map { history.tags[$0] } }
        tagsWithoutModel = history.tagsWithoutModel.map { history.tags[$0] }
        places = history.places.map { Place(path: $0.path, tags: names($0.tags)) }
        shapes = history.shapes.map { shape in
            Shape(
                checksum: shape.checksum.base64, tags: names(shape.tags), releases: names(shape.releases),
                place: "\(shape.tag):\(shape.path)", version: work.version(of: shape.checksum),
                missingVersion: work.missing(shape.checksum)?.name, entities: shape.version.model.entities.count)
        }
        stores = work.stores.map { store in
            let shape = store.checksum.flatMap(work.shape)
            return Store(
                path: store.path, checksum: store.checksum?.base64,
                tags: names(shape.map { $0.releases.isEmpty ? $0.tags : $0.releases } ?? []),
                version: store.checksum.flatMap(work.versionName))
        }
        // If the current version is unknown, so is the order.
        order = work.missing.isEmpty ? [] : (try? work.unwritten())?.all.map(\.name) ?? []
        findings = work.findings
    }

    // MARK: JSON

    package var document: JSONValue {
        [
            "format": 1, "model": .string(model), "tags": JSONValue(tags),
            "tagsWithoutModel": JSONValue(tagsWithoutModel),
            "places": .array(places.map { ["path": .string($0.path), "tags": JSONValue($0.tags)] }),
            "shapes": .array(shapes.map(\.document)), "stores": .array(stores.map(\.document)),
            "order": JSONValue(order), "written": JSONValue(written),
            "findings": .array(findings.map(\.document)),
        ]
    }

    // MARK: Text

    package func lines(style: TextStyle) -> [String] {
        let missing = shapes.filter { $0.missingVersion != nil }
        let counts = [
            Quantity.count(tags.count, "tag"), Quantity.count(shapes.count, "shape"),
            "\(Quantity.count(missing.count)) of them missing",
        ]
        var table = TextTable([.left("version"), .left("current at"), .left("also at")])
        for shape in shapes {
            let others = shape.tags.filter { !shape.releases.contains($0) }
            let name =
                shape.version ?? shape.missingVersion.map { "\($0) (\(written == nil ? "missing" : "written"))" }
                ?? "none (never current)"
            table.add(name.printable, Self.list(shape.releases), Self.list(others))
        }
        var held = TextTable([.left("store"), .left("version"), .left("tags")])
        for store in stores {
            held.add(store.path.printable, (store.version ?? "unknown").printable, Self.list(store.tags))
        }
        return ["\(model.printable): \(counts.joined(separator: ", ")).", ""] + table.lines(style: style)
            + (stores.isEmpty ? [] : [""] + held.lines(style: style)) + [""] + notes + findingLines(style) + ending
    }

    /// The sentences about the paths that the model had.
    private var notes: [String] {
        let moved = places.filter { Path.name(of: $0.path) != Path.name(of: model) || places.count > 1 }
        return moved.map { "\($0.path.printable) is the model at \(Self.list($0.tags))." }
            + (tagsWithoutModel.isEmpty ? [] : ["The model is not at \(Self.list(tagsWithoutModel))."])
    }

    private func findingLines(_ style: TextStyle) -> [String] { findings.flatMap { $0.lines(style: style) } }

    private var ending: [String] {
        let names = shapes.compactMap(\.missingVersion).map(\.printable).joined(separator: ", ")
        if let written {
            return ["Wrote \(names) into \(written.printable), and locked all versions."]
                + (written == model
                    ? []
                    : [
                        "Put \(written.printable) into the Xcode project in place of \(model.printable), and remove "
                            + "\(model.printable): while both are there, they count as two models."
                    ])
        }
        return names.isEmpty
            ? ["Every shape that was released has a version."]
            : [String(advice: "Nothing was written. With \(option: .write), the missing versions are.")]
    }

    private static func list(_ tags: [String]) -> String {
        guard tags.count > 4 else { return tags.map(\.printable).joined(separator: ", ") }
        return "\(tags[0].printable) … \(tags[tags.count - 1].printable) (\(Quantity.count(tags.count)))"
    }
}

extension ReconstructionReport.Shape {
    fileprivate var document: JSONValue {
        [
            "checksum": .string(checksum), "tags": JSONValue(tags), "releases": JSONValue(releases),
            "place": .string(place), "version": JSONValue(version), "missingVersion": JSONValue(missingVersion),
            "entities": JSONValue(entities),
        ]
    }
}

extension ReconstructionReport.Store {
    fileprivate var document: JSONValue {
        [
            "store": .string(path), "checksum": JSONValue(checksum), "tags": JSONValue(tags),
            "version": JSONValue(version),
        ]
    }
}
