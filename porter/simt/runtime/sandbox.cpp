// The walls around user code: a list of the system calls it may make, and one directory it may write in. The result is
// written by the executor alone: a call that names its descriptor is trapped unless it ends in a word drawn by chance.
//
// Calls that could write files are trapped and made by the handler, so that a refusal is seen; Landlock is what refuses.
// Where the kernel has no Landlock, only paths below the work directory are let through. Nothing may be started: the
// process limit does not bind root, the filter does.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "process.h"

namespace porter::simt {

Frames frames_at(const ucontext_t& context);

namespace {

#if defined(__x86_64__)
constexpr unsigned ARCHITECTURE = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned ARCHITECTURE = AUDIT_ARCH_AARCH64;
#endif

const int allowed[] = {
    SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_lseek, SYS_mmap, SYS_mprotect, SYS_munmap,
    SYS_brk, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_ioctl, SYS_pread64, SYS_pwrite64, SYS_readv,
    SYS_writev, SYS_madvise, SYS_mremap, SYS_mincore, SYS_nanosleep, SYS_clock_nanosleep, SYS_getpid, SYS_gettid, SYS_getppid,
    SYS_exit, SYS_exit_group, SYS_futex, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_getrandom,
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_uname, SYS_getcwd, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getdents64, SYS_sysinfo, SYS_getrusage, SYS_times, SYS_sigaltstack, SYS_set_robust_list, SYS_set_tid_address,
    SYS_rseq, SYS_ppoll, SYS_pselect6, SYS_pipe2, SYS_dup, SYS_dup3, SYS_fcntl, SYS_ftruncate, SYS_fsync, SYS_fdatasync,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_membarrier, SYS_getcpu, SYS_flock, SYS_fadvise64, SYS_setitimer,
    SYS_getitimer, SYS_get_robust_list, SYS_restart_syscall, SYS_mlock, SYS_munlock, SYS_tgkill, SYS_kill, SYS_prlimit64,
    SYS_clone, SYS_openat,
#if defined(__x86_64__)
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_time, SYS_poll, SYS_select, SYS_pipe, SYS_dup2, SYS_getrlimit,
    SYS_arch_prctl, SYS_open,
#endif
};

// Traps whose call the handler makes itself.
const int file_calls[] = {
    SYS_openat, SYS_unlinkat, SYS_mkdirat, SYS_renameat, SYS_renameat2, SYS_truncate,
#if defined(__x86_64__)
    SYS_open, SYS_unlink, SYS_mkdir, SYS_rmdir, SYS_rename, SYS_creat,
#endif
};

constexpr unsigned WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
constexpr int MAX_REFUSALS = 1000;

bool landlock_active = false;
char work_directory[4096];
int refusals = 0;

const char* name_of(int call) {
    switch (call) {
#if defined(__x86_64__)
        case SYS_fork: case SYS_vfork:
#endif
        case SYS_clone: case SYS_clone3: return "starting a process";
        case SYS_execve: case SYS_execveat: return "running a program";
        case SYS_socket: case SYS_connect: case SYS_bind: case SYS_socketpair: return "using the network";
        case SYS_kill: case SYS_tgkill: case SYS_tkill: case SYS_ptrace: return "touching another process";
        case SYS_prlimit64: case SYS_setrlimit: return "changing its own limits";
        case SYS_write: case SYS_pwrite64: case SYS_writev: return "writing the result";
        default: return nullptr;
    }
}

void refuse(const Frames& frames, int call, const char* path, bool result) {
    char message[300];
    if (result) fail_in_handler(FaultKind::FORGED, frames, "the program wrote to the file that its result goes to", 128 + SIGSYS);
    if (path != nullptr) std::snprintf(message, sizeof message, "writing `%.200s` is not allowed", path);
    else if (const char* name = name_of(call)) std::snprintf(message, sizeof message, "%s is not allowed", name);
    else std::snprintf(message, sizeof message, "system call %d is not allowed", call);
    if (++refusals > MAX_REFUSALS) fail_in_handler(FaultKind::RESOURCE, frames, message, 128 + SIGSYS);
    note_at(FaultKind::RESOURCE, frames, message);
}

bool is_file_call(int call) {
    for (const int other : file_calls) {
        if (other == call) return true;
    }
    return false;
}

bool below_work_directory(const char* path) {
    if (std::strcmp(path, "/dev/null") == 0) return true;
    if (std::strstr(path, "..") != nullptr) return false;
    return path[0] != '/' || std::strncmp(path, work_directory, std::strlen(work_directory)) == 0;
}

// The words of a trapped call, wherever the processor keeps them.
struct Call {
    long words[5];

