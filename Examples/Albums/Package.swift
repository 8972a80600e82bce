// swift-tools-version: 6.0
import PackageDescription

// A package whose model is compiled by the build: the plugin puts Albums.momd into the resource bundle and makes the
// classes that the model asks for. SwiftPM itself leaves the model alone.
let package = Package(
    name: "Albums",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Albums", targets: ["Albums"])],
    dependencies: [.package(name: "Moult", path: "../.."), .package(name: "MoultPlugin", path: "../../Plugin")],
    targets: [
        .target(
            name: "Albums", dependencies: [.product(name: "MoultCoreData", package: "Moult")],
            exclude: ["Albums.xcdatamodeld"],
            plugins: [.plugin(name: "CompileModels", package: "MoultPlugin")]),
        .testTarget(name: "AlbumsTests", dependencies: ["Albums"]),
    ],
    swiftLanguageModes: [.v6]
)
