import SwiftSyntaxMacros

/// Every macro that `MoultData` declares.
package enum ProvidedMacros {
    package static var all: [any Macro.Type] {
        [
            ModelMacro.self, PersistedPropertyMacro.self, PropertyMarkerMacro.self, ModelConstraintMacro.self,
            ModelActorMacro.self, ModelInitializerMacro.self,
        ]
    }
}
