import type { Log } from '../../../../shared/process/log.ts'

/** Runs work for one installation. An error is logged and returns false, so that it does not affect other installations. */
export async function tryInstallation(
  log: Log,
  installationId: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (err) {
    log.error({ err, installationId }, 'could not process a chat installation; it is deferred')
    return false
  }
}
