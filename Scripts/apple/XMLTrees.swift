// Prints the tree of each XML document that the named list names, for the test of Scripts/check-apple.
import Foundation

func show(_ element: XMLElement) {
    print(element.name, element.line, element.offset, element.text.debugDescription)
    for attribute in element.attributes { print(" ", attribute.name, attribute.value.debugDescription) }
    for child in element.children { show(child) }
    print("end of", element.name)
}

let list = FileManager.default.contents(atPath: CommandLine.arguments[1]) ?? Data()
for path in String(decoding: list, as: UTF8.self).split(separator: "\n") {
    print("==", path)
    let bytes = [UInt8](FileManager.default.contents(atPath: String(path)) ?? Data())
    do { show(try XMLElement.root(of: bytes, limits: .init(depth: 64), keepsText: true)) } catch { print("refused") }
}
