import MoultModel

extension LintReport {
    /// The findings as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
    ///
    /// - Parameters:
    ///   - version: Moult's own.
    ///   - paths: paths are relative to the root of the repository.
    /// - Throws: `usage` for a model outside of it.
    package func sarif(version: String, paths: RepositoryPaths) throws -> JSONValue {
        _ = try paths.required(path)
        let positions = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.code, $0) })
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [
                [
                    "tool": [
                        "driver": [
                            "name": "moult lint", "version": .string(version),
                            "rules": .array(rules.map(\.sarif)),
                        ]
                    ],
                    "columnKind": "unicodeCodePoints",
                    "results": .array(
                        try findings.map { finding in
                            finding.sarif(
                                position: positions[finding.rule.code] ?? -1,
                                place: try paths.required(finding.file, line: finding.line))
                        }),
                ]
            ],
        ]
    }
}

extension Finding.Severity {
    /// SARIF's word.
    fileprivate var level: JSONValue { .string(rawValue) }
}

extension LintRule {
    fileprivate var sarif: JSONValue {
        let help = "\(meaning) \(onDevice) \(remedy)"
        return [
            "id": .string(code), "name": .string(title.split(separator: " ").map(\.capitalizedFirst).joined()),
            "shortDescription": ["text": .string(title + ".")], "fullDescription": ["text": .string(meaning)],
            "help": [
                "text": .string(help.replacing("`", with: "")),
                "markdown": .string("\(meaning)\n\n**On a device:** \(onDevice)\n\n**What to do:** \(remedy)"),
            ],
            "defaultConfiguration": ["level": severity.level],
            "properties": ["category": .string(category.rawValue)],
        ]
    }
}

extension LintFinding {
    fileprivate func sarif(position: Int, place file: String) -> JSONValue {
        let pasted = xml.map { "\n\n\($0)" } ?? ""
        var location: [JSONValue.Member] = [.init("artifactLocation", ["uri": .string(file.percentEncoded)])]
        if let line { location.append(.init("region", ["startLine": JSONValue(line)])) }
        var whole: [JSONValue.Member] = [.init("physicalLocation", .object(location))]
        if !place.isEmpty {
            whole.append(.init("logicalLocations", [["fullyQualifiedName": .string(place)]]))
        }
        return [
            "ruleId": .string(rule.code), "ruleIndex": JSONValue(position), "level": severity.level,
            "message": ["text": .string("\(message)\n\n\(remedy)\(pasted)")], "locations": [.object(whole)],
            "partialFingerprints": ["moultLint/v1": .string(fingerprint)],
        ]
    }
}

extension Substring {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension String {
    /// As a relative URI.
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            let isPlain =
                byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
            return isPlain || Array("-._~/".utf8).contains(byte)
                ? String(Unicode.Scalar(byte)) : "%" + [byte].hexadecimal.uppercased()
        }.joined()
    }
}
