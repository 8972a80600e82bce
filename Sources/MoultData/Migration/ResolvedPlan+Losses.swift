import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

// The losses of custom stages. Only a transform or a stage's willMigrate can read an old value: didMigrate sees only
// the new version.

extension ResolvedPlan {
    /// Whether code before the change may read the value in question, or its loss is accepted.
    func isLeftToCode(_ question: Question, _ edge: PlanEdge) -> Bool {
        edge.code.will != nil || isAccepted(question.oldPlace)
    }

    /// Reports each property in both versions whose values no code of a custom stage can read.
    mutating func reportUnread(_ mapping: ResolvedMapping, _ edge: PlanEdge) {
        guard edge.isCustom, edge.code.will == nil else { return }
        let (older, newer) = (versions[edge.older], versions[edge.older + 1])
        let transformed = edge.transforms.map(\.oldName)
        for loss in mapping.leftBehind(from: older.model, to: newer.model, version: newer.name)
        where loss.isInBoth && !transformed.contains(where: { older.model.isKind(loss.entityName, of: $0) }) {
            reportUnread(loss.place, "\(loss.place) takes nothing from its old values.", edge)
        }
    }

    /// - Parameter place: the name in the older version.
    mutating func reportUnread(_ place: String, _ what: String, _ edge: PlanEdge) {
        guard !isAccepted(place) else { return }
        let (entity, property) = place.entityAndProperty
        let (from, to) = (types[edge.older], types[edge.older + 1])
        report(
            "values-unread", place,
            "\(name(of: edge)): \(what) didMigrate has only the new version, so no code can read the old values, and all "
                + "of them would be lost.",
            "Use a transform, which has the old object next to the new one: .transform(from: \(from).\(entity).self, "
                + "to: \(to).\(entity).self) { old, new in new.\(property ?? "") = … old.\(property ?? "") … }. Or read the values "
                + "in willMigrate. Or accept the loss in the plan: "
                + "static var acceptedLosses: AcceptedLosses { [\"\(place)\"] }.")
    }

    private func isAccepted(_ place: String) -> Bool {
        let (entity, property) = place.entityAndProperty
        return acceptedLosses.contains(MigrationLoss(.values, .dropped, entity: entity, property: property))
    }

    /// Returns the accepted losses of an edge: those that the plan accepts and, without code, those that its answers
    /// drop.
    func acceptedLosses(of edge: PlanEdge, _ mapping: ResolvedMapping?) -> AcceptedLosses {
        var accepted = acceptedLosses
        guard !edge.isCustom else { return accepted }
        let newer = versions[edge.older + 1].model
        for answer in answers(about: edge) where answer.is == .drop {
            guard let property = answer.property else { continue }
            let takers = mapping?.entityMappings.filter {
                $0.destinationEntityName.map { newer.isKind($0, of: answer.entity) } == true
            }
            for taker in takers ?? [] {
                let attribute = taker.destinationEntityName.flatMap(newer.entity)
                    .flatMap { newer.attribute(property, of: $0) }
                let old = attribute?.renamingIdentifier ?? property
                accepted.formUnion(["\(taker.sourceEntityName ?? answer.entity).\(old)"])
            }
        }
        return accepted
    }
}

extension Question {
    /// The name of the question's subject in the older version, if the entity kept its name.
    var oldPlace: String {
        [entity, property.map { candidates.first?.name ?? $0 }].compactMap(\.self).joined(separator: ".")
    }
}

extension String {
    /// The text up to the end of its first sentence.
    var firstSentence: String { range(of: ". ").map { String(self[..<$0.lowerBound]) + "." } ?? self }
}

// A value stored as JSON stays as its type encoded it. The version hash does not cover its contents, and a lightweight
// stage does not convert it: either the later type can decode it, or code must convert it.

extension ResolvedPlan {
    /// Reports each property whose later type cannot decode values of the earlier type, unless code converts them.
    mutating func reportUndecodable(_ edge: PlanEdge) {
        guard edge.code.will == nil else { return }
        let (older, newer) = (schemas[edge.older], schemas[edge.older + 1])
        for (entity, model) in newer.types.inByteOrder(of: { $0.key }) {
            guard let before = older.types[entity], !edge.transforms.contains(where: { $0.oldName == entity }) else {
                continue
            }
            let old = before.schemaMetadata.propertiesByName
            for property in model.schemaMetadata.properties where property.isInJSON {
                let names = [property.declared.originalName, property.name].compactMap(\.self)
                guard let earlier = names.lazy.compactMap({ old[$0] }).first, earlier.isInJSON,
                    let fault = StoredJSON.fault(of: property.valueType, reading: earlier.valueType)
                else { continue }
                let (from, to) = (types[edge.older], types[edge.older + 1])
                report(
                    "values-undecodable", "\(entity).\(property.name)",
                    "\(name(of: edge)): \(entity).\(property.name) holds JSON that \(fault.type) cannot decode: "
                        + "\(fault.reason). No objects of \(entity) could be fetched.",
                    "Let \(fault.type) decode what its earlier versions wrote, by an optional property or an init(from:) "
                        + "with decodeIfPresent; then no conversion is needed. Or convert the values: give the property a "
                        + "hashModifier, and write .transform(from: \(from).\(entity).self, to: \(to).\(entity).self) "
                        + "{ old, new in new.\(property.name) = … old.\(earlier.name) … }.")
            }
        }
    }
}

