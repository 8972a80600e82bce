// swift-tools-version: 6.1
import PackageDescription

// The build-tool plugin that compiles models. A package of its own, so that only who uses it builds moult for the build:
// Documentation/BuildPlugin.md.
let package = Package(
    name: "MoultPlugin",
    products: [.plugin(name: "CompileModels", targets: ["CompileModels"])],
    dependencies: [.package(name: "Moult", path: "..")],
    targets: [
        .plugin(
            name: "CompileModels", capability: .buildTool(),
            dependencies: [.product(name: "moult", package: "Moult")])
    ],
    swiftLanguageModes: [.v6]
)
