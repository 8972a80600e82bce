import Foundation
import MoultModel

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "child" {
        try ChildWork.run(Array(arguments.dropFirst()))
    } else {
        let settings = try Settings(arguments)
        try Benchmarks(settings).run()
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
