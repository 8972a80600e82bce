import Foundation
import TestSupport

// objects-child STORE WRITER TIMES     writes into a SharedJournal; a line "ref key" for each object that is saved

let arguments = CommandLine.arguments
guard arguments.count == 4, let times = Int(arguments[3]) else { exit(2) }
do {
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    try SharedJournal.write(arguments[2], times: times, to: arguments[1]) { ref, key in
        FileHandle.standardOutput.write(Data("\(ref) \(key)\n".utf8))
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
