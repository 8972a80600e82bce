import Foundation
import MoultCommands
import MoultData
import NotesAndRestaurants

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.dropFirst().first) {
case ("sample", let path?): try NotesSample.make(at: URL(fileURLWithPath: path))
case ("show", let path?): for line in try NotesList.lines(ofStoreAt: URL(fileURLWithPath: path)) { print(line) }
default: await MoultCommand.main(MigrationRegistry(plan: NotesPlan.self))
}
