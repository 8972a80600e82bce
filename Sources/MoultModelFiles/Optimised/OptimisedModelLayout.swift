/// The layouts of an optimised model that are known, one for each generation of the compiler.
///
/// Each was worked out from files that lie next to the `.mom` of the same model. The file is big-endian; numbers of
/// eight bytes lie at multiples of eight. After the signature come the offset and count of each section, in the order
/// of ``OptimisedModelSections``.
struct OptimisedModelLayout: Sendable {
    /// The first 64 bytes of the file.
    let signature: [UInt8]
    /// The number of kinds of properties that are counted, and the position of relationships among them; the first are
    /// attributes.
    let kinds: Int
    let relationshipKind: Int
    /// The number of ranges of an entity's properties that are kept, each by location and length.
    let ranges: Int
    /// The number of values between an entity's flags and its name that are zero in every known file.
    let reserved: Int
    /// Relationships have the indexed flag, whatever the model says.
    let marksRelationships: Bool
    /// Whether fetch indexes and uniqueness constraints are listed; otherwise the number of zeros where they would be.
    let lists: Lists

    enum Lists: Equatable {
        case absent(zeros: Int)
        case indexesAndConstraints
    }

    /// Whether the bytes begin as every optimised model does, of whatever compiler.
    static func isOptimised(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Array("momv2$".utf8)) }

    private init(
        _ mark: String, kinds: Int = 4, relationshipKind: Int = 1, ranges: Int = 17, reserved: Int = 8,
        marksRelationships: Bool = false, lists: Lists = .indexesAndConstraints
    ) {
        signature = Array("momv2$\(mark)".utf8)
        self.kinds = kinds
        self.relationshipKind = relationshipKind
        self.ranges = ranges
        self.reserved = reserved
        self.marksRelationships = marksRelationships
        self.lists = lists
    }

    static let known: [OptimisedModelLayout] = [
        .init(
            "!!!aeroiew975-175=1ghb;sh o2[54=76ufh;aj4[11-435p8ygha;ej3", reserved: 4, marksRelationships: true,
            lists: .absent(zeros: 1)),
        .init("[]qre9743jpo9ad3q;lj;fa38y];`0eruweijfa'etyhpa0e8hfhpaos8e", lists: .absent(zeros: 2)),
        .init("[]77y234078nf3490324nfauh7kf77y7pjfauy72-918reiaprehuhfrew"),
        .init(
            "srsraori55717101jhus-[6910aathnnhi86786714[-;uadmiraenv143", kinds: 5, relationshipKind: 2, ranges: 18),
    ]
}
