import MoultReport
import MoultTools

extension AnswerSession {
    /// Whether a person can be asked: only where both ends of the talk are a terminal.
    static func canAsk(_ console: Console) -> Bool {
        console.errors.isTerminal && Console.isInputTerminal && !console.isJSON && !console.tellsEvents
    }

    /// Asks a person, one question after the other, as answers may raise new ones or settle others. An empty line
    /// leaves the rest open.
    mutating func ask(_ console: Console) throws {
        while let question = questions.first {
            console.say("\(question.from) → \(question.to): \(question.sentence)".printable)
            for candidate in question.candidates {
                console.say("  \(candidate.name): \(candidate.evidence.joined(separator: "; "))".printable)
            }
            for (number, answer) in question.answers.enumerated() {
                console.say("  \(number + 1)  \(answer.choice): \(answer.consequence(question))".printable)
            }
            console.sayRaw("Which one? (1 to \(question.answers.count), or nothing to stop) ")
            guard let line = readLine()?.trimmed, !line.isEmpty else { return }
            guard let number = Int(line), question.answers.indices.contains(number - 1) else { continue }
            try add(question.answers[number - 1])
        }
    }
}
