import Moult
import MoultBasics
import MoultModel
import MoultPlan

/// The differences between two schemas of CloudKit: what to deploy, and what can never be deployed.
public struct CloudKitDifference: Sendable, CustomStringConvertible, ToolAnswer {
    /// The older schema: a path, or the name of a version.
    public let from: String
    /// The newer schema: a path, or the name of a version.
    public let to: String
    /// One sentence for each difference.
    public var sentences: [String] { changes.map(\.sentence) }
    /// Whether the newer schema has a field with another type or encryption, which Production never allows.
    public var isImpossible: Bool { changes.contains { $0.isImpossible } }
    package var isEmpty: Bool { changes.isEmpty }

    private let changes: [CloudKitChange]

    /// The facts that the models do not give; one sentence each.
    public let uncertain: [String]

    package init(from older: (name: String, CloudKitSchema), to newer: (name: String, CloudKitSchema)) {
        self.init(older, newer, [], [])
    }

    private init(
        _ older: (name: String, schema: CloudKitSchema), _ newer: (name: String, schema: CloudKitSchema),
        _ renames: [(place: String, change: ModelChange)], _ unknowns: [CloudKitGap]
    ) {
        (from, to) = (older.name, newer.name)
        changes = CloudKitChange.all(from: older.schema, to: newer.schema).map { change in
            renames.first { $0.place == change.name }.map { change.renamed($0.change) } ?? change
        }
        var said: Set<String> = []
        uncertain = unknowns.filter { said.insert($0.claim).inserted }.map { "\($0.claim) \($0.remedy.text())" }
    }

    /// Compares the schemas that two versions of a model need.
    ///
    /// - Throws: `usage` for a configuration that a version does not have.
    package init(from older: ModelVersion, to newer: ModelVersion, configuration: String? = nil) throws {
        let (old, new) = try (
            CloudKitRequirements(older.model, configuration: configuration),
            CloudKitRequirements(newer.model, configuration: configuration)
        )
        let renames = try ModelDiff(from: older, to: newer)
            .renamesForbiddenByCloudKit(in: newer.model, configuration: configuration)
        self.init(
            (older.name, old.schema(takingEncryptionFrom: new.schema)),
            (newer.name, new.schema(takingEncryptionFrom: old.schema)), new.places(of: renames),
            new.unknowns + old.unknowns)
    }

    /// Compares two files.
    ///
    /// - Throws: any error from reading them.
    package init(from older: String, to newer: String) throws {
        self.init(
            from: (older, try CloudKitSchemaFile(contentsOf: older).schema),
            to: (newer, try CloudKitSchemaFile(contentsOf: newer).schema))
    }

    /// The text that `moult cloudkit diff` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult cloudkit diff --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        [
            "format": 1, "from": .string(from), "to": .string(to),
            "changes": .array(
                changes.map {
                    ["code": .string($0.kind.rawValue), "field": .string($0.name), "sentence": .string($0.sentence)]
                }),
            "uncertain": JSONValue(uncertain),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let unknown = uncertain.map { "  \(style.yellow("?")) Uncertain: \($0.printable)" }
        guard !changes.isEmpty else {
            return ["The schemas of \(from.printable) and \(to.printable) are equal."] + unknown
        }
        return [style.bold("\(from.printable) → \(to.printable)")]
            + changes.map { change in
                let mark = change.isImpossible ? style.red("!") : style.green("•")
                return "  \(mark) \(change.sentence.printable)"
            } + unknown
    }
}

/// A difference between two schemas of CloudKit.
struct CloudKitChange: Sendable {
    /// The kind of a difference. The first seven are gaps of a model too.
    enum Kind: String {
        case addType = "add-type"
        case addField = "add-field"
        case addCompanion = "add-companion"
        case addReceipt = "add-receipt"
        case retype = "retype"
        case encrypt = "encrypt"
        case orphan = "orphan"
        case rename = "rename"
        case indexes = "indexes"
        case grants = "grants"
        case roles = "roles"
    }

    let kind: Kind
    /// The record type, `RecordType.field`, or the role.
    let name: String
    let sentence: String

    var isImpossible: Bool { [.retype, .encrypt, .rename].contains(kind) }

