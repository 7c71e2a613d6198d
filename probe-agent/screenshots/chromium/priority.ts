/** Of a session among sessions: a quarter of what one gets that is as busy. */
const SESSION_NICENESS = 5

/**
 * What to put before a command that leads a session of its own, so that it stands behind the checks. Where the kernel
 * groups processes by session (autogroup), niceness counts within the group only, and the group has one of its own.
 */
export function buildPriorityCommand(niceness: number): string[] {
  const script = `{ echo ${SESSION_NICENESS} > /proc/self/autogroup; } 2> /dev/null; exec nice -n ${niceness} "$@"`
  return ['/bin/sh', '-c', script, 'sh']
}
