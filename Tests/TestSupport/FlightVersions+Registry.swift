import MoultObjects
import MoultPlan

extension FlightVersions {
    /// What an app registers for the last stage, which copies the values by ``copyFlightData(_:)``.
    ///
    /// - Parameters:
    ///   - registry: has the code of the steps before it.
    ///   - before: steps of the same stage that come first.
    package static func registry(
        _ registry: MigrationRegistry = MigrationRegistry(), before: [CodeStep] = []
    ) -> MigrationRegistry {
        var registry = registry
        registry.steps["copy"] = StepCode(execute: copyFlightData)
        registry.stages = [
            RegisteredStage(
                from: "V2", to: "V3", name: "decompose", sentence: "Flight data get an entity of their own.",
                before: before + [CodeStep(name: "copy", sentence: "Flight data are copied.")])
        ]
        return registry
    }
}
