import MoultModel

extension Verb {
    static let completions = Verb(
        "completions", "Print completions for a shell.",
        discussion: """
            bash: moult completions bash > /etc/bash_completion.d/\(Program.name)
            zsh:  moult completions zsh > "${fpath[1]}/_\(Program.name)"
            fish: moult completions fish > ~/.config/fish/completions/\(Program.name).fish
            """,
        operands: [shell], examples: ["moult completions bash"]
    ) { invocation, console in
        let name = try invocation.required(shell)
        guard let script = CompletionScript.all[name] else {
            throw invocation.wrong("\(Program.name) completions supports bash, zsh and fish, not \(name).")
        }
        let lines = script(Verb.all, Program.name)
        console.print([
            "format": 1, "shell": .string(name), "script": .string(lines.map { $0 + "\n" }.joined()),
        ]) { _ in lines }
        return .done
    }

    private static let shell = Operand("SHELL", "bash, zsh or fish.", completes: .words(["bash", "zsh", "fish"]))
}
