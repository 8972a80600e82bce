import MoultBasics
import MoultModel

/// The optimised form next to a compiled model, an `.omo` in a `.momd`: Core Data's own copy of the `.mom` of the same
/// name, which loads faster.
///
/// Moult reads the `.mom`, whose form is fully known, and compares this form with it. This form is read only where the
/// `.mom` is missing or cannot be read.
struct OptimisedModel {
    private let path: String
    private let bytes: [UInt8]

    private init(at path: String) throws {
        self.path = path
        bytes = try ModelFolder.bytes(at: path)
    }

    /// Returns the path of the `.mom` next to an optimised form.
    static func model(of path: String) -> String { "\(path.parentFolder)/\(path.fileStem).mom" }

    /// Returns the path of the optimised form next to a `.mom`.
    static func form(of path: String) -> String { "\(path.parentFolder)/\(path.fileStem).omo" }

    /// Returns a finding if the file is not the optimised form of that model; otherwise nil.
    ///
    /// If its contents cannot be parsed, the file must still contain the version hashes of the model's entities.
    static func finding(at path: String, against version: ModelVersion) -> Finding? {
        do {
            return try OptimisedModel(at: path).finding(against: version)
        } catch {
            return differs(path, (error as? MigrationError)?.message ?? "\(error)")
        }
    }

    private func finding(against version: ModelVersion) -> Finding? {
        let others: [String]
        if let model = try? ManagedObjectModel(optimised: bytes) {
            others = Self.entities(of: model, otherThanOf: version.model)
        } else if OptimisedModelLayout.isOptimised(bytes) {
            others = version.hashes.entities.filter { !bytes.holds($0.value) }.keys.sorted()
        } else {
            return differs("The file is not an optimised model.")
        }
        guard !others.isEmpty else { return nil }
        return differs(
            "The optimised model of \(version.name) differs from the .mom next to it in: \(others.joined(separator: ", "))."
        )
    }

    /// Returns the names of the entities in which two models differ. Indexes are not compared: compilers name the same
    /// index in different ways, and some set the indexed flag of every relationship.
    private static func entities(of model: ManagedObjectModel, otherThanOf other: ManagedObjectModel) -> [String] {
        let names = Set((model.entities + other.entities).map(\.name))
        return names.filter { model.entity($0)?.withoutIndexes != other.entity($0)?.withoutIndexes }.sorted()
    }

    private func differs(_ message: String) -> Finding { Self.differs(path, message) }

    private static func differs(_ path: String, _ message: String) -> Finding {
        Finding(
            code: "optimised-model-differs", severity: .warning, place: path, message: message,
            remedy: "Core Data may load this form where Moult reads the .mom; compile the bundle again.")
    }

    /// Returns the finding for an optimised model that was read because the `.mom` next to it is unreadable.
    static func inPlace(of model: String, _ path: String, _ cause: MigrationError) -> Finding {
        Finding(
            code: "optimised-model-read", severity: .warning, place: model,
            message: "The .mom cannot be read, and \(path.fileName) is read in its place. \(cause.message)",
            remedy: "Compile the bundle again.")
    }

    /// Returns the finding for an unreadable optimised model without its `.mom`.
    static func alone(_ path: String, _ cause: MigrationError) -> Finding {
        Finding(
            code: "optimised-model-alone", severity: .warning, place: path,
            message: "The .mom that this optimised model was made of is not in the bundle. \(cause.message)",
            remedy: "Add the .mom, which the compiler writes next to it.")
    }
}

extension EntityDescription {
    fileprivate var withoutIndexes: EntityDescription {
        var entity = self
        entity.fetchIndexes = []
        entity.compoundIndexes = []
        for position in entity.attributes.indices { entity.attributes[position].isIndexed = false }
        for position in entity.relationships.indices { entity.relationships[position].isIndexed = false }
        return entity
    }
}

extension [UInt8] {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        return withUnsafeBytes { all in
            part.withUnsafeBytes { part in
                all.indices.dropLast(part.count - 1).contains { start in
                    all[start] == first && all[start..<start + part.count].elementsEqual(part)
                }
            }
        }
    }
}

/// The layout of an optimised model, as one generation of the compiler writes it.
///
/// The known layouts were derived from files next to the `.mom` of the same model. Numbers are big-endian, those of
/// eight bytes are aligned to eight, and wide texts are little-endian UTF-16. The sections follow the signature in the
/// order in which the initialiser of ``OptimisedModelSections`` reads them.
struct OptimisedModelLayout: Sendable {
    /// The first 64 bytes of the file.
    let signature: [UInt8]
    /// The number of counted property kinds, and the index of relationships among them; index 0 is attributes.
    let kinds: Int
    let relationshipKind: Int
    /// The number of ranges of an entity's properties, each stored as location and length.
    let ranges: Int
    /// The number of values between an entity's flags and its name, all zero in every known file.
    let reserved: Int
    /// Whether relationships always have the indexed flag, regardless of the model.
    let marksRelationships: Bool
    /// The lists of fetch indexes and uniqueness constraints, or the number of zeros in their place.
    let lists: Lists

    enum Lists: Equatable {
        case absent(zeros: Int)
        case indexesAndConstraints
    }

    /// Whether the bytes begin like an optimised model of any compiler.
    static func isOptimised(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array("momv2$".utf8)) }

    private init(
        _ mark: String, kinds: Int = 4, relationshipKind: Int = 1, ranges: Int = 17, reserved: Int = 8,
        marksRelationships: Bool = false, lists: Lists = .indexesAndConstraints
    ) {
        signature = Array("momv2$\(mark)".utf8)
        (self.kinds, self.relationshipKind, self.ranges) = (kinds, relationshipKind, ranges)
        (self.reserved, self.marksRelationships, self.lists) = (reserved, marksRelationships, lists)
    }

    static let known: [OptimisedModelLayout] = [
        .init(
            "!!!aeroiew975-175=1ghb;sh o2[54=76ufh;aj4[11-435p8ygha;ej3", reserved: 4, marksRelationships: true,
            lists: .absent(zeros: 1)),
        .init("[]qre9743jpo9ad3q;lj;fa38y];`0eruweijfa'etyhpa0e8hfhpaos8e", lists: .absent(zeros: 2)),
        .init("[]77y234078nf3490324nfauh7kf77y7pjfauy72-918reiaprehuhfrew"),
        .init("srsraori55717101jhus-[6910aathnnhi86786714[-;uadmiraenv143", kinds: 5, relationshipKind: 2, ranges: 18),
    ]
}
