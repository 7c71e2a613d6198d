import { type LocalInstallation, startInstallation } from './installation.ts'
import { createScreen } from './screen.ts'
import { LOCAL_REGIONS, StartError } from './settings.ts'

/** A second Ctrl-C after this time kills everything. npm forwards the first one a second time, possibly with a delay. */
const SECOND_SIGNAL_MS = 3_000

/**
 * `npm start`: runs until SIGINT or SIGTERM, then stops everything in order. `then` is called when everything is ready (the
 * demo uses it) and returns a function that is called before the stop.
 */
export async function run(then: (picket: LocalInstallation) => Promise<() => Promise<void>> = greet): Promise<void> {
  const screen = createScreen()
  const cancel = new AbortController()
  const starting = startInstallation(process.env, screen, cancel.signal)
  let finishThen = async () => {}
  let askedAt = 0

  const stop = async (exitCode: number) => {
    cancel.abort()
    const picket = await starting.catch(() => undefined)
    await finishThen()
    await picket?.stop()
    if (exitCode === 0) screen.print('Stopped.')
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      if (!cancel.signal.aborted) {
        askedAt = performance.now()
        screen.print('\nStopping …')
        await stop(0)
      } else if (performance.now() - askedAt > SECOND_SIGNAL_MS) {
        const picket = await Promise.race([starting.catch(() => undefined), undefined])
        picket?.kill()
        process.exit(1)
      }
    })
  }
  try {
    const picket = await starting
    if (!cancel.signal.aborted) finishThen = await then(picket)
  } catch (error) {
    if (cancel.signal.aborted) return
    console.error(error instanceof StartError ? `\n${error.message}` : error)
    await stop(1)
  }
}

async function greet({ settings, operatorUrl, firstAccount }: LocalInstallation): Promise<() => Promise<void>> {
  const account = await firstAccount()
  const address = settings.publicUrl
  const body = {
    name: 'Example',
    type: 'http',
    url: 'https://example.com/',
    interval_seconds: 30,
    regions: LOCAL_REGIONS,
  }
  console.log(`\nReady at ${address}  (API ${address}/api/v1, reference ${address}/docs)`)
  console.log(`Operator endpoints: ${operatorUrl}/internal/health, /metrics, /readyz`)
  if (account) {
    console.log(`\nYour API key, shown only once:\n\n  ${account.api_key}`)
    console.log(`\nTo sign in as ${account.email}, set a password within 72 hours:\n\n  ${account.claim_url}`)
  }
  console.log(`\nCreate a monitor:\n
  curl -s ${address}/api/v1/monitors \\
    -H 'Authorization: Bearer ${account?.api_key ?? '<your API key>'}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(body)}'\n\nCtrl-C stops everything.`)
  return async () => {}
}
