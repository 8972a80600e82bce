import MoultBasics

/// A difference between the schema that a model needs and the one in CloudKit's Production environment, or a part of
/// the model that no schema can have.
package struct CloudKitGap: Sendable, Equatable {
    /// The kind of a gap.
    package enum Code: String, Sendable, CaseIterable {
        // Deploying the schema closes these.
        case addType = "add-type"
        case addField = "add-field"
        case addCompanion = "add-companion"
        case addReceipt = "add-receipt"
        // Production allows these never.
        case retype = "retype"
        case encrypt = "encrypt"
        // No schema can have these.
        case conflict = "conflict"
        case badName = "bad-name"
        case collision = "collision"
        case tooManyFields = "over-256"
        // These prevent nothing.
        case orphan = "orphan"
        case share = "share"

        /// The severity of the gap.
        package var severity: Finding.Severity {
            switch self {
            case .orphan, .share: .note
            case .addCompanion, .addReceipt: .warning
            case .addType, .addField, .retype, .encrypt, .conflict, .badName, .collision, .tooManyFields: .error
            }
        }
    }

    package let code: Code
    package let recordType: String
    /// The field; nil for a gap of the whole type.
    package let field: String?
    /// The type that the model needs the field to have.
    package let needed: CloudKitSchema.FieldType?
    /// The type that the field has in Production, or for another part of the model.
    package let found: CloudKitSchema.FieldType?
    /// The part of the model that needs the field.
    package let origin: CloudKitRequirements.Origin?
    /// The part of the model that needs the field with another type.
    let other: CloudKitRequirements.Origin?
    /// The number of fields.
    let count: Int
    /// The parts of the model that need the type.
    let typeOrigin: String?

    init(
        _ code: Code, _ recordType: String, _ field: String? = nil, needed: CloudKitSchema.FieldType? = nil,
        found: CloudKitSchema.FieldType? = nil, origin: CloudKitRequirements.Origin? = nil,
        other: CloudKitRequirements.Origin? = nil, count: Int = 0, typeOrigin: String? = nil
    ) {
        (self.code, self.recordType, self.field, self.needed) = (code, recordType, field, needed)
        (self.found, self.origin, self.other, self.count) = (found, origin, other, count)
        self.typeOrigin = typeOrigin
    }

    /// Whether Production has the field in another form, which it keeps for ever.
    package var isImpossible: Bool { [.retype, .encrypt].contains(code) }

    /// The record type, or `RecordType.field`.
    package var name: String { [recordType, field].compactMap(\.self).joined(separator: ".") }

    /// The name with the type that the model needs, such as `CD_Post.CD_image BYTES`.
    private var typed: String { [name, (needed ?? found)?.description].compactMap(\.self).joined(separator: " ") }

    /// One sentence that says what the gap is, and what it means for the sync.
    package var message: String {
        let needed = needed?.description ?? ""
        let found = found?.description ?? ""
        let origin = origin?.description ?? ""
        return switch code {
        case .addType: "\(name) is not in Production, so CloudKit refuses every record of \(typeOrigin ?? recordType)."
        case .addField:
            "\(typed) is not in Production, so CloudKit refuses each record that sets \(origin), with its whole batch."
        case .addCompanion: "\(typed) is not in Production, so a large value of \(origin) is not exported."
        case .addReceipt: "\(typed) is not in Production, so no record of \(recordType) can move into a share."
        case .retype, .encrypt: "\(name) is \(found) in Production for ever, and \(origin) needs \(needed)."
        case .conflict: "\(name) would be \(found) for \(other?.description ?? "") and \(needed) for \(origin)."
        case .badName: "\(name), for \(origin), has a character that no name in CloudKit has."
        case .collision: "\(name), for \(origin), is a field of the framework."
        case .tooManyFields:
            "\(name) would have \(count) fields. A record type has at most \(CloudKitRequirements.fieldLimit)."
        case .orphan: "\(typed) is in Production, and the model does not have it."
        case .share: "Production has fields for sharing, but not the record type cloudkit.share."
        }
    }

    /// The action to take next.
    package var remedy: String {
        switch code {
        case .addType, .addField, .addCompanion, .addReceipt:
            "Add it to Development, and deploy Development to Production in the CloudKit console before the app ships."
        case .retype, .encrypt:
            "Leave this attribute as Production has it. Add one of another name, without a renaming identifier, and let "
                + "the app copy the values."
        case .conflict: "Rename one of the two before the schema is deployed."
        case .badName: "Rename it: only ASCII letters, digits and underscores are allowed."
        case .collision: "Rename it: the framework has the names entityName and moveReceipt."
        case .tooManyFields:
            "Move attributes into another entity, or into a composite attribute, which has one field."
        case .orphan: "Keep it in every file that is imported. Do not use the name again for another type."
        case .share:
            "If the app shares records, share one in Development and deploy. Otherwise there is nothing to do."
        }
    }
}

