import MoultBasics
import MoultModelFiles
import MoultPlan

/// The schema of CloudKit's Production environment that a model is compared with.
package struct LintSchema: Sendable {
    let path: String
    let schema: CloudKitSchema
    /// The configuration that is mirrored; nil for the one that the model marks.
    let configuration: String?

    package init(_ file: CloudKitSchemaFile, path: String, configuration: String? = nil) {
        (self.path, self.configuration, schema) = (path, configuration, file.schema)
    }

    /// - Throws: `modelInvalid` with the line and column of what is not part of the language; `fileNotFound`.
    init(contentsOf path: String, configuration: String?) throws {
        self.init(
            try CloudKitSchemaFile(contentsOf: path), path: CloudKitSchemaFile.shown(path), configuration: configuration
        )
    }
}

extension Lint {
    /// Returns the schema to compare a model with; of several models, those without its configuration are not mirrored.
    func schema(for bundle: ModelBundle) -> LintSchema? {
        guard namesModels, let name = schema?.configuration else { return schema }
        let isKnown = bundle.versions.contains { $0.model.configurations.contains { $0.name == name } }
        return isKnown ? schema : nil
    }
}
