extension Verb {
    static let completions = Verb(
        "completions", "Print completions for a shell.",
        discussion: """
            bash: moult completions bash > /etc/bash_completion.d/moult
            zsh:  moult completions zsh > "${fpath[1]}/_moult"
            fish: moult completions fish > ~/.config/fish/completions/moult.fish
            """,
        operands: [shell], examples: ["moult completions bash"]
    ) { invocation, console in
        let name = try invocation.required(shell)
        guard let script = CompletionScript.all[name] else {
            throw invocation.wrong("moult completions knows bash, zsh and fish, not \(name).")
        }
        console.lines(script(Verb.all))
        return .done
    }

    private static let shell = Operand("SHELL", "bash, zsh or fish.", completes: .words(["bash", "zsh", "fish"]))
}
