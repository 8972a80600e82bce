import Moult
import MoultBasics
import MoultTools
import Synchronization

/// The output of a verb: its result on standard output, all other messages on standard error.
package final class Console: Sendable {
    /// One of the two standard streams.
    package struct Stream: Sendable {
        let descriptor: Int32
        package let isTerminal: Bool
        package let style: TextStyle

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
            isTerminal = isatty(descriptor) == 1
            let mayColour = Environment.value("NO_COLOR") == nil && Environment.value("TERM") != "dumb"
            let asked = Environment.value("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
            // A file or a pipe gets whole lines, unless a width is asked for.
            let width = asked ?? (isTerminal ? Self.columns(of: descriptor) : nil)
            style = TextStyle(hasColour: isTerminal && mayColour, width: width.map { max($0, 20) })
        }

        /// The number of columns of the terminal; 80 if it is unknown. The terminal may have been resized.
        package var columns: Int { Self.columns(of: descriptor) }

        private static func columns(of descriptor: Int32) -> Int {
            var size = winsize()
            return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        }
    }

    /// Whether standard input is a terminal.
    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    package let output: Stream
    package let errors: Stream
    /// Whether the verb prints JSON.
    package let isJSON: Bool
    /// Whether a program reads standard error: one JSON object per line, and nothing else.
    package let tellsEvents: Bool
    private let pending = Mutex<[UInt8]>([])
    private let broken = Mutex<Int32?>(nil)
    private let bar = Mutex((isShown: false, hasRun: false))
    /// Whether anything has been written to standard output.
    private let hasPrinted = Atomic(false)

    /// - Parameters:
    ///   - output: the descriptor that gets the result.
    ///   - errors: the descriptor that gets all other messages.
    package init(
        isJSON: Bool, tellsEvents: Bool = false, output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO
    ) {
        self.isJSON = isJSON
        self.tellsEvents = tellsEvents
        (self.output, self.errors) = (Stream(output), Stream(errors))
    }

    /// The system error number that ended standard output, such as `EPIPE` after `| head`; nil while writing succeeds.
    package var outputError: Int32? { broken.withLock { $0 } }

    /// Prints a verb's result: the document with `--json`, otherwise the lines. Returns that the verb is done.
    ///
    /// - Parameter wraps: whether the lines are text for a person, which is wrapped at the terminal's width; otherwise a
    ///   program reads them.
    @discardableResult
    package func print(
        _ document: @autoclosure () -> JSONValue, wraps: Bool = true, _ lines: (TextStyle) -> [String]
    ) -> ExitCode {
        if isJSON {
            line(document().compact)
        } else if wraps {
            text(lines(output.style))
        } else {
            self.lines(lines(output.style))
        }
        return .done
    }

    /// Prints the answer of a tool.
    @discardableResult
    func print(_ answer: some ToolAnswer, wraps: Bool = true) -> ExitCode {
        print(answer.document, wraps: wraps) { answer.lines(style: $0) }
    }

    package func lines(_ lines: [String]) { lines.forEach(line) }

    /// Prints lines of text, wrapped at the terminal's width.
    package func text(_ lines: [String]) { lines.flatMap { Self.wrapped($0, output.style) }.forEach(line) }

    private static func wrapped(_ text: String, _ style: TextStyle) -> [String] {
        guard let width = style.width else { return [text] }
        let wrap = TextWrap(width: width, program: Program.name)
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { wrap.lines(String($0)) }
    }

    /// Adds one line to standard output, which is written when the buffer is full or at the end.
    package func line(_ text: String) {
        let text = isJSON ? text : text.safeForTerminal(style: output.style)
        let isFull = pending.withLock { bytes in
            bytes += text.utf8
            bytes.append(UInt8(ascii: "\n"))
            return bytes.count >= 1 << 16
        }
        if isFull { flush() }
    }

    /// Writes text to standard output unchanged, for a file that a program reads; a terminal gets no control
    /// characters.
    package func exactly(_ text: String) {
        let text = output.isTerminal ? text.safeForTerminal(style: output.style) : text
        let isFull = pending.withLock { bytes in
            bytes += text.utf8
            return bytes.count >= 1 << 16
        }
        if isFull { flush() }
    }

    /// Whether a run has reported its progress.
    var hasRun: Bool { bar.withLock { $0.hasRun } }

    func beginRun() { bar.withLock { $0.hasRun = true } }

    /// Draws a line over the previous one on standard error. Rows that appear on the same terminal are not disturbed.
    func showBar(_ line: ProgressLine) {
        guard !(output.isTerminal && hasPrinted.load(ordering: .relaxed)) else { return }
        bar.withLock { $0.isShown = true }
        write(toErrors: "\r\u{1B}[K" + line.bar(columns: errors.columns, style: errors.style))
    }

    /// Removes the line of ``showBar(_:)``, before anything else is printed.
    func eraseBar() {
        let wasShown = bar.withLock { bar in
            defer { bar.isShown = false }
            return bar.isShown
        }
        if wasShown { write(toErrors: "\r\u{1B}[K") }
    }

    private func write(toErrors text: String) { _ = Self.write(Array(text.utf8), to: errors.descriptor) }

    /// Writes one line to standard error at once.
    package func say(_ text: String) {
        guard !tellsEvents else { return tell("message", [.init("message", .string(text))]) }
        let lines = Self.wrapped(text.safeForTerminal(style: errors.style), errors.style)
        sayRaw(lines.map { $0 + "\n" }.joined())
    }

    /// Prints findings on standard error, without notes.
    package func say(_ findings: [Finding]) {
        for finding in findings where finding.severity > .note {
            if tellsEvents {
                tell("finding", [.init("finding", finding.document)])
            } else {
                finding.lines(style: errors.style).forEach(say)
            }
        }
    }

    /// Prints an error on standard error.
    func say(_ error: MigrationError) {
        if tellsEvents {
            tell("error", [.init("error", error.document["error"] ?? .null)])
        } else {
            say(error.lines(style: errors.style).joined(separator: "\n"))
        }
    }

    /// Writes one JSON object to standard error, for a program.
    func tell(_ event: String, _ members: [JSONValue.Member]) {
        sayRaw(JSONValue.object([.init("format", 1), .init("event", .string(event))] + members).compact + "\n")
    }

    /// Writes text to standard error unchanged.
    package func sayRaw(_ text: String) {
        flush()
        eraseBar()
        // Nothing may depend on whether standard error has a reader.
        write(toErrors: text)
    }

    package func flush() {
        let bytes = pending.withLock { bytes in
            defer { bytes.removeAll(keepingCapacity: true) }
            return bytes
        }
        if !bytes.isEmpty {
            hasPrinted.store(true, ordering: .relaxed)
            eraseBar()
        }
        // Output after a gap would seem to be complete.
        guard outputError == nil, let number = Self.write(bytes, to: output.descriptor) else { return }
        broken.withLock { $0 = number }
    }

    /// - Returns: the system error number if the reader is gone or the disk is full.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, 1_000)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
