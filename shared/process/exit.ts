/** A reader of the output that is stuck delays the end of a service by this time. */
const OUTPUT_TIMEOUT_MS = 2_000

/**
 * Ends the process with this exit code when everything that it wrote to standard output and standard error has left the
 * process, or after `timeoutMs` (default 2 s). With `process.exit` alone, the last lines are lost when their reader is slow.
 */
export async function exitAfterOutput(code: number, timeoutMs = OUTPUT_TIMEOUT_MS): Promise<never> {
  if (timeoutMs < Number.POSITIVE_INFINITY) setTimeout(() => process.exit(code), timeoutMs)
  await Promise.all([process.stdout, process.stderr].map(waitForWrites))
  process.exit(code)
}

/** Also ends when the reader of the output is gone. */
function waitForWrites(stream: NodeJS.WriteStream): Promise<void> {
  stream.on('error', () => {})
  return new Promise(resolve => stream.write('', () => resolve()))
}
