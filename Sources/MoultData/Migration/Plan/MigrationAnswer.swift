import MoultPlan

/// A decision about a change of the models that could mean two things. Moult asks, and never guesses.
///
///     static var answers: [MigrationAnswer] { [.new("Habit.reminder", in: SchemaV2.self)] }
public struct MigrationAnswer: @unchecked Sendable {
    let place: String
    let version: any VersionedSchema.Type
    let verdict: Answer.Verdict
    let old: String?

    /// The property or model is new; what resembles it in the version before is to go, with its values.
    ///
    /// - Parameter place: `Model.property` or `Model`, as the version calls it, and so below.
    public static func new(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .new, old: nil)
    }

    /// The property or model was called `old` in the version before: what `originalName` says of a property.
    public static func renamed(
        _ place: String, from old: String, in version: any VersionedSchema.Type
    ) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .rename, old: old)
    }

    /// The values stay where the property has another type, which holds every value of the old one.
    public static func kept(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .keep, old: nil)
    }

    /// The values go where the property has another type; it starts with its default. In a custom stage, whose code was
    /// written to keep something, ``SchemaMigrationPlan/acceptedLosses`` has to name the property too.
    public static func dropped(_ place: String, in version: any VersionedSchema.Type) -> MigrationAnswer {
        MigrationAnswer(place: place, version: version, verdict: .drop, old: nil)
    }

    /// As a plan of the engine has it.
    func answer(from: String, to: String) -> Answer {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        return Answer(
            from: from, to: to, entity: parts.first ?? "", property: parts.dropFirst().first, is: verdict, old: old)
    }
}
