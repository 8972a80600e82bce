import Foundation
import MoultCommands
import WealthLedger

let arguments = Array(CommandLine.arguments.dropFirst())
let versions = try WealthVersions.registry(reports: URL(fileURLWithPath: "reports"))
switch (arguments.first, arguments.dropFirst().first) {
case ("sample", let path?): try WealthSample.make(at: URL(fileURLWithPath: path))
case ("versions", _): print(WealthVersions.table(versions))
default: await MoultCommand.main(versions.migrationRegistry)
}
