import MoultModel

extension CloudKitRequirements {
    /// Returns what the model needs and a schema lacks or has otherwise, and what only the schema has: by record type,
    /// then by field; then what the model does not say. The faults of the model itself are ``faults``: what no schema can
    /// hold is not missing in one.
    ///
    /// - Parameter production: the schema of the Production environment. Types that are not Core Data's are the app's
    ///   own, and are not compared; nor are indexes and grants.
    package func gaps(in production: CloudKitSchema) -> [CloudKitGap] {
        let schema = schema(takingEncryptionFrom: production)
        let impossible = Set(faults.filter { $0.field == nil }.map(\.recordType))
        var gaps = schema.typesInOrder.flatMap { type -> [CloudKitGap] in
            guard let found = production.types[type.name] else {
                return impossible.contains(type.name)
                    ? [] : [CloudKitGap(.addType, type.name, refused: refused(without: type.name))]
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
        return gaps + unknowns
    }

    /// The facts about the schema that the model does not give.
    package var unknowns: [CloudKitGap] {
        let count = schema.types.values.reduce(0) { $0 + fieldsOfUnknownEncryption(in: $1).count }
        return (count == 0 ? [] : [CloudKitGap(.encryptionUnknown, count: count)])
            + (unmarked.isEmpty ? [] : [CloudKitGap(.configurationUnknown, configurations: unmarked)])
    }

    private func gaps(of type: CloudKitSchema.RecordType, in found: CloudKitSchema.RecordType) -> [CloudKitGap] {
        let needed = type.fieldNames.compactMap { name -> CloudKitGap? in
            guard let field = type.fields[name], isPossible(name, of: type, in: found) else { return nil }
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
        return CloudKitGap(
            code, found.name, name, needed: needed, found: existing, origin: origin,
            refused: refused(without: found.name))
    }

    /// Returns the part that a field plays. An attribute may have a name that ends as a companion's does.
    private func role(of name: String, in type: String) -> CloudKitFieldRole {
        let role = CloudKitFieldRole(of: name)
        guard role == .companion, let property = origin(of: name, in: type)?.property else { return role }
        return name == "CD_\(property)" ? .core : .companion
    }

    /// Returns whether a field that Production lacks can ever serve: it has a name that CloudKit allows, and a companion
    /// is next to a field of the type that the model needs.
    private func isPossible(
        _ name: String, of type: CloudKitSchema.RecordType, in found: CloudKitSchema.RecordType
    ) -> Bool {
        guard found.fields[name] == nil else { return true }
        guard !name.hasPrefix("CD_") || name.utf8.allSatisfy(\.isInCloudKitName) else { return false }
        let role = role(of: name, in: type.name)
        guard role == .companion || role == .receipt, name.hasSuffix(CloudKitFieldRole.companionEnd) else {
            return true
        }
        let base = String(name.dropLast(CloudKitFieldRole.companionEnd.count))
        guard let needed = type.fields[base]?.type, let existing = found.fields[base]?.type else { return true }
        return existing.hasValues(of: needed)
    }

    /// Returns the record types and fields of what was renamed, each with its rename.
    package func places(of renames: [ModelChange]) -> [(place: String, change: ModelChange)] {
        renames.flatMap { change -> [(place: String, change: ModelChange)] in
            guard let entity = change.entity else { return [] }
            guard let member = change.member else { return [("CD_\(entity)", change)] }
            return schema.types.values.flatMap { type in
                type.fieldNames.filter { name in
                    let origin = origin(of: name, in: type.name)
                    return origin?.entity == entity && origin?.property == member
                }.map { ("\(type.name).\($0)", change) }
            }
        }
    }

    // MARK: - Encryption

    /// Returns a schema with the record types and fields added that the model needs and that can serve.
    package func adding(to production: CloudKitSchema) -> CloudKitSchema {
        var needed = schema(takingEncryptionFrom: production)
        for (name, type) in needed.types {
            guard let found = production.types[name] else { continue }
            for field in type.fieldNames where !isPossible(field, of: type, in: found) {
                needed.types[name]?.fields[field] = nil
            }
        }
        return production.adding(needed)
    }

    /// Returns the schema. If the model does not say which attributes are encrypted, fields have the encryption that they
    /// have in another schema.
    package func schema(takingEncryptionFrom other: CloudKitSchema) -> CloudKitSchema {
        var whole = schema
        for (name, type) in schema.types {
            for field in fieldsOfUnknownEncryption(in: type) {
                guard let own = type.fields[field], let known = other.types[name]?.fields[field],
                    known.type.hasValues(of: own.type), known.type.isEncrypted
                else { continue }
                whole.types[name]?.fields[field] = .init(known.type, known.type.defaultIndexes)
            }
        }
        return whole
    }

    /// Returns the names of the fields of which the model does not say whether they are encrypted.
    package func fieldsOfUnknownEncryption(in type: CloudKitSchema.RecordType) -> [String] {
        guard !knowsEncryption else { return [] }
        return type.fieldNames.filter { name in
            let origin = origin(of: name, in: type.name)
            return origin?.property != nil && origin?.isRelationship == false
                && type.fields[name]?.type.primitive.canBeEncrypted == true
        }
    }
}
