import MoultModel

/// The words of remedies for a store that has a ``ModelConfiguration``.
package struct ConfigurationWords: RemedyWords {
    package init() {}

    private static let writingPlan =
        "Otherwise open the store with a SchemaMigrationPlan that has its models as a VersionedSchema, and there answer in "
        + "`answers`, or keep the values by a .transform or a custom stage."

    package func text(_ action: Remedy.Action) -> String { SwiftWords().text(action) }

    package func text(_ setting: Remedy.Setting) -> String { SwiftWords().text(setting) }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "set allowsCloudKitMigration of the ModelConfiguration"
        case .losses(let places):
            "If the store is another app's, give the ModelConfiguration a name or a URL of its own. If a model is missing, "
                + "add it to the container. Otherwise add the models of the store's version to a SchemaMigrationPlan, or "
                + "accept the loss: acceptedLosses = \(places.swiftLiteral) of the ModelConfiguration."
        case .configuration, .loss, .code: SwiftWords().text(permission)
        }
    }

    package func remedy(for code: MigrationError.Code) -> Remedy? {
        switch code {
        case .question: "If it was renamed, give it an originalName. \(Self.writingPlan)"
        case .cannotInfer: "Make these changes inferable. \(Self.writingPlan)"
        default: nil
        }
    }
}
