//! Restricts system calls with seccomp.

use std::collections::BTreeMap;

use libc::c_long;
use rustix::process::getpid;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Allowed with any arguments.
const ALLOWED: &[c_long] = &[
    // Open files.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Threads.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Signals to the process itself: a crash ends in one.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Clocks, randomness for hash maps, facts about the machine.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
];

/// These calls kill the process: no decoder makes them, so the process was taken over. Other forbidden calls fail with an error, so
/// that a library that looks for a configuration file continues without the file.
const FATAL: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_kill,
    libc::SYS_pidfd_getfd,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_open_by_handle_at,
];

/// Applies the filters to all threads.
pub(super) fn restrict() -> Result<(), String> {
    let programs = programs().map_err(|error| error.to_string())?;
    for program in programs {
        seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// If several filters match, the strictest one decides. The filter with the fewest allowed calls comes last, because it also
/// forbids adding filters.
fn programs() -> Result<[BpfProgram; 3], BackendError> {
    let any = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect();
    let fatal = compile(any(FATAL), SeccompAction::KillProcess, SeccompAction::Allow)?;
    // A filter cannot see the flags of `clone3`, which are in memory. After ENOSYS, libraries use `clone`.
    let without = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let clone3 = compile(any(&[libc::SYS_clone3]), without, SeccompAction::Allow)?;
    let mut allowed = conditional()?;
    allowed.extend(ALLOWED.iter().chain(&[libc::SYS_clone3]).map(|call| (*call, Vec::new())));
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    Ok([fatal, clone3, compile(allowed, SeccompAction::Allow, denied)?])
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn compile(
    rules: Rules,
    on_match: SeccompAction,
    otherwise: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, otherwise, on_match, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// Allowed with certain arguments only.
fn conditional() -> Result<Rules, BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq};

    let only_if = |argument, length, operator, value| {
        SeccompRule::new(vec![SeccompCondition::new(argument, length, operator, value)?])
            .map(|rule| vec![rule])
    };
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let itself = u64::from(getpid().as_raw_nonzero().get().unsigned_abs());
    Ok(BTreeMap::from([
        // No executable memory.
        (libc::SYS_mmap, only_if(2, Dword, MaskedEq(executable), 0)?),
        (libc::SYS_mprotect, only_if(2, Dword, MaskedEq(executable), 0)?),
        // Threads, but no processes.
        (libc::SYS_clone, only_if(0, Dword, MaskedEq(thread), thread)?),
        // Reading limits, not setting them.
        (libc::SYS_prlimit64, only_if(2, Qword, Eq, 0)?),
        // Used by `abort`.
        (libc::SYS_tgkill, only_if(0, Dword, Eq, itself)?),
    ]))
}
