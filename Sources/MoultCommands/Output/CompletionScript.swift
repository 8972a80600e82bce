import MoultBasics

/// The scripts with which a shell completes the verbs, options and files of Moult or of an app's own tool. They are
/// made from the list of verbs and the program's name.
enum CompletionScript {
    static let all: [String: @Sendable ([Verb], String) -> [String]] = ["bash": bash, "zsh": zsh, "fish": fish]

    /// Returns the name of the shell function that completes a program's arguments.
    private static func function(_ program: String) -> String {
        "_" + program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// The words that may follow `help`.
    private static func helpWords(_ verbs: [Verb]) -> [String] {
        verbs.map(\.name) + VerbGroup.all.map(\.name) + ["--all"]
    }

    // MARK: - bash

    /// Returns the function that asks the program for names. Words are as typed, with their quotes.
    private static func bashNames(_ program: String) -> String {
        """
        \(function(program))_names() {
            local name item plain="${word//\\\\/}"
            local -a typed=()
            for item in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                item="${item//\\\\/}"; item="${item#[\\"\\']}"; typed+=("${item%[\\"\\']}")
            done
            COMPREPLY=()
            while IFS= read -r name; do
                case "$name" in "${plain#[\\"\\']}"*)
                    case "$word" in [\\"\\']*) ;; *) printf -v name %q "$name" ;; esac
                    COMPREPLY+=("$name") ;;
                esac
            done < <("${COMP_WORDS[0]}" \(NameCompletion.verb) "$1" "${typed[@]}" 2> /dev/null)
        }
        """
    }

    @Sendable private static func bash(_ verbs: [Verb], for program: String) -> [String] {
        let groups = verbs.filter { !$0.subverbs.isEmpty }
        return bashNames(program).split(separator: "\n").map(String.init) + [
            "\(function(program))() {",
            "    local word=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"",
            "    local verb=\"${COMP_WORDS[1]}\" place=$COMP_CWORD words=",
            "    if [ \"$place\" -gt 1 ]; then case \"$verb\" in",
        ]
            + groups.map { group in
                // The second word of another verb may be an argument.
                let second = group.isGroup ? "*" : group.subverbs.map(\.name).joined(separator: "|")
                return "    \(group.name)) case \"${COMP_WORDS[2]}\" in \(second)) "
                    + "verb=\"$verb ${COMP_WORDS[2]}\"; place=$((place - 1)) ;; esac ;;"
            }
            + ["    esac; fi", "    if [ \"$place\" -eq 1 ]; then case \"$verb\" in"]
            + groups.map { "    \($0.name)\\ *) words=\(quoted($0.subverbs.map(\.name).joined(separator: " "))) ;;" }
            + [
                "    *) words=\(quoted((verbs.map(\.name) + ["help", "--help", "--version"]).joined(separator: " "))) ;;",
                "    esac",
            ]
            + ["    else case \"$verb:$previous\" in"]
            + ["    help:*) words=\(quoted(helpWords(verbs).joined(separator: " "))) ;;"]
            + verbs.flatMap(\.leaves).flatMap { bash($0.words.joined(separator: "\\ "), $0.verb, program) }
            // A store in place of a verb.
            + bash("*", .overview, program)
            + ["    esac; fi", "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi"]
            + ["}", "complete -o default -F \(function(program)) \(quoted(program))"]
    }

    private static func bash(_ words: String, _ verb: Verb, _ program: String) -> [String] {
        let values = verb.options.filter { $0.value != nil }.map { option in
            let known = "words=\(quoted(candidates(option.completion)))"
            let action = option.names.map { "\(function(program))_names \($0)" } ?? known
            return "    \(words):--\(option.name)) \(action) ;;"
        }
        let names = verb.operands.compactMap(\.names).first.map { "; \(function(program))_names \($0)" } ?? ""
        let operands = (verb.operands.map { candidates($0.completion) } + verb.subverbs.map(\.name))
            .filter { !$0.isEmpty }.joined(separator: " ")
        let short = verb.outputOption == nil && verb.outputOperand == nil ? [] : ["-o"]
        let options = (verb.options.map { "--\($0.name)" } + short).joined(separator: " ")
        return values + [
            "    \(words):*) case \"$word\" in -*) words=\(quoted(options)) ;; *) words=\(quoted(operands))\(names) ;; esac ;;"
        ]
    }

    private static func candidates(_ completion: Option.Completion) -> String {
        completion.choices?.joined(separator: " ") ?? ""
    }

    // MARK: - zsh

    @Sendable private static func zsh(_ verbs: [Verb], for program: String) -> [String] {
        let name = function(program)
        return [
            "#compdef \(program)", "\(name)_names() {", "    local -a names",
            "    names=(\"${(@f)$(\"$typed[1]\" \(NameCompletion.verb) $1 \"${(@Q)typed[2,$place]}\" 2> /dev/null)}\")",
            "    [[ -n \"$names[1]\" ]] && compadd -a names", "}", "\(name)() {", "    local -a verbs typed",
            "    typed=(\"${words[@]}\"); local place=$((CURRENT - 1))",
        ]
            + zshList(verbs, "    ", at: 2, orFiles: true)
            + [
                "    case $words[2] in",
                "    help) verbs=(\(helpWords(verbs).joined(separator: " "))); compadd -a verbs ;;",
            ]
            + verbs.flatMap { verb -> [String] in
                guard !verb.subverbs.isEmpty else {
                    return ["    \(verb.name))"] + zshArguments(verb, name, skipping: 1)
                }
                let list = verb.isGroup ? zshList(verb.subverbs, "        ", at: 3) : []
                let own = verb.isGroup ? [] : ["        *)"] + zshArguments(verb, name, skipping: 1)
                return ["    \(verb.name))"] + list + ["        case $words[3] in"]
                    + verb.subverbs.flatMap { ["        \($0.name))"] + zshArguments($0, name, skipping: 2) } + own
                    + ["        esac ;;"]
            }
            + ["    *)"] + zshArguments(.overview, name, skipping: 0)
            + [
                "    esac", "}",
                "if [ \"$funcstack[1]\" = \(name) ]; then \(name); else compdef \(name) \(quoted(program)); fi",
            ]
    }

    private static func zshList(
        _ verbs: [Verb], _ indent: String, at place: Int, orFiles: Bool = false
    ) -> [String] {
        let words = verbs.map { quoted("\($0.name):\($0.summary)") }.joined(separator: " ")
        let files = orFiles ? "; _files" : ""
        return [
            "\(indent)if (( CURRENT == \(place) )); then verbs=(\(words)); _describe verb verbs\(files); return; fi"
        ]
    }

    private static func zshArguments(_ verb: Verb, _ function: String, skipping count: Int) -> [String] {
        func action(_ names: NameCompletion.Kind?, _ completion: Option.Completion) -> String {
            names.map { "\(function)_names \($0)" } ?? zshAction(completion)
        }
        let options = verb.options.map { option in
            let help = option.help.filter { !"[]:".contains($0) }
            let value = option.value.map { ":\($0):\(action(option.names, option.completion))" } ?? ""
            return quoted("--\(option.name)[\(help)]\(value)")
        }
        let operands = verb.operands.map { quoted(":\($0.name):\(action($0.names, $0.completion))") }
        return [
            "        shift \(count) words; (( CURRENT -= \(count) ))",
            "        _arguments \((options + operands).joined(separator: " ")) ;;",
        ]
    }

    private static func zshAction(_ completion: Option.Completion) -> String {
        switch completion {
        case .nothing: " "
        case .files: "_files"
        case .folders: "_files -/"
        case .words, .codes, .rules: "(\(candidates(completion)))"
        }
    }

    // MARK: - fish

    @Sendable private static func fish(_ verbs: [Verb], for program: String) -> [String] {
        let first = verbs.map { verb in
            // A file may stand there too: a store.
            "complete -c \(quoted(program)) -n __fish_use_subcommand -a \(verb.name) -d \(quoted(verb.summary))"
        }
        let help =
            "complete -c \(quoted(program)) -n '__fish_seen_subcommand_from help' -f -a "
            + quoted(helpWords(verbs).joined(separator: " "))
        let second = verbs.flatMap { verb in
            verb.subverbs.map { subverb in
                let names = verb.subverbs.map(\.name).joined(separator: " ")
                let condition = quoted(
                    "__fish_seen_subcommand_from \(verb.name); and not __fish_seen_subcommand_from \(names)")
                return
                    "complete -c \(quoted(program)) -n \(condition) -f -a \(subverb.name) -d \(quoted(subverb.summary))"
            }
        }
        return first + [help] + second + verbs.flatMap(\.leaves).flatMap { fish($0.words, $0.verb, program) }
    }

    private static func fish(_ words: [String], _ verb: Verb, _ program: String) -> [String] {
        let condition = quoted(words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and "))
        func asking(_ names: NameCompletion.Kind) -> String {
            " -a " + quoted("(\(program) \(NameCompletion.verb) \(names) (commandline -opc)[2..-1] 2> /dev/null)")
        }
        return verb.options.map { option in
            var line = "complete -c \(quoted(program)) -n \(condition) -l \(option.name) -d \(quoted(option.help))"
            if option.value != nil { line += option.completion == .files ? " -r -F" : " -x" }
            if let names = option.names { line += asking(names) }
            if let words = option.completion.choices { line += " -a \(quoted(words.joined(separator: " ")))" }
            return line
        }
            + verb.operands.compactMap { operand in
                if let names = operand.names { return "complete -c \(quoted(program)) -n \(condition)\(asking(names))" }
                guard let words = operand.completion.choices else { return nil }
                return "complete -c \(quoted(program)) -n \(condition) -f -a \(quoted(words.joined(separator: " ")))"
            }
    }
}

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
        return console.print(
            ["format": 1, "shell": .string(name), "script": .string(lines.map { $0 + "\n" }.joined())], wraps: false
        ) { _ in lines }
    }

    private static let shell = Operand("SHELL", "bash, zsh or fish.", completes: .words(["bash", "zsh", "fish"]))
}
