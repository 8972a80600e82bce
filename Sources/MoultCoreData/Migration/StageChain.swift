import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan

/// The versions in the order of the stages, and the code registered for the migrations between them.
struct StageChain {
    private(set) var versions: [ModelVersion] = []
    private(set) var checksums: [String] = []
    private var issues: [String] = []
    private var models: [String: ModelVersion] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    /// - Parameters:
    ///   - model: the model with which the store is opened.
    ///   - versions: the versions next to that model, each of which must be in a stage.
    ///   - carried: the model stored in the store itself, for a version whose model is not available otherwise.
    /// - Throws: `stagesInvalid`, listing every problem.
    init(
        _ stages: [MigrationStage], model: ManagedObjectModel, versions: [ModelVersion],
        carried: ManagedObjectModel? = nil
    ) throws(MigrationError) {
        for (number, stage) in stages.enumerated() {
            names[ObjectIdentifier(stage)] = stage.label ?? "stage \(number + 1)"
        }
        for version in versions { models[version.model.versionChecksum] = version }
        note(model, named: "the container's model")
        note(carried, named: "the store's own model")
        var previous: MigrationStage?
        for stage in stages {
            append(stage, after: previous)
            previous = stage
        }
        for checksum in checksums {
            guard let version = models[checksum] else {
                issues.append("No known model has the checksum \(checksum).")
                continue
            }
            self.versions.append(version)
        }
        for version in versions where !checksums.contains(version.model.versionChecksum) {
            issues.append("No stage has the version \(version.name) (\(version.model.versionChecksum)).")
        }
        if !checksums.contains(model.versionChecksum), !versions.contains(where: { $0.model == model }) {
            issues.append("No stage leads to the container's model (\(model.versionChecksum)).")
        }
        guard issues.isEmpty else { throw error }
    }

    private mutating func note(_ model: ManagedObjectModel?, named name: String) {
        guard let model, models[model.versionChecksum] == nil else { return }
        models[model.versionChecksum] = ModelVersion(names: [name], model: model)
    }

    private var error: MigrationError {
        MigrationError(
            .stagesInvalid,
            "The stages of the migration do not fit together: " + issues.joined(separator: " "),
            remedy: "List every released version in exactly one stage, or connect two with a custom stage.")
    }
}

// MARK: - Building the chain

extension StageChain {
    private func name(_ stage: MigrationStage) -> String { names[ObjectIdentifier(stage)] ?? "" }

    private mutating func append(_ stage: MigrationStage, after previous: MigrationStage?) {
        if let stage = stage as? LightweightMigrationStage {
            if stage.versionChecksums.isEmpty { issues.append("\(name(stage)) has no versions.") }
            for (place, checksum) in stage.versionChecksums.enumerated() {
                // A stage may begin with the version at which the previous one ends.
                if place == 0, previous != nil, checksums.last == checksum { continue }
                append(checksum, of: stage)
            }
        } else if let stage = stage as? CustomMigrationStage {
            append(stage, afterCustom: previous is CustomMigrationStage)
        }
    }

    private mutating func append(_ stage: CustomMigrationStage, afterCustom: Bool) {
        check(stage.currentModel, of: stage)
        check(stage.nextModel, of: stage)
        let (from, to) = (stage.currentModel.versionChecksum, stage.nextModel.versionChecksum)
        if from == to {
            issues.append(
                "\(name(stage)) leads from \(from) to the same version; a hash modifier tells two versions of one "
                    + "shape apart.")
            return
        }
        if let last = checksums.last, last != from {
            if afterCustom { issues.append("Nothing leads from \(last) to \(from), where \(name(stage)) begins.") }
            append(from, of: stage)
        } else if checksums.isEmpty {
            append(from, of: stage)
        }
        append(to, of: stage)
    }

    private mutating func append(_ checksum: String, of stage: MigrationStage) {
        if checksums.contains(checksum) {
            issues.append("\(name(stage)) returns to \(checksum), which earlier stages have passed.")
        } else {
            checksums.append(checksum)
        }
    }

    private mutating func check(_ reference: ManagedObjectModelReference, of stage: CustomMigrationStage) {
        do {
            let model = try reference.resolvedModel
            let found = model.versionChecksum
            if found == reference.versionChecksum {
                if models[found] == nil {
                    note(model, named: "version \(found.prefix(8))")
                }
                return
            }
            issues.append(
                "\(name(stage)) expects a model with the checksum \(reference.versionChecksum), and it is \(found): the "
                    + "version has been changed since its release.")
        } catch {
            let message = (error as? MigrationError)?.message ?? "\(error)"
            issues.append("\(name(stage)): the model of \(reference.versionChecksum) cannot be read. \(message)")
        }
    }
}

// MARK: - Registry

extension StageChain {
    /// Returns the custom stages with their code, under names unique to this chain.
    func registry(of manager: StagedMigrationManager) -> MigrationRegistry {
        var registry = MigrationRegistry()
        for stage in manager.stages.compactMap({ $0 as? CustomMigrationStage }) {
            guard let from = models[stage.currentModel.versionChecksum],
                let to = models[stage.nextModel.versionChecksum]
            else { continue }
            let label = name(stage)
            var registered = RegisteredStage(
                from: from.name, to: to.name, name: label, sentence: "The stage \(label) runs the app's own code.")
            registered.style = .handlers
            if let handler = stage.willMigrateHandler {
                let step = CodeStep(
                    name: "\(label), before", sentence: "The code of \(label) has run at version \(from.name).")
                registered.before = [step]
                registry.steps[step.name] = StepCode { try manager.run(handler, of: stage, on: $0.coordinator) }
            }
            if let handler = stage.didMigrateHandler {
                let step = CodeStep(
                    name: "\(label), after", sentence: "The code of \(label) has run at version \(to.name).")
                registered.after = [step]
                registry.steps[step.name] = StepCode { try manager.run(handler, of: stage, on: $0.coordinator) }
            }
            registry.stages.append(registered)
        }
        return registry
    }
}
