import MoultBasics

/// A forked copy of this process that does one piece of work and exits. Pipes replace its standard streams.
///
/// The copy shares what this process has read so far. It returns only its output and its exit status, and it is killed
/// when this process dies. It has a single thread, so it must not use Dispatch or the threads of Swift concurrency.
package final class ForkedProcess {
    /// The end of a process: its exit code or signal, and the resources that it used.
    package struct End: Sendable, Hashable {
        /// The exit code; nil if a signal ended it.
        package var exit: Int32?
        package var signal: Int32?
        /// The peak memory use in bytes.
        package var peakMemory: Int64
        /// The processor time in seconds.
        package var processorSeconds: Double
    }

    package let identifier: Int32
    /// The start of its standard output and the end of its standard error.
    package private(set) var output: [UInt8] = []
    package private(set) var errors: [UInt8] = []
    private var streams: (output: Int32, errors: Int32)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    private static let (outputLimit, errorLimit) = (4 << 20, 1 << 14)

    private init(_ identifier: Int32, _ streams: (Int32, Int32)) {
        (self.identifier, self.streams) = (identifier, streams)
    }

    deinit { for stream in [streams.output, streams.errors] where stream >= 0 { close(stream) } }

    /// Forks and runs `body` in the child process, which exits with the code that `body` returns.
    ///
    /// - Parameter memory: the most bytes of data that the child may have; allocations beyond it fail.
    /// - Throws: `inputOutput` if the system cannot create another process.
    package static func start(memory: Int64? = nil, _ body: () async -> Int32) async throws -> ForkedProcess {
        let (output, errors) = (try pipe(), try pipe())
        let parent = getpid()
        let identifier = forked()
        if identifier == 0 {
            become(child: parent, output.writes, errors.writes, memory)
            // The meter of this process draws on this process's terminal.
            _exit(await WorkMeter.$current.withValue(nil, operation: body))
        }
        let number = errno
        for end in [output.writes, errors.writes] { close(end) }
        let process = ForkedProcess(identifier, (output.reads, errors.reads))
        guard identifier > 0 else { throw MigrationError.system("start", "a process", error: number) }
        return process
    }

    /// `man 2 fork`, which Darwin's module for Swift marks as unavailable.
    private static func forked() -> pid_t {
        #if canImport(Darwin)
            typealias Call = @convention(c) () -> pid_t
            // RTLD_DEFAULT
            guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -2), "fork") else {
                errno = ENOSYS
                return -1
            }
            return unsafeBitCast(symbol, to: Call.self)()
        #else
            return fork()
        #endif
    }

    private static func pipe() throws -> (reads: Int32, writes: Int32) {
        var ends: [Int32] = [0, 0]
        guard systemPipe(&ends) == 0 else { throw MigrationError.system("make", "a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private static func become(child parent: pid_t, _ output: Int32, _ errors: Int32, _ memory: Int64?) {
        // Only the parent handles Control-C; it passes the signal on.
        setpgid(0, 0)
        // The forking thread may be one of Dispatch's, which block all signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        dieWithParent()
        // The parent may have died before that call.
        if getppid() != parent { _exit(1) }
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        dup2(output, STDOUT_FILENO)
        dup2(errors, STDERR_FILENO)
        #if os(Linux)
            // When memory runs out, the kernel kills the child and not the parent.
            _ = try? POSIXSystem().append(Array("500".utf8), to: "/proc/self/oom_score_adj")
            // `man 2 setrlimit`, RLIMIT_DATA.
            if let memory {
                var limit = rlimit(rlim_cur: rlim_t(clamping: memory), rlim_max: rlim_t(clamping: memory))
                setrlimit(__rlimit_resource_t(2), &limit)
            }
        #endif
    }

    /// `man 2 prctl`, PR_SET_PDEATHSIG, which Glibc's module for Swift does not have.
    private static func dieWithParent() {
        #if os(Linux)
            typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
            guard let symbol = dlsym(nil, "prctl") else { return }
            _ = unsafeBitCast(symbol, to: Call.self)(1, UInt(SIGKILL), 0, 0, 0)
        #endif
    }

    /// Restarts this program in place of this process.
    ///
    /// - Returns: only on failure.
    package static func restart(_ arguments: [String]) {
        let words = (Array(CommandLine.arguments.prefix(1)) + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        #if os(Linux)
            execv("/proc/self/exe", words)
        #else
            execvp(words[0], words)
        #endif
    }

    // MARK: - Waiting

    /// Waits until a process has written output or has ended, or the time is up; reads the output.
    package static func wait(for processes: [ForkedProcess], milliseconds: Int32) {
        var polled = processes.flatMap { process in
            [process.streams.output, process.streams.errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        }
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return }
        for process in processes { process.read() }
    }

    private func read() {
        streams.output = drain(streams.output) { output += $0.prefix(max(0, Self.outputLimit - output.count)) }
        streams.errors = drain(streams.errors) { piece in
            errors += piece
            if errors.count > 2 * Self.errorLimit { errors.removeFirst(errors.count - Self.errorLimit) }
        }
    }

    /// - Returns: -1 if the stream has ended; the stream is then closed.
    private func drain(_ stream: Int32, _ take: (ArraySlice<UInt8>) -> Void) -> Int32 {
        guard stream >= 0 else { return -1 }
        while true {
            let count = systemRead(stream, &buffer, buffer.count)
            if count > 0 {
                take(buffer[..<count])
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                return stream
            } else {
                close(stream)
                return -1
            }
        }
    }

    /// Returns the end of the process; nil while it runs.
    package func ended() -> End? {
        read()
        let isSilent = streams.output < 0 && streams.errors < 0
        var (status, usage): (Int32, rusage) = (0, rusage())
        var found: pid_t
        // A process closes its streams when it ends, so the wait is short.
        repeat { found = wait4(identifier, &status, isSilent ? 0 : WNOHANG, &usage) } while found < 0 && errno == EINTR
        guard found == identifier else {
            return found < 0 ? End(exit: nil, signal: nil, peakMemory: 0, processorSeconds: 0) : nil
        }
        read()
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        #if os(Linux)
            let memory = Int64(usage.ru_maxrss) * 1024
        #else
            let memory = Int64(usage.ru_maxrss)
        #endif
        let signal = status & 0x7f
        return End(
            exit: signal == 0 ? status >> 8 & 0xff : nil, signal: signal == 0 ? nil : signal, peakMemory: memory,
            processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }

    /// The current memory use in bytes; nil if the system does not report it.
    package var memory: Int64? {
        guard let bytes = try? POSIXSystem().read("/proc/\(identifier)/statm", prefix: 200) else { return nil }
        let fields = bytes.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int64(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Asks the process to stop as soon as it safely can.
    package func terminate() { kill(identifier, SIGTERM) }

    package func end() { kill(identifier, SIGKILL) }
}
