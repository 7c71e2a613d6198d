// Applies a seccomp filter to this process and its children, with libseccomp like container runtimes.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const ALLOW = 0x7fff0000
const errno = number => 0x00050000 | number
const EPERM = 1
const ENOSYS = 38
const MASKED_EQ = 7
const CLONE_NEWUSER = 0x10000000
/** Applies the filter to all threads of this process. */
const ALL_THREADS = 4

/** Like Docker's default profile for a container without capabilities: no user namespaces. */
export function forbidNamespaces() {
  load(ALLOW, add => {
    add(errno(EPERM), 'unshare')
    add(errno(ENOSYS), 'clone3')
    add(errno(EPERM), 'clone', [{ arg: 0, op: MASKED_EQ, datum_a: CLONE_NEWUSER, datum_b: CLONE_NEWUSER }])
  })
}

/** A profile from a file with a list of allowed calls. */
export function confineTo(file) {
  const profile = JSON.parse(readFileSync(file, 'utf8'))
  load(errno(profile.defaultErrnoRet), add => {
    for (const { names } of profile.syscalls) for (const name of names) add(ALLOW, name)
  })
}

function load(defaultAction, addRules) {
  if (!isMainThread) return
  const koffi = createRequire(import.meta.url)('koffi')
  const library = koffi.load('libseccomp.so.2')
  koffi.struct('Comparison', { arg: 'uint32', op: 'uint32', datum_a: 'uint64', datum_b: 'uint64' })
  const init = library.func('void *seccomp_init(uint32 action)')
  const attribute = library.func('int seccomp_attr_set(void *filter, uint32 name, uint32 value)')
  const findSyscallNumber = library.func('int seccomp_syscall_resolve_name(const char *name)')
  const rule = library.func(
    'int seccomp_rule_add_array(void *filter, uint32 action, int call, uint32 count, const Comparison *comparisons)',
  )
  const apply = library.func('int seccomp_load(void *filter)')
  const must = (what, code) => {
    if (code < 0) throw new Error(`seccomp: ${what} failed (${code})`)
  }
  const filter = init(defaultAction)
  must('all threads', attribute(filter, ALL_THREADS, 1))
  addRules((action, name, comparisons = []) => {
    const call = findSyscallNumber(name)
    // a call of another architecture
    if (call < 0) return
    must(name, rule(filter, action, call, comparisons.length, comparisons))
  })
  must('loading', apply(filter))
}
