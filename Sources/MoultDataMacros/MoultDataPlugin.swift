import SwiftSyntaxMacros

#if canImport(SwiftCompilerPlugin)
    import SwiftCompilerPlugin
    import SwiftCompilerPluginMessageHandling

    @main
    struct MoultDataPlugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = ProvidedMacros.all
    }
#else
    @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

    /// The toolchain's own modules lack `SwiftCompilerPlugin`; this is its work.
    @main
    struct MoultDataPlugin: PluginProvider {
        static func main() throws {
            let listener = CompilerPluginMessageListener(
                connection: try StandardIOMessageConnection(), provider: MoultDataPlugin())
            try listener.main()
        }

        func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
            guard let found = ProvidedMacros.all.first(where: { "\($0)" == typeName }) else {
                throw UnknownMacro(description: "\(moduleName).\(typeName) is no macro of MoultData.")
            }
            return found
        }
    }

    private struct UnknownMacro: Error, CustomStringConvertible {
        let description: String
    }
#endif

/// Every macro that `MoultData` declares.
enum ProvidedMacros {
    static var all: [any Macro.Type] {
        [ModelMacro.self, PersistedPropertyMacro.self, PropertyMarkerMacro.self, ModelConstraintMacro.self]
    }
}
