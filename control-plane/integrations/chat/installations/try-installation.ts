import type { Log } from '../../../../shared/process/log.ts'

/** Does what concerns one installation. What it throws is our own fault, and keeps nobody else waiting. False then. */
export async function tryInstallation(
  log: Log,
  installationId: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (err) {
    log.error({ err, installationId }, 'an installation of the chat was put off')
    return false
  }
}
