import MoultModel
import MoultModelFiles
import MoultPlan

/// A report on the contents of a mapping model.
package struct MappingReport: Sendable {
    private let name: String
    private let mapping: MappingModel
    private let versions: (from: String, to: String)?
    private let findings: [Finding]

    /// A mapping model that was read from a file.
    ///
    /// - Parameter versions: those that it may lead between; if there are none, the ones that the file itself has.
    /// - Throws: `noPath` and `question` if it does not fit just two of the versions.
    package init(of file: MappingModelFile, in versions: ModelVersions) throws {
        var pair = file.versions
        if !versions.versions.isEmpty {
            let match = try MappingMatch(of: file.mapping, named: file.name, held: file.versions, in: versions)
            pair = (versions.versions[match.source], versions.versions[match.destination])
        }
        let findings = pair.map { file.mapping.findings(from: $0.source.model, to: $0.destination.model) } ?? []
        (name, mapping) = (file.name, file.mapping)
        self.versions = pair.map { ($0.source.name, $0.destination.name) }
        self.findings = file.findings + findings
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
