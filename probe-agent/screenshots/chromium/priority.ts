/** The niceness of the session's scheduling group: about a quarter of the share of a normal session. */
const SESSION_NICENESS = 5

/**
 * A command prefix that gives a new session a lower priority than the checks. Where the kernel groups processes by session
 * (autogroup), niceness only applies within the group, and the group has its own niceness.
 */
export function buildPriorityCommand(niceness: number): string[] {
  const script = `{ echo ${SESSION_NICENESS} > /proc/self/autogroup; } 2> /dev/null; exec nice -n ${niceness} "$@"`
  return ['/bin/sh', '-c', script, 'sh']
}
