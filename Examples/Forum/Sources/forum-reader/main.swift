import ForumReader
import Foundation
import MoultCommands

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "sample", let path = arguments.dropFirst().first {
    try ForumSample.make(at: URL(fileURLWithPath: path))
} else {
    await MoultCommand.main(ForumMigrations.registry())
}
