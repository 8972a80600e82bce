import MoultCommands

await MoultCommand.main()
