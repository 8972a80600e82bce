import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan

extension ResolvedPlan {
    /// The plan for lint rules, with all its faults and the findings that they do not cover.
    var outline: PlanOutline {
        var registry = MoultObjects.MigrationRegistry()
        registry.add(self)
        return PlanOutline(
            versions: versions, stages: registry.stages, findings: allFaults + sharedTypes + leftToCode,
            declarations: declarations)
    }

    private var declarations: [String: [String: PlanOutline.Declaration]] {
        schemas.indices.reduce(into: [:]) { all, version in
            all[name(of: version)] = schemas[version].types.compactMapValues { type in
                type.schemaMetadata.declaration.map {
                    PlanOutline.Declaration(file: $0.file, line: $0.line, properties: $0.properties)
                }
            }
        }
    }

    // MARK: Types

    /// The findings about value types whose fields or cases are part of the version hash and which several versions
    /// share. Editing such a type changes the hashes of all these versions.
    private var sharedTypes: [Finding] {
        var users: [ObjectIdentifier: [TypeUser]] = [:]
        for user in schemas.indices.flatMap(typeUsers) {
            let known = users[user.id, default: []]
            if !known.contains(where: { $0.model == user.model }) { users[user.id] = known + [user] }
        }
        let shared = users.values.filter { Set($0.map(\.version)).count > 1 }
        return shared.compactMap { users in
            guard let last = users.last else { return nil }
            let classes = users.map { "\(types[$0.version]).\($0.entity)" }
            let versions = Set(users.map(\.version)).sorted().map { name(of: $0) }
            return Finding(
                code: "type-shared", severity: .warning, place: last.place,
                message: "\(classes.listed()) have values of \(last.type). A new field or case of it changes the "
                    + "version hashes of \(versions.listed()), so stores of released versions no longer open.",
                remedy:
                    "Give each version a type of its own, such as \(types[users[0].version]).\(last.type), and never "
                    + "edit that of a released version.")
        }.inByteOrder { $0.place }
    }

    /// An attribute with a value type.
    private struct TypeUser {
        let version: Int
        let entity: String
        /// The class of the entity.
        let model: ObjectIdentifier
        let place: String
        let type: String
        let id: ObjectIdentifier
    }

    private func typeUsers(_ version: Int) -> [TypeUser] {
        schemas[version].entities.flatMap { entity -> [TypeUser] in
            guard let model = schemas[version].types[entity.name] else { return [] }
            return entity.own.compactMap { property in
                guard case .attribute(let attribute) = property, attribute.stored.hashesItsType else { return nil }
                let type = unwrapped(attribute.valueType)
                return TypeUser(
                    version: version, entity: entity.name, model: ObjectIdentifier(model),
                    place: "\(entity.name).\(attribute.name)", type: "\(type)", id: ObjectIdentifier(type))
            }
        }
    }

    private func unwrapped(_ type: any Any.Type) -> any Any.Type { (type as? any Wrapping.Type)?.wrapped ?? type }

    // MARK: Losses

    /// The findings about data that exists only in the older version of a custom stage, where only `willMigrate` can
    /// read it.
    private var leftToCode: [Finding] {
        edges.filter(\.isCustom).flatMap { edge -> [Finding] in
            guard let mapping = mappings[edge.older] else { return [] }
            let (older, newer) = (versions[edge.older], versions[edge.older + 1])
            let transformed = edge.transforms.map(\.oldName)
            return mapping.leftBehind(from: older.model, to: newer.model, version: newer.name).filter { loss in
                !transformed.contains { older.model.isKind(loss.entityName, of: $0) }
                    && !acceptedLosses.contains(loss) && (edge.code.will != nil || !loss.isInBoth)
            }.map { Self.finding($0, name(of: edge), newer.name, canRead: edge.code.will != nil) }
        }
    }

    private static func finding(_ loss: MigrationLoss, _ edge: String, _ newer: String, canRead: Bool) -> Finding {
        let what = loss.propertyName == nil ? "the objects" : "the values"
        let reader =
            canRead
            ? "Only willMigrate can read \(what)." : "didMigrate has only the new version, so no code reads \(what)."
        let advice = canRead ? "Let willMigrate save" : "If they are still needed, let a willMigrate save"
        return Finding(
            code: "lost-in-stage", severity: .warning, place: loss.place,
            message: "\(edge): \(loss.place) has nothing in \(newer) that takes it. \(reader)",
            remedy:
                "\(advice) what is still needed in something that \(newer) keeps, or use a transform, which has the "
                + "old object next to the new one. If nothing is needed, accept the loss in the plan: "
                + "static var acceptedLosses: AcceptedLosses { [\"\(loss.place)\"] }.")
    }
}

/// An optional type.
private protocol Wrapping {
    static var wrapped: any Any.Type { get }
}

extension Optional: Wrapping {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

extension AttributeDescription {
    /// Whether the version hash covers the fields or cases of the value's type. An enum with raw values has one column
    /// regardless of its cases.
    fileprivate var hashesItsType: Bool {
        guard !elements.isEmpty else { return false }
        return userInfo[Self.enumTypeKey] == nil || userInfo[Self.enumCasesKey] != nil
    }
}
