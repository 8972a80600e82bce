import MoultBasics

extension Remedy {
    /// Whether an action is to be called with the model that a person names.
    var namesModel: Bool {
        parts.contains { part in
            if case .action(let action) = part { action.settings.contains(.model("MODEL")) } else { false }
        }
    }
}