    explicit Call(const ucontext_t& machine) {
#if defined(__x86_64__)
        const auto& r = machine.uc_mcontext.gregs;
        const long found[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8]};
#elif defined(__aarch64__)
        const auto& r = machine.uc_mcontext.regs;
        const long found[] = {long(r[0]), long(r[1]), long(r[2]), long(r[3]), long(r[4])};
#endif
        std::memcpy(words, found, sizeof words);
    }

    long make(int number) const {
        const long result = syscall(number, words[0], words[1], words[2], words[3], words[4], handlers_word);
        return result < 0 ? -errno : result;
    }
};

void answer(ucontext_t& machine, long result) {
#if defined(__x86_64__)
    machine.uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
    machine.uc_mcontext.regs[0] = static_cast<unsigned long>(result);
#endif
}

// Calls of what is allowed that do something to an open file.
const int on_files[] = {
    SYS_write, SYS_pwrite64, SYS_writev, SYS_close, SYS_lseek, SYS_ftruncate, SYS_dup, SYS_dup3, SYS_fcntl, SYS_ioctl, SYS_flock,
#if defined(__x86_64__)
    SYS_dup2,
#endif
};
bool takes_file(int call) {
    for (const int other : on_files) {
        if (other == call) return true;
    }
    return false;
}

bool takes_directory(int call) {
    return call == SYS_openat || call == SYS_unlinkat || call == SYS_mkdirat || call == SYS_renameat || call == SYS_renameat2;
}

void on_trap(int, siginfo_t* info, void* context) {
    auto& machine = *static_cast<ucontext_t*>(context);
    const int number = info->si_syscall;
    const Call call(machine);
    if (!is_file_call(number)) {
        refuse(frames_at(machine), number, nullptr, takes_file(number) && call.words[0] == RESULT_FILE);
        return answer(machine, -EPERM);
    }
    const char* path = reinterpret_cast<const char*>(call.words[takes_directory(number) ? 1 : 0]);
    const long result = landlock_active || below_work_directory(path) ? call.make(number) : -EACCES;
    if (result == -EACCES || result == -EPERM || result == -EXDEV) refuse(frames_at(machine), number, path, false);
    answer(machine, result);
}

// A filter is a list of tests on the words of the call; each helper appends one decision.
struct Filter {
    sock_filter code[320];
    unsigned short length = 0;

