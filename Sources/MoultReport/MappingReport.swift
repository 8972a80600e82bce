import MoultModel

/// What a mapping model says.
package struct MappingReport: Sendable {
    private let name: String
    private let mapping: MappingModel
    private let versions: (from: String, to: String)?
    private let findings: [Finding]

    /// - Parameter versions: the names of the versions it leads from and to, where they are known.
    package init(
        name: String, mapping: MappingModel, versions: (from: String, to: String)?, findings: [Finding]
    ) {
        self.name = name
        self.mapping = mapping
        self.versions = versions
        self.findings = findings
    }

    package var document: JSONValue {
        [
            "format": 1, "name": .string(name), "from": JSONValue(versions?.from), "to": JSONValue(versions?.to),
            "entityMappings": .array(mapping.entityMappings.map(\.document)),
            "findings": .array(findings.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let title = versions.map { "\(name): \($0.from) → \($0.to)" } ?? name
        var lines = [style.bold(title.printable)]
        for mapping in mapping.entityMappings {
            lines += ["", mapping.sentence.printable]
            lines += mapping.notableProperties.map { "  \($0.printable)" }
        }
        let notable = findings.filter { $0.severity > .note }
        return lines + (notable.isEmpty ? [] : [""]) + notable.flatMap { $0.lines(style: style) }
    }
}

extension EntityMapping {
    package var document: JSONValue {
        [
            "name": .string(name), "type": .string("\(type)"), "source": JSONValue(sourceEntityName),
            "sourceHash": JSONValue(sourceEntityVersionHash?.base64), "destination": JSONValue(destinationEntityName),
            "destinationHash": JSONValue(destinationEntityVersionHash?.base64),
            "sourceExpression": JSONValue(sourceExpressionFormat),
            "policy": JSONValue(entityMigrationPolicyClassName),
            "attributes": .array(attributeMappings.map(\.document)),
            "relationships": .array(relationshipMappings.map(\.document)),
            "userInfo": JSONValue(sorted: userInfo.mapValues(JSONValue.string)),
        ]
    }

    /// `CarToCar: custom, Car → Car where color == "red", by CarPolicy`
    fileprivate var sentence: String {
        let entities = [sourceEntityName, destinationEntityName].map { $0 ?? "nothing" }.joined(separator: " → ")
        let condition = sourcePredicate.map { " where \($0.format)" } ?? ""
        let policy = entityMigrationPolicyClassName.map { ", by \($0)" } ?? ""
        return "\(name): \(type), \(entities)\(condition)\(policy)"
    }

    /// Without the properties that are carried over under their names.
    fileprivate var notableProperties: [String] {
        (attributeMappings + relationshipMappings).filter { !$0.isCarriedOver }.map { property in
            "\(property.name) = \(property.valueExpression?.format ?? "nothing: starts with its default value")"
        }
    }
}

extension PropertyMapping {
    fileprivate var document: JSONValue {
        ["name": .string(name), "valueExpression": JSONValue(valueExpression?.format)]
    }

    fileprivate var isCarriedOver: Bool {
        let carried = Expression.source(name)
        return valueExpression == carried || valueExpression?.destinationInstances?.sourceInstances == carried
    }
}