extension Schema.PropertyMetadata {
    /// Whether the values are stored in one column, as the JSON that their type encodes.
    fileprivate var isInJSON: Bool {
        switch ValueForm.of(valueType) {
        case .json, .unknown: return true
        case .fields:
            // `@Attribute(.codable)` stores in one column what would otherwise have several.
            if case .attribute(let attribute) = shape { return attribute.type != .composite }
            return false
        case .plain, .rawValue, .cases, .archive, .encoded: return false
        }
    }
}

/// The compatibility of the JSON of one type with another.
enum StoredJSON {
    struct Fault {
        /// The type that cannot decode the JSON.
        let type: Any.Type
        let reason: String
    }

    /// Returns the reason why one type cannot decode what another has encoded; nil if there is none, or if it takes a
    /// value to find out.
    static func fault(of type: Any.Type, reading earlier: Any.Type) -> Fault? {
        let (type, earlier) = (withoutOptionals(type), withoutOptionals(earlier))
        guard type != earlier else { return nil }
        if let (new, old) = ValueForm.elements(of: type, earlier) { return fault(of: new, reading: old) }
        guard let new = type as? any Decodable.Type, let old = earlier as? any (Decodable & Encodable).Type,
            let json = try? encoded(old)
        else { return nil }
        return reason(new, json).map { Fault(type: type, reason: $0) }
    }

    /// Returns the reason why a type cannot decode a column's bytes; nil if it can, or if the JSON is not the cause.
    static func reason(_ type: any Decodable.Type, _ bytes: [UInt8]) -> String? {
        func decode<Value: Decodable>(_ type: Value.Type) -> String? {
            do {
                _ = try CodableForm.value(type, from: bytes)
            } catch DecodingError.keyNotFound(let key, _) {
                return "it has no value for \(key.stringValue)"
            } catch DecodingError.typeMismatch(_, let context) {
                return "the value of \(context.codingPath.last?.stringValue ?? "it") is of another type"
            } catch DecodingError.valueNotFound(_, let context) {
                return "the value of \(context.codingPath.last?.stringValue ?? "it") is null"
            } catch {}
            return nil
        }
        return decode(type)
    }

    /// Checks that the schema's types can decode a store whose writing types are unknown, by the first value of each
    /// property.
    ///
    /// - Throws: `dataConflict` for a value that lacks a key or has another type. After the migration its rows could
    ///   not be fetched, and the app that wrote the store could not open it.
    static func check(_ connection: Connection, against types: [String: any PersistentModel.Type]) throws {
        let columns = Dictionary(
            try connection.catalogue().tables.filter { !$0.isVirtual }.map { table in
                (table.name, Set(try connection.columns(of: table.name).map(\.name)))
            }
        ) { first, _ in first }
        for (entity, model) in types.inByteOrder(of: { $0.key }) {
            for property in model.schemaMetadata.properties where property.isInJSON {
                let column = "Z" + (property.declared.originalName ?? property.name).uppercased()
                guard let type = withoutOptionals(property.valueType) as? any Decodable.Type else { continue }
                // Subentities share the table of their root.
                for table in columns.keys.sorted() where columns[table]?.isSuperset(of: [column, "Z_ENT"]) == true {
                    let bytes = try connection.value(
                        "SELECT \(column.quotedName) FROM \(table.quotedName) WHERE typeof(\(column.quotedName)) = 'blob' "
                            + "AND Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?) LIMIT 1", [.text(entity)])?
                        .blob
                    guard let bytes, let reason = reason(type, bytes) else { continue }
                    let element = ValueForm.elements(of: type, type)?.0 ?? type
                    throw undecodable("\(entity).\(property.name)", element, reason)
                }
            }
        }
    }

    private static func undecodable(_ place: String, _ type: Any.Type, _ reason: String) -> MigrationError {
        MigrationError(
            .dataConflict, "\(place) holds JSON that \(type) cannot decode: \(reason). Its rows could not be fetched.",
            place: place,
            remedy:
                "The store is unchanged. Let the type decode what its earlier versions wrote, by an optional property "
                + "or an init(from:) with decodeIfPresent. Or convert the values in a .transform of a SchemaMigrationPlan."
        )
    }

    private static func encoded<Value: Decodable & Encodable>(_ type: Value.Type) throws -> [UInt8] {
        try CodableForm.json(of: DefaultValueDecoder().decode(type))
    }
}
