// swift-tools-version: 6.1
import PackageDescription

// The build-tool plugin that compiles models, and the commands of `swift package`. A package of its own, so that only who
// uses it builds moult for the build: Documentation/BuildPlugin.md.
let package = Package(
    name: "MoultPlugin",
    products: [
        .plugin(name: "CompileModels", targets: ["CompileModels"]),
        .plugin(name: "MoultCommand", targets: ["MoultCommand"]),
        .plugin(name: "MoultWritingCommand", targets: ["MoultWritingCommand"]),
    ],
    dependencies: [.package(name: "Moult", path: "..")],
    targets: [
        .plugin(
            name: "CompileModels", capability: .buildTool(), dependencies: [.product(name: "moult", package: "Moult")]),
        .plugin(
            name: "MoultCommand",
            capability: .command(
                intent: .custom(verb: "moult", description: "Check models and stores; nothing is written")),
            dependencies: [.product(name: "moult", package: "Moult")]),
        .plugin(
            name: "MoultWritingCommand",
            capability: .command(
                intent: .custom(verb: "moult-write", description: "Run any verb of moult"),
                permissions: [
                    .writeToPackageDirectory(reason: "moult writes locks, configurations, fixtures and sources.")
                ]),
            dependencies: [.product(name: "moult", package: "Moult")]),
    ],
    swiftLanguageModes: [.v6]
)
