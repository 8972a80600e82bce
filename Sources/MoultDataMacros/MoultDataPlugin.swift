import MoultDataExpansion
@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The program that the compiler asks for the macros. It stands apart from them because tests of a plugin make SwiftPM
/// build everything twice; and the toolchain lacks `SwiftCompilerPlugin`, whose work this is.
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