extension CloudKitRequirements {
    /// Returns what the model needs and a schema lacks or has otherwise, and what only the schema has: by record type,
    /// then by field. The faults of the model itself are ``faults``.
    ///
    /// - Parameter production: the schema of the Production environment. Types that are not Core Data's are the app's
    ///   own, and are not compared; nor are indexes and grants.
    package func gaps(in production: CloudKitSchema) -> [CloudKitGap] {
        var gaps = schema.typesInOrder.flatMap { type -> [CloudKitGap] in
            guard let found = production.types[type.name] else {
                return [CloudKitGap(.addType, type.name, typeOrigin: origin(of: type.name))]
            }
            return self.gaps(of: type, in: found)
        }
        for type in production.typesInOrder where type.name.hasPrefix("CD_") && schema.types[type.name] == nil {
            gaps.append(CloudKitGap(.orphan, type.name))
        }
        let hasReceipt = production.types.values.contains { $0.fields[CloudKitFieldRole.receiptName] != nil }
        if hasReceipt, production.types[Self.shareName] == nil, schema.types[Self.shareName] == nil {
            gaps.append(CloudKitGap(.share, Self.shareName))
        }
        return gaps
    }

    private func gaps(of type: CloudKitSchema.RecordType, in found: CloudKitSchema.RecordType) -> [CloudKitGap] {
        let needed = type.fieldNames.compactMap { name -> CloudKitGap? in
            guard let field = type.fields[name] else { return nil }
            return gap(of: name, field.type, in: found)
        }
        let orphans = found.fieldNames.filter { $0.hasPrefix("CD_") && type.fields[$0] == nil }.map { name in
            CloudKitGap(.orphan, type.name, name, found: found.fields[name]?.type)
        }
        return needed + orphans
    }

    private func gap(
        of name: String, _ needed: CloudKitSchema.FieldType, in found: CloudKitSchema.RecordType
    ) -> CloudKitGap? {
        let origin = origin(of: name, in: found.name)
        let code: CloudKitGap.Code
        let existing = found.fields[name]?.type
        switch (role(of: name, in: found.name), existing) {
        case (.system, _): return nil
        case (.core, nil): code = .addField
        case (.companion, nil): code = .addCompanion
        case (.receipt, nil): code = .addReceipt
        case (_, let existing?):
            guard existing != needed else { return nil }
            code = existing.hasValues(of: needed) ? .encrypt : .retype
        }
        return CloudKitGap(code, found.name, name, needed: needed, found: existing, origin: origin)
    }

    /// Returns the part that a field plays. An attribute may have a name that ends as a companion's does.
    private func role(of name: String, in type: String) -> CloudKitFieldRole {
        let role = CloudKitFieldRole(of: name)
        guard role == .companion, let property = origin(of: name, in: type)?.property else { return role }
        return name == "CD_\(property)" ? .core : .companion
    }
}
