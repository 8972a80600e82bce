import MoultBasics
import MoultModel
import MoultPlan

/// The app's code that its migrations call, registered under the names that mapping models and plans use.
///
/// An app's own tool passes a registry to the command line; the library takes one in its options. A plan holds only
/// names, so it stays a value: a program without the code can read the plan but refuses to run it.
public struct MigrationRegistry: Sendable {
    /// The code of custom stages and of the steps of a version, by name.
    package var steps: [String: StepCode] = [:]
    /// Mapping models and stages that replace inferred ones.
    package var stages: [RegisteredStage] = []
    /// Mapping models made in code. Their versions are looked up by name.
    package var mappings: [RegisteredMapping] = []
    /// The factories of the migration policies that mapping models name. Each makes one object per run, and further
    /// ones to ask whether the policy keeps state.
    public var policies: [String: @Sendable () -> EntityMigrationPolicy] = [:]
    /// Returns the versions of the app's model, for an app's own tool that is called without `--model`; nil if the
    /// command line must name the model. Only commands that need the versions call it.
    public var models: (@Sendable () throws -> ModelVersions)?
    /// The rules that the data must satisfy before and after a migration, and after named steps.
    public var rules: [ValidationRule] = []
    /// The accepted losses: data that a stage may lose although both versions have it and no code of the stage has read
    /// it.
    public var acceptedLosses = AcceptedLosses.none
    /// Whether a migration applies the fixes of the rules; otherwise rules only report violations.
    public var appliesFixes = false
    /// Whether fixes may quarantine more than a quarter of an entity's objects.
    public var allowsLargeQuarantine = false

    /// The outline of the app's plan, for rules that check it even if it has errors; nil if there is none.
    package var plan: PlanOutline?

    /// Registers the factory of a migration policy.
    ///
    /// - Parameter name: the class name that the mapping model gives, such as `App.Post2ToPost3MigrationPolicy`.
    public mutating func register(
        policy make: @escaping @Sendable () -> EntityMigrationPolicy, named name: String
    ) { policies[name] = make }

    /// - Parameter models: such as `{ try ModelVersions(contentsOf: url) }`, or a closure that returns versions made in
    ///   code.
    public init(models: (@Sendable () throws -> ModelVersions)? = nil) { self.models = models }
}

/// The code of one step of a stage, which changes the objects of a store of one version, and its undo.
package struct StepCode: Sendable {
    /// Changes objects and saves. Changes left unsaved on return are saved automatically. The code may run again from
    /// the start, on a store without any of its changes.
    package var execute: @Sendable (ObjectContext) throws -> Void
    /// Called when this step or anything after it fails; nil if there is nothing outside the store to undo.
    package var undo: (@Sendable (ObjectContext) throws -> Void)?

    package init(
        execute: @escaping @Sendable (ObjectContext) throws -> Void,
        undo: (@Sendable (ObjectContext) throws -> Void)? = nil
    ) {
        self.execute = execute
        self.undo = undo
    }
}

/// A mapping model that an app has made in code, from one version to another.
package struct RegisteredMapping: Sendable {
    package var name: String
    package var from: String
    package var to: String
    package var mapping: MappingModel
}

extension MigrationRegistry {
    /// Registers a mapping model to use between two versions, in place of an inferred one.
    ///
    /// Properties that an entity mapping does not name get a mapping with its default expression, as in Core Data
    /// (``MoultModel/MappingModel/completed(from:to:)``).
    ///
    /// - Parameters:
    ///   - from: the version's name, and `to` likewise.
    ///   - name: the name in plans and errors; `from to to` if nil.
    public mutating func register(mapping: MappingModel, from: String, to: String, named name: String? = nil) {
        mappings.append(RegisteredMapping(name: name ?? "\(from) to \(to)", from: from, to: to, mapping: mapping))
    }

    /// Returns everything that replaces inferred mappings and stages, for the given versions.
    ///
    /// - Throws: `noPath` if a mapping model is registered for a version that does not exist.
    package func stages(in versions: ModelVersions) throws(MigrationError) -> [RegisteredStage] {
        var stages = stages
        for registered in mappings {
            let (from, to) = (
                try versions.version(registered.from, of: registered),
                try versions.version(registered.to, of: registered)
            )
            stages.append(
                RegisteredStage(
                    registered.mapping.completed(from: from, to: to), named: registered.name, from: from, to: to,
                    policies: Set(policies.keys)))
        }
        return stages
    }
}

extension ModelVersions {
    fileprivate func version(_ name: String, of registered: RegisteredMapping) throws(MigrationError) -> ModelVersion {
        if let position = position(named: name) { return versions[position] }
        throw MigrationError(
            .noPath,
            "The mapping model \(registered.name) is registered for a version \(name), which the model does not have.",
            place: registered.name,
            remedy: "The versions are: \(self.versions.flatMap(\.names).joined(separator: ", ")).")
    }
}

/// The contents of a SwiftData plan, for rules that check it whether or not it can open a store.
package struct PlanOutline: Sendable {
    /// The versions whose models are valid, oldest first.
    package let versions: [ModelVersion]
    /// The stages with code or a mapping of their own.
    package let stages: [RegisteredStage]
    /// The errors and risks found in the plan.
    package let findings: [Finding]
    /// The source location of each model, by the version's name, then the entity's.
    package let declarations: [String: [String: Declaration]]

    package init(
        versions: [ModelVersion], stages: [RegisteredStage], findings: [Finding],
        declarations: [String: [String: Declaration]] = [:]
    ) {
        (self.versions, self.stages, self.findings, self.declarations) = (versions, stages, findings, declarations)
    }

    /// The source location of a model and its properties.
    package struct Declaration: Sendable, Hashable {
        /// `Module/File.swift`, as `#fileID` has it.
        package let file: String
        /// The line, counted from 1.
        package let line: Int
        /// The line of each property.
        package let properties: [String: Int]

        package init(file: String, line: Int, properties: [String: Int]) {
            (self.file, self.line, self.properties) = (file, line, properties)
        }
    }
}
