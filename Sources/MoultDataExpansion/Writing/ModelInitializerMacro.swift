import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ModelInitializer`, which `@Model` puts on initialisers: when the model is there, the context of one that it leads
/// to may take it in. Inside of an initialiser the properties' own accessors do not know the model yet.
struct ModelInitializerMacro: BodyMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        guard let initializer = declaration.as(InitializerDeclSyntax.self), let body = initializer.body else {
            return []
        }
        let statements = Array(body.statements)
        let call: CodeBlockItemSyntax = "_$backingData._wasWritten(by: self)"
        guard body.mayReturnEarly else {
            return statements.last?.endsFlow == true ? statements : statements + [call]
        }
        // A way out before there is a model would have to be told from one after.
        let isPlain = initializer.optionalMark == nil && initializer.signature.effectSpecifiers?.throwsClause == nil
        return isPlain ? ["defer { _$backingData._wasWritten(by: self) }"] + statements : statements
    }
}

extension CodeBlockSyntax {
    fileprivate var mayReturnEarly: Bool {
        tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.return) }
    }
}

extension CodeBlockItemSyntax {
    /// Whether nothing behind it is ever run.
    fileprivate var endsFlow: Bool {
        if item.is(ThrowStmtSyntax.self) { return true }
        let name = item.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
        return name.map { ["fatalError", "preconditionFailure"].contains($0) } ?? false
    }
}
