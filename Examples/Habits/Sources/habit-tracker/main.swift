import Foundation
import HabitTracker
import MoultCommands
import MoultData

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.dropFirst().first) {
case ("sample", let path?): try HabitSample.make(at: URL(fileURLWithPath: path))
case ("show", let path?): for line in try HabitList.lines(ofStoreAt: URL(fileURLWithPath: path)) { print(line) }
default: await MoultCommand.main(MigrationRegistry(plan: HabitsPlan.self))
}
