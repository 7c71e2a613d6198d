import { type Picket, startPicket } from './picket.ts'
import { createScreen } from './screen.ts'
import { LOCAL_REGIONS, StartError } from './settings.ts'

/**
 * `npm start`: runs until SIGINT or SIGTERM, then stops everything in order and leaves nothing behind. `then` runs beside
 * it once it is ready (the demo) and gives what has to be ended first.
 */
export async function run(then: (picket: Picket) => Promise<() => Promise<void>> = greet): Promise<void> {
  const screen = createScreen()
  const starting = startPicket(process.env, screen)
  let isStopping = false
  let finishThen = async () => {}

  const stop = async (exitCode: number) => {
    isStopping = true
    const picket = await starting.catch(() => undefined)
    await finishThen()
    await picket?.stop()
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      if (isStopping) {
        const picket = await Promise.race([starting, undefined])
        picket?.kill()
        process.exit(1)
      }
      screen.say('\nStopping …')
      await stop(0)
    })
  }
  try {
    const picket = await starting
    if (!isStopping) finishThen = await then(picket)
  } catch (error) {
    if (isStopping) return
    console.error(error instanceof StartError ? `\n${error.message}` : error)
    await stop(1)
  }
}

async function greet({ settings, apiKey }: Picket): Promise<() => Promise<void>> {
  const address = settings.publicUrl
  const body = {
    name: 'Example',
    type: 'http',
    url: 'https://example.com/',
    interval_seconds: 30,
    regions: LOCAL_REGIONS,
  }
  console.log(`\nReady at ${address}  (API ${address}/api/v1, reference ${address}/docs)`)
  if (apiKey) console.log(`\nYour API key, shown this once:\n\n  ${apiKey}`)
  console.log(`\nWatch something:\n
  curl -s ${address}/api/v1/monitors \\
    -H 'Authorization: Bearer ${apiKey ?? '<your API key>'}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(body)}'\n\nCtrl-C stops everything.`)
  return async () => {}
}
