import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty`, which `@Model` puts on every property that the store keeps: its accessors lead to the
/// model's backing data.
struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = persisted(declaration), let model = model(of: context) else { return [] }
        let (name, path, access) = (property.name, "\\\(model).\(property.spelling)", property.access(in: model))
        return [
            """
            @storageRestrictions(accesses: _$backingData, initializes: _\(raw: name))
            init(initialValue) {
                \(raw: access).write(initialValue, "\(raw: name)", to: _$backingData)
                _\(raw: name) = MoultData._Kept()
            }
            """,
            """
            get {
                _$observationRegistrar.access(self, keyPath: \(raw: path))
                return \(raw: access).read("\(raw: name)", of: _$backingData)
            }
            """,
            """
            set {
                _$observationRegistrar.withMutation(of: self, keyPath: \(raw: path)) {
                    \(raw: access).write(newValue, "\(raw: name)", to: _$backingData)
                }
                _$backingData._wasWritten(by: self)
            }
            """,
        ]
    }

    /// Returns a constant that says how the property is kept, chosen once, and a property of no size. The initialiser
    /// of every class has to set the latter, so the compiler continues to ask that every property has a value.
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = persisted(declaration), let model = model(of: context) else { return [] }
        return [
            "private static let \(raw: property.choiceName) = \(raw: property.choice(in: model))",
            "private var _\(raw: property.name): MoultData._Kept",
        ]
    }

    private static func model(of context: some MacroExpansionContext) -> String? {
        context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text
    }

    private static func persisted(_ declaration: some DeclSyntaxProtocol) -> PersistedProperty? {
        declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init)
    }
}
