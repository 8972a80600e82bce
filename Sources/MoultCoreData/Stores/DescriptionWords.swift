import MoultBasics
import MoultModel

/// The words of remedies for what has a ``PersistentStoreDescription``, or options by key.
package struct DescriptionWords: RemedyWords {
    package init() {}

    package func text(_ action: Remedy.Action) -> String { SwiftWords().text(action) }

    package func text(_ setting: Remedy.Setting) -> String {
        switch setting {
        case .experimental: "the store's option \(PersistentStoreOption.allowsUncertainVersionHashes)"
        case .deferred: "the store's option \(PersistentStoreOption.deferredLightweightMigration)"
        case .stopAtEachVersion: "stopsAtEachVersion of the description"
        case .again: "a higher maximumMigrationAttempts of the description"
        default: SwiftWords().text(setting)
        }
    }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "set the store's option \(PersistentStoreOption.allowsCloudKitMigration) to true"
        case .configuration(let name): "set configuration of the description to \(name)"
        case .losses(let places):
            "If the store is another app's, open one of your own. Otherwise add the version of the model that the store is "
                + "of, or accept the loss: acceptedLosses = \(places.swiftLiteral) of the description, or the store's "
                + "option \(PersistentStoreOption.acceptedLosses) with the same value."
        case .loss, .code: SwiftWords().text(permission)
        }
    }

    package func remedy(for code: MigrationError.Code) -> Remedy? {
        code == .question
            ? """
            Set renaming identifiers in the model. Or answer each question: migrationAnswers of the description is JSON such \
            as {"format": 1, "answers": [ANSWER, …]}, with an answer that is given above.
            """ : nil
    }
}
