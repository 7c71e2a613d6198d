import { spawnSync } from 'node:child_process'
import type { Log } from '../../../shared/process/log.ts'
import { SETPRIV } from './find-browser.ts'

/** The unprivileged user that every Linux has. */
const NOBODY_UID = 65_534
/** Part of every Linux with util-linux, as setpriv is. */
const UNSHARE = '/usr/bin/unshare'
const SANDBOX_CHECK_TIMEOUT_MS = 5_000

export const NO_SANDBOX =
  "the kernel allows no sandbox for chromium here (user namespaces): no screenshot is taken. Use the image's seccomp profile, or set SCREENSHOT_NO_SANDBOX=1"
const WITHOUT =
  'chromium runs without its sandbox, as SCREENSHOT_NO_SANDBOX=1 says: a page that breaks it has the rights'

/** The user that the browser runs as when we are root; null: it runs as we do. */
export const getBrowserUserId = () => (process.getuid?.() === 0 ? NOBODY_UID : null)

export type Sandbox = {
  /** null: not known yet */
  works: () => boolean | null
  /** what a browser found out by starting; a change is a line in the log */
  learn: (works: boolean) => void
}

/** Whether chromium's sandbox works on this machine: first what the kernel says, then what each browser says. */
export function openSandbox(mayLackSandbox: boolean, log: Log): Sandbox {
  let known: boolean | null = null
  const learn = (works: boolean) => {
    if (works === known) return
    known = works
    const fields = { event: 'screenshot_sandbox', works }
    if (works) log.info(fields, "chromium's sandbox works")
    else log.warn(fields, mayLackSandbox ? `${WITHOUT} of this probe` : NO_SANDBOX)
  }
  const answer = allowsNamespaces()
  if (answer !== null) learn(answer)
  return { works: () => known, learn }
}

/** The kinds of namespaces that chromium's sandbox is made of; null when it cannot be tried. */
function allowsNamespaces(): boolean | null {
  const userId = getBrowserUserId()
  const user = userId === null ? [] : [`--reuid=${userId}`, `--regid=${userId}`, '--clear-groups', '--inh-caps=-all']
  const command = [...user, '--no-new-privs', '--', UNSHARE, '--user', '--pid', '--net', '--fork', 'true']
  const { status, error } = spawnSync(SETPRIV, command, { stdio: 'ignore', timeout: SANDBOX_CHECK_TIMEOUT_MS })
  // 126 and 127: the program itself cannot be run
  if (error || status === null || status > 125) return null
  return status === 0
}