    void add(unsigned short op, unsigned value, unsigned char then = 0, unsigned char otherwise = 0) {
        code[length++] = {op, then, otherwise, value};
    }
    void load(unsigned offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
    void load_argument(int index, bool high = false) {
        load(static_cast<unsigned>(offsetof(seccomp_data, args)) + static_cast<unsigned>(index) * 8 + (high ? 4 : 0));
    }
    void load_call() { load(offsetof(seccomp_data, nr)); }
    void answer(unsigned action) { add(BPF_RET | BPF_K, action); }
    void skip_unless(unsigned value, unsigned char count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }
    void skip_if(unsigned value, unsigned char count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0); }
};

void let_handlers_calls_through(Filter& filter) {
    filter.load_argument(5);
    filter.skip_unless(static_cast<unsigned>(handlers_word), 3);
    filter.load_argument(5, true);
    filter.skip_unless(static_cast<unsigned>(handlers_word >> 32), 1);
    filter.answer(SECCOMP_RET_ALLOW);
}

// Trapped unless `argument` has none of `bits`.
void trap_if_bits(Filter& filter, int call, int argument, unsigned bits) {
    filter.load_call();
    filter.skip_unless(static_cast<unsigned>(call), 3);
    filter.load_argument(argument);
    filter.add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    filter.answer(SECCOMP_RET_TRAP);
}

void trap_unless_equal(Filter& filter, int call, int argument, unsigned value) {
    filter.load_call();
    filter.skip_unless(static_cast<unsigned>(call), 3);
    filter.load_argument(argument);
    filter.skip_if(value, 1);
    filter.answer(SECCOMP_RET_TRAP);
}

void trap_if_result(Filter& filter) {
    filter.load_argument(0);
    filter.skip_unless(RESULT_FILE, static_cast<unsigned char>(2 + 2 * (sizeof on_files / sizeof on_files[0])));
    filter.load_call();
    for (const int call : on_files) {
        filter.skip_unless(static_cast<unsigned>(call), 1);
        filter.answer(SECCOMP_RET_TRAP);
    }
    filter.load_call();
}

void trap_unless_thread(Filter& filter) {
    filter.load_call();
    filter.skip_unless(SYS_clone, 3);
    filter.load_argument(0);
    filter.add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    filter.answer(SECCOMP_RET_TRAP);
}

bool install_filter() {
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.skip_if(ARCHITECTURE, 1);
    filter.answer(SECCOMP_RET_KILL_PROCESS);
    let_handlers_calls_through(filter);
    trap_if_bits(filter, SYS_openat, 2, WRITING);
#if defined(__x86_64__)
    trap_if_bits(filter, SYS_open, 1, WRITING);
#endif
    trap_if_result(filter);
    trap_unless_thread(filter);
    for (const int call : {SYS_kill, SYS_tgkill}) trap_unless_equal(filter, call, 0, static_cast<unsigned>(getpid()));
    trap_unless_equal(filter, SYS_prlimit64, 2, 0);
    filter.load_call();
    for (const int call : {SYS_clone3, SYS_prctl}) {  // the C library does without them
        filter.skip_unless(static_cast<unsigned>(call), 1);
        filter.answer(SECCOMP_RET_ERRNO | ENOSYS);
    }
    for (const int call : allowed) {
        filter.skip_unless(static_cast<unsigned>(call), 1);
        filter.answer(SECCOMP_RET_ALLOW);
    }
    filter.answer(SECCOMP_RET_TRAP);
    const sock_fprog program = {filter.length, filter.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// Landlock's numbers, spelled out because the headers of older systems lack them.
constexpr unsigned long READ_FILE = 1 << 2, READ_FOLDER = 1 << 3;
constexpr unsigned long WRITE_FILE = 1 << 1, REMOVE_AND_MAKE = 0x1ff << 4, REFER = 1 << 13, TRUNCATE = 1 << 14;
constexpr long CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446;
struct __attribute__((packed)) PathRule {
    unsigned long access;
    int parent;
};

void allow_below(int ruleset, const char* path, unsigned long access) {
    const PathRule rule = {access, open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0) return;
    syscall(ADD_RULE, ruleset, 1, &rule, 0);
    close(rule.parent);
}

// What the system's libraries read. User code reads nothing else: no answers that lie about, nobody's sources. Of /proc it
// reads nothing about other processes, whose command lines name folders.
const char* const of_the_system[] = {"/usr", "/lib", "/lib64", "/etc", "/sys", "/dev", "/proc/self", "/proc/sys"};
const char* const facts_of_the_system[] = {"/proc/cpuinfo", "/proc/meminfo", "/proc/stat"};

bool install_landlock() {
    const long version = syscall(CREATE_RULESET, nullptr, 0, 1);
    if (version < 1) return false;
    const unsigned long truncate = version >= 3 ? TRUNCATE : 0;
    constexpr unsigned long reading = READ_FILE | READ_FOLDER;
    const unsigned long access = WRITE_FILE | REMOVE_AND_MAKE | (version >= 2 ? REFER : 0) | truncate | reading;
    const int ruleset = static_cast<int>(syscall(CREATE_RULESET, &access, sizeof access, 0));
    if (ruleset < 0) return false;
    allow_below(ruleset, work_directory, access);
    allow_below(ruleset, "/dev/null", WRITE_FILE | truncate);
    for (const char* const place : of_the_system) allow_below(ruleset, place, reading);
    for (const char* const file : facts_of_the_system) allow_below(ruleset, file, READ_FILE);
    const bool restricted = syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    return restricted;
}

}  // namespace

// The processor's counter tells a device's time from the executor's, and no call of the C library is needed to read it.
static void hide_processors_counter() {
#if defined(__x86_64__)
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif
}

void raise_walls(const char* directory) {
    std::strncpy(work_directory, directory, sizeof work_directory - 1);
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSYS, &action, nullptr);
    syscall(SYS_getrandom, &handlers_word, sizeof handlers_word, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (job.mode == JobMode::PLAN) hide_processors_counter();
    landlock_active = install_landlock();
    if (!install_filter()) fail_in_handler(FaultKind::RESOURCE, {}, "this system has no seccomp filter to confine the program with", 1);
}

}  // namespace porter::simt