    /// Returns the change of a type or field that belongs to something renamed, which cannot be deployed as it is.
    func renamed(_ change: ModelChange) -> CloudKitChange {
        guard [.addType, .addField, .addCompanion].contains(kind) else { return self }
        let sentence = "\(change.sentence) \(ModelChange.forbiddenByCloudKit) \(change.remedyForCloudKit)"
        return CloudKitChange(.rename, name, "\(name): \(sentence)")
    }

    private init(_ kind: Kind, _ name: String, _ sentence: String) {
        (self.kind, self.name, self.sentence) = (kind, name, sentence)
    }

    /// Returns the differences: roles, then record types, each with its fields.
    static func all(from old: CloudKitSchema, to new: CloudKitSchema) -> [CloudKitChange] {
        let added = new.roles.filter { !old.roles.contains($0) }
            .map { CloudKitChange(.roles, $0, "The role \($0) is new.") }
        let removed = old.roles.filter { !new.roles.contains($0) }
            .map { CloudKitChange(.roles, $0, "The role \($0) is not in the newer schema.") }
        let names = Set(old.types.keys).union(new.types.keys).inByteOrder()
        return added + removed
            + names.flatMap { name -> [CloudKitChange] in
                switch (old.types[name], new.types[name]) {
                case (let older?, let newer?): all(from: older, to: newer)
                case (nil, let newer?):
                    [
                        CloudKitChange(
                            .addType, name,
                            "Deploy the record type \(name), with \(Quantity.count(newer.ownFields, "field")).")
                    ]
                case (_?, nil), (nil, nil): [orphan(name, "The record type \(name)")]
                }
            }
    }

    private static func all(
        from old: CloudKitSchema.RecordType, to new: CloudKitSchema.RecordType
    ) -> [CloudKitChange] {
        let names = Set(old.fields.keys).union(new.fields.keys).inByteOrder()
        let fields = names.flatMap { field -> [CloudKitChange] in
            let name = "\(new.name).\(field)"
            return switch (old.fields[field], new.fields[field]) {
            case (let older?, let newer?): all(of: name, from: older, to: newer)
            case (nil, let newer?): [added(name, field, newer)]
            case (_?, nil), (nil, nil):
                CloudKitFieldRole(of: field) == .system ? [] : [orphan(name, "The field \(name)")]
            }
        }
        guard old.grants != new.grants else { return fields }
        return fields + [CloudKitChange(.grants, new.name, "The grants of \(new.name) differ.")]
    }

    private static func all(
        of name: String, from old: CloudKitSchema.Field, to new: CloudKitSchema.Field
    ) -> [CloudKitChange] {
        guard old.type == new.type else {
            return [
                CloudKitChange(
                    new.type.hasValues(of: old.type) ? .encrypt : .retype, name,
                    "\(name) is \(old.type) and would be \(new.type). Production never allows this: use another name.")
            ]
        }
        guard Set(old.indexes) != Set(new.indexes) else { return [] }
        func shown(_ field: CloudKitSchema.Field) -> String {
            field.indexes.isEmpty ? "none" : field.indexes.map(\.rawValue).listed()
        }
        return [
            CloudKitChange(
                .indexes, name, "The indexes of \(name) are \(shown(new)), and were \(shown(old)).")
        ]
    }

    private static func added(_ name: String, _ field: String, _ new: CloudKitSchema.Field) -> CloudKitChange {
        switch CloudKitFieldRole(of: field) {
        case .system:
            CloudKitChange(
                .indexes, name,
                "\(name), a field of the server, is in the newer text only. Without it, an index on it is dropped.")
        case .receipt: CloudKitChange(.addReceipt, name, "Deploy \(name) \(new.type), which sharing needs.")
        case .companion: CloudKitChange(.addCompanion, name, "Deploy \(name) \(new.type), for large values.")
        case .core: CloudKitChange(.addField, name, "Deploy the field \(name) \(new.type).")
        }
    }

    private static func orphan(_ name: String, _ subject: String) -> CloudKitChange {
        CloudKitChange(
            .orphan, name,
            "\(subject) is not in the newer schema. Production keeps it: keep it in a file that you import.")
    }
}

extension CloudKitSchema.RecordType {
    /// The number of fields that are not the server's own.
    fileprivate var ownFields: Int { fields.keys.count { CloudKitFieldRole(of: $0) != .system } }
}
