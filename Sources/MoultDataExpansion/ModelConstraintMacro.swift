import SwiftSyntax
import SwiftSyntaxMacros

/// `#Unique` and `#Index`: words that `@Model` reads, and that make nothing of their own.
struct ModelConstraintMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}
