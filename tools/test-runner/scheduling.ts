import { spawnSync } from 'node:child_process'

/**
 * Linux: this process and all that it starts later become batch jobs. A batch job that wakes up does not interrupt another one,
 * as PostgreSQL would at each query of a test, so there are fewer switches between processes. Nothing changes on other systems,
 * or without `chrt`, which is in Debian's util-linux.
 */
export function scheduleAsBatch(): void {
  if (process.platform !== 'linux') return
  spawnSync('chrt', ['--batch', '--all-tasks', '--pid', '0', String(process.pid)], { stdio: 'ignore' })
}
