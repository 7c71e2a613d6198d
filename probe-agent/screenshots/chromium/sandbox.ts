import { spawnSync } from 'node:child_process'
import type { Log } from '../../../shared/process/log.ts'
import { SETPRIV } from './find-browser.ts'

/** The user without privileges of Debian, by its id. */
const NOBODY_UID = 65_534
/** Part of util-linux, like setpriv. */
const UNSHARE = '/usr/bin/unshare'
const SANDBOX_CHECK_TIMEOUT_MS = 5_000

export const NO_SANDBOX =
  "the kernel does not allow Chromium's sandbox (user namespaces), so no screenshots are taken; use the image's seccomp profile, or set SCREENSHOT_NO_SANDBOX=1"
const SANDBOX_DISABLED =
  'Chromium runs without its sandbox because of SCREENSHOT_NO_SANDBOX=1; a page that exploits it has the rights of this probe'

/** The user that runs the browser if this process is root; null: the current user. */
export const getBrowserUserId = () => (process.getuid?.() === 0 ? NOBODY_UID : null)

type Sandbox = {
  /** null: unknown */
  works: () => boolean | null
  /** records whether the sandbox worked at a start of the browser; a change is logged */
  learn: (works: boolean) => void
}

/** Whether Chromium's sandbox works on this machine: tested once at the start, then updated by each start of a browser. */
export function openSandbox(mayLackSandbox: boolean, log: Log): Sandbox {
  let known: boolean | null = null
  const learn = (works: boolean) => {
    if (works === known) return
    known = works
    const fields = { event: 'screenshot_sandbox', works }
    if (works) log.info(fields, "Chromium's sandbox works")
    else log.warn(fields, mayLackSandbox ? SANDBOX_DISABLED : NO_SANDBOX)
  }
  const answer = allowsNamespaces()
  if (answer !== null) learn(answer)
  return { works: () => known, learn }
}

/** Whether the namespaces of Chromium's sandbox can be created; null when it cannot be tested. */
function allowsNamespaces(): boolean | null {
  const userId = getBrowserUserId()
  const user = userId === null ? [] : [`--reuid=${userId}`, `--regid=${userId}`, '--clear-groups', '--inh-caps=-all']
  const command = [...user, '--no-new-privs', '--', UNSHARE, '--user', '--pid', '--net', '--fork', 'true']
  const { status, error } = spawnSync(SETPRIV, command, { stdio: 'ignore', timeout: SANDBOX_CHECK_TIMEOUT_MS })
  // 126 and 127: the program cannot be executed
  if (error || status === null || status > 125) return null
  return status === 0
}
