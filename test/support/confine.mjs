// Puts this process and all that it starts under a seccomp filter, by libseccomp as container runtimes do.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const ALLOW = 0x7fff0000
const errno = number => 0x00050000 | number
const EPERM = 1
const ENOSYS = 38
const MASKED_EQ = 7
const CLONE_NEWUSER = 0x10000000
/** For all threads of this process, not only for the one that asks. */
const ALL_THREADS = 4

/** As Docker's own profile for a container without capabilities: no user namespaces. */
export function forbidNamespaces() {
  load(ALLOW, add => {
    add(errno(EPERM), 'unshare')
    add(errno(ENOSYS), 'clone3')
    add(errno(EPERM), 'clone', [{ arg: 0, op: MASKED_EQ, datum_a: CLONE_NEWUSER, datum_b: CLONE_NEWUSER }])
  })
}

/** A profile as a file, of allowed calls only. */
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
  const numberOf = library.func('int seccomp_syscall_resolve_name(const char *name)')
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
    const call = numberOf(name)
    // another architecture's
    if (call < 0) return
    must(name, rule(filter, action, call, comparisons.length, comparisons))
  })
  must('loading', apply(filter))
}
