// swift-tools-version: 6.0
import PackageDescription

// What Core Data and SwiftData make of Moult's stores, on a Mac. There this package has no dependency: both modules are
// the system's, and Moult is a program that it starts. On Linux Moult is on both sides, so that the comparison itself is
// type-checked and tested.
var dependencies: [Package.Dependency] = []
var products: [Target.Dependency] = []
#if os(Linux)
    dependencies = [.package(name: "DropIn", path: "../DropIn")]
    products = ["SwiftData", "CoreData"].map { .product(name: $0, package: "DropIn") }
#endif

let package = Package(
    name: "Parity",
    platforms: [.macOS(.v15)],
    dependencies: dependencies,
    targets: [
        .target(name: "Parity", dependencies: products),
        .executableTarget(name: "moult-parity", dependencies: ["Parity"]),
        .testTarget(name: "ParityTests", dependencies: ["Parity"] + products),
    ],
    swiftLanguageModes: [.v6]
)
