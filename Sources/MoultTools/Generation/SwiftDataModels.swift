import MoultModel
import MoultPlan

/// The SwiftData classes for the versions of a model, and the plan that migrates each version to the next.
package struct SwiftDataModels {
    package let files: [GeneratedFile]
    /// The versions in SwiftData, oldest first: the name of the enum, and the model of its classes.
    package let versions: [(name: String, model: ManagedObjectModel)]

    /// - Parameter name: the prefix of the types, such as `Forum` for `ForumV1` and `ForumMigrationPlan`.
    /// - Throws: `modelInvalid` if two names of a version become the same identifier.
    package init(_ versions: ModelVersions, named name: String) throws {
        let base = name.asIdentifier.capitalizedFirst
        // Versions that differ only in features that SwiftData lacks become one version.
        let forms = try versions.versions.map { version in
            let form = try SwiftDataForm(of: version.model)
            return (form: form, version: ModelVersion(names: version.names, model: form.model))
        }
        let nodes = ModelVersions(joining: forms.map(\.version)).versions
        let kept = nodes.compactMap { node in
            forms.last { $0.version.name == node.name }.map { (form: $0.form, version: node) }
        }
        let names = kept.indices.map { "\(base)V\($0 + 1)" }
        let identifiers = Self.identifiers(kept.map(\.version.model))
        let sources = kept.map { SwiftDataSource($0.form) }
        var files: [GeneratedFile] = []
        for (position, source) in sources.enumerated() {
            let origin = "The version \(kept[position].version.names.joined(separator: ", ")) of the model."
            files.append(
                GeneratedFile(
                    "\(names[position]).swift",
                    imports: Self.imports,
                    [origin.docLine] + source.lines(named: names[position], identifier: identifiers[position])))
        }
        let plan = try Self.planLines(
            base, names, kept.map(\.version), hasInheritance: sources.contains { $0.hasInheritance })
        files.append(GeneratedFile("\(base)MigrationPlan.swift", imports: Self.imports, plan))
        self.files = files
        self.versions = zip(names, kept).map { ($0, $1.form.model) }
    }

    private static let imports = ["import SwiftData"].onDarwin(otherwise: ["import MoultData"])

    /// Returns the version identifiers of the models if they are ascending numbers; otherwise 1.0.0, 2.0.0 and so on.
    private static func identifiers(_ models: [ManagedObjectModel]) -> [String] {
        let numbers = models.map { model -> [Int] in
            let parts = (model.versionIdentifiers.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
            let found = parts.compactMap { Int($0) }.filter { $0 >= 0 }
            guard found.count == parts.count, (1...3).contains(found.count) else { return [] }
            return found + Array(repeating: 0, count: 3 - found.count)
        }
        let ascends = zip(numbers, numbers.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
        let isUsed = ascends && numbers.allSatisfy { !$0.isEmpty }
        return models.indices.map { position in
            (isUsed ? numbers[position] : [position + 1, 0, 0]).map(String.init).joined(separator: ", ")
        }
    }

    // MARK: - The plan

    private static func planLines(
        _ base: String, _ names: [String], _ versions: [ModelVersion], hasInheritance: Bool
    ) throws -> [String] {
        var stages: [String] = []
        for position in versions.indices.dropLast() {
            stages += try stage(versions[position], versions[position + 1], names[position], names[position + 1])
        }
        var lines = hasInheritance ? [SwiftDataSource.availability] : []
        lines += [
            "enum \(base)MigrationPlan: SchemaMigrationPlan {", "    static var schemas: [any VersionedSchema.Type] {",
            "        [\(names.map { "\($0).self" }.joined(separator: ", "))]", "    }", "",
            "    static var stages: [MigrationStage] {",
        ]
        lines += stages.isEmpty ? ["        []"] : ["        ["] + stages.indented.indented.indented + ["        ]"]
        lines += ["    }", "}"]
        guard let newest = names.last, let model = versions.last?.model else { return lines }
        let classes = model.entities.map(\.name).filter { !foreignNames.contains($0) }
        let mark = hasInheritance ? SwiftDataSource.availability + " " : ""
        return lines + [""] + classes.map { "\(mark)typealias \($0.identifier) = \(newest).\($0.identifier)" }
    }

    /// The types of the standard library and Foundation that a type alias in the module would hide.
    private static let foreignNames: Set<String> = [
        "Int", "Int16", "Int32", "Int64", "Bool", "Double", "Float", "String", "Set", "Array", "Dictionary", "Result",
        "Error", "Never", "Character", "Decimal", "Date", "Data", "UUID", "URL", "Task", "Measurement", "Locale",
        "Calendar", "Notification", "Predicate", "Bundle", "Thread", "Process", "Timer", "Unit", "Operation",
    ]

    private static func stage(
        _ older: ModelVersion, _ newer: ModelVersion, _ from: String, _ to: String
    ) throws -> [String] {
        let correspondence = try EntityMatching(from: older, to: newer)
        let inferred = try InferredMapping(correspondence)
        if inferred.mapping != nil { return [".lightweight(fromVersion: \(from).self, toVersion: \(to).self),"] }
        let reasons =
            inferred.questions.map { question in
                "\(question.sentence) If so, copy the values here; otherwise they are removed."
            } + inferred.refusals.map { "\($0.message) \($0.remedy)" }
        return reasons.map(\.commentLine) + [
            ".custom(", "    fromVersion: \(from).self, toVersion: \(to).self, willMigrate: nil,",
            "    didMigrate: { context in", "        try context.save()", "    }),",
        ]
    }
}

extension String {
    fileprivate var docLine: String { "/" + commentLine }
}
