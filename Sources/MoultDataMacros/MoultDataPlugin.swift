import MoultDataExpansion
@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The compiler plugin for the macros. It is a separate target because tests of a plugin make SwiftPM build everything
/// twice. It replaces `SwiftCompilerPlugin`, which the toolchain lacks.
@main
struct MoultDataPlugin: PluginProvider {
    static func main() throws {
        let listener = CompilerPluginMessageListener(
            connection: try StandardIOMessageConnection(), provider: MoultDataPlugin())
        try listener.main()
    }

    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
        guard let found = ProvidedMacros.all.first(where: { "\($0)" == typeName }) else {
            throw UnknownMacro(description: "\(moduleName).\(typeName) is not a macro of MoultData.")
        }
        return found
    }
}

private struct UnknownMacro: Error, CustomStringConvertible {
    let description: String
}
