import Foundation
import MoultBasics

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "child" {
        try ChildWork.run(Array(arguments.dropFirst()))
    } else {
        let settings = try Settings(arguments)
        let isKept =
            switch settings.work {
            case .measure: try Benchmarks(settings).run()
            case .judge: try Benchmarks.judge(settings)
            case .document: try PerformancePage(settings).write()
            }
        exit(isKept ? 0 : 1)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
